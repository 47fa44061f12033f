"""Fusion learned from cases with a truth: vote tables, the rules learned from them, the filter."""
