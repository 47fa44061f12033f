"""Agreement of raters with each other."""
