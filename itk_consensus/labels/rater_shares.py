"""Weighted means over raters of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats, Mask
from itk_consensus.labels.decision_patterns import DecisionPatterns


def weighted_share(masks: NDArray[Any], weights: Floats, present: Mask | None) -> Floats:
    """Weighted mean over raters (the first axis) among those who annotated; 0 where nobody did."""
    if present is None:
        mean: Floats = np.tensordot(weights / weights.sum(), masks, 1)
        return mean
    here = np.tensordot(weights, present, 1)
    total = np.tensordot(weights, np.where(present, masks, 0.0), 1)
    return np.asarray(np.divide(total, here, out=np.zeros(here.shape), where=here > 0))


def counted_weights(patterns: DecisionPatterns, weights: Sequence[float] | Floats | None) -> Floats:
    """(J,) weights; 0 for who annotated nothing, unless nobody did."""
    given = np.ones(patterns.number_of_raters) if weights is None else np.asarray(weights, float)
    some = np.where(patterns.present.any(axis=0), given, 0.0)
    return some if some.any() else given
