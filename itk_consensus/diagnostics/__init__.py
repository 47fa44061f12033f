"""What speaks against a result."""
