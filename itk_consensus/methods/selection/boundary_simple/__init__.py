"""Boundary SIMPLE: raters weighted at each voxel by their local agreement with the consensus."""
