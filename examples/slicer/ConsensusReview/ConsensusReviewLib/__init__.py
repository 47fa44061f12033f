"""Processing of segmentation nodes, independent of the panel."""
