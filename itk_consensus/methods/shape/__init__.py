"""Shape-based averaging and the Fréchet consensus."""
