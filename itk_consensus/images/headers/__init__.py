"""Headers of image files, read without the voxels."""
