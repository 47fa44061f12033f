"""Fusion learned from cases with a known truth: vote tables, learned rules, and the filter."""
