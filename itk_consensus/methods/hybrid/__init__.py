"""Hybrid fusion: one fuser in a band around the contour, another elsewhere."""
