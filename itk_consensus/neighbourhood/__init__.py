"""Kernels that look around a voxel: boxes, tiles, sums, smoothing, distances, windows, fields."""
