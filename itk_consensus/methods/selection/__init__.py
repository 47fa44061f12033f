"""Raters are dropped or weighed: SIMPLE and its kin."""
