"""Log-odds of probabilities, kept finite: one rule for scaling and for conformal scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

EPSILON = 1e-6
"""Probabilities are taken to be at least this far from 0 and 1."""


def clipped(probability: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities moved away from 0 and 1, as float64."""
    return np.clip(np.asarray(probability, dtype=np.float64), EPSILON, 1 - EPSILON)


def log_odds(probability: NDArray[Any]) -> NDArray[np.float64]:
    """``ln p - ln(1 - p)`` of any array of probabilities; within ±13.8, 0 and 1 included."""
    p = clipped(probability)
    return np.asarray(logit(p, out=p))
