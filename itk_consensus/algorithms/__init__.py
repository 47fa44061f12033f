"""One paper per file: pure functions on decision patterns, returning frozen results."""
