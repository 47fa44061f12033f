"""Scores of submissions against several readers, none of whom is the ground truth."""
