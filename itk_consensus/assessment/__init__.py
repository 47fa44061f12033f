"""What to think of a result."""
