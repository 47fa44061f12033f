"""Building blocks of all filters: parameters, events, work, errors; independent of any method."""
