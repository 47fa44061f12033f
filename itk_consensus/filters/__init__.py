"""The ITK-like face of the package: filter classes and their function forms."""
