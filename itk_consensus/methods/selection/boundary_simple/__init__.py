"""Boundary SIMPLE: raters count, voxel by voxel, as much as they resemble the consensus there."""
