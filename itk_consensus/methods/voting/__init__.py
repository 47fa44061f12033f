"""Voting: plurality, thresholds and weights; smoothed, bias-corrected and soft votes."""
