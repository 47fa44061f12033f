"""Votes and their neighbourhood."""
