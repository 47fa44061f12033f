"""Fusion learned from cases with a truth: vote tables, rules learned from them, and the filter."""
