"""Shape-based averaging: the mean of the raters' contours instead of the sum of their votes."""
