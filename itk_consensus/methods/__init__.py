"""Ways to fuse: a folder an idea, the filter beside its algorithm."""
