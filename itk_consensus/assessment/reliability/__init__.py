"""Reliability of readings: intraclass correlation, variance components, limits of agreement."""
