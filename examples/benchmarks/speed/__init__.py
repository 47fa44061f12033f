"""Parts of benchmark.py."""
