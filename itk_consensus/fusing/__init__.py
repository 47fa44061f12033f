"""Base classes of the fusers, which turn votes into one result, independent of any method."""
