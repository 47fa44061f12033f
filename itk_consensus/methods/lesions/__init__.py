"""Lesions, cells, nodules: which marks are one object, whether it is there, who draws it."""
