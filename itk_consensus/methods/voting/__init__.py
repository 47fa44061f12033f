"""Votes: counted, smoothed, corrected for bias, of probabilities."""
