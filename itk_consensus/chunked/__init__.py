"""Volumes larger than memory, chunk by chunk: what is summed up over chunks, and dask's graph."""
