"""Fusion learned from cases with a known true segmentation: vote tables, rules, and the filter."""
