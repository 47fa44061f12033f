"""Processing of many cases: fusion, tables and pages of a study."""
