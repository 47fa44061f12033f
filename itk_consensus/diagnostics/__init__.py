"""Diagnostics: reasons not to trust a result."""
