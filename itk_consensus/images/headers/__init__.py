"""Headers of image files, read without their voxels."""
