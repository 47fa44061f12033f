"""Results as people read them: files described, text, JSON, pictures."""
