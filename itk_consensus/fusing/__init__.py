"""From votes to one result: the base classes of fusers, independent of any method."""
