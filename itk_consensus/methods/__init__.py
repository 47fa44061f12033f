"""Fusion methods: one folder per idea, with the filter next to its algorithm."""
