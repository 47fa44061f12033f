"""Lesions, nodules and cells: match the raters' marks, test which objects are real, outline."""
