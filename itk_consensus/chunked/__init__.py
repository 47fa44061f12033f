"""Fusion of volumes larger than memory, chunk by chunk with dask."""
