"""Volumes larger than memory, fused chunk by chunk by dask."""
