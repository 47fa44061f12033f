"""Probabilities that mean something: temperature scaling, reliability and conformal bands."""
