"""Votes in the neighbourhood of a voxel."""
