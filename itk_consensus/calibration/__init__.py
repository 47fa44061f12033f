"""Calibration of probabilities: temperature scaling, reliability and conformal bands."""
