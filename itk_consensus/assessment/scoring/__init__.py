"""Scores of submissions beside several readers, none of whom is the truth."""
