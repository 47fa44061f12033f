"""The simulated raters that everything is timed on, each stack made once per run."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.simulation import contour_error_raters, ellipsoid_mask, organs_phantom

CONTOUR_ERROR = "contour-error"
NOISY = "noisy"
ORGANS = "organs"

ORGAN_LABELS = 4
NOISE = 0.1

Raters = list[NDArray[np.uint8]]


@cache
def raters(kind: str, shape: tuple[int, ...], number: int) -> Raters:
    """Raters of one organ-size structure, or of several organs.

    Parameters
    ----------
    kind : {'contour-error', 'noisy', 'organs'}
        Smoothly displaced contours of an ellipsoid; the same ellipsoid with every voxel flipped
        with probability `NOISE`, independently; displaced contours of `ORGAN_LABELS` organs.
    shape : tuple of int
        In array order (z, y, x).

    Returns
    -------
    list of `number` ndarrays of uint8
    """
    if kind == ORGANS:
        return list(contour_error_raters(organs_phantom(shape, ORGAN_LABELS).truth, number))
    truth = ellipsoid_mask(shape, [side / 4 for side in shape]).view(np.uint8)
    if kind == CONTOUR_ERROR:
        return list(contour_error_raters(truth, number))
    return [_noisy_rater(truth, seed) for seed in range(number)]


def _noisy_rater(truth: NDArray[np.uint8], seed: int) -> NDArray[np.uint8]:
    draws = np.random.default_rng(seed).random(truth.shape, dtype=np.float32)
    return truth ^ (draws < NOISE)


def number_of_patterns(stack: Raters) -> int:
    """Distinct votes in a stack of binary raters."""
    return len(DecisionPatterns.from_stack(LabelStack.binary(stack, 1)).counts)


def size_text(shape: tuple[int, ...]) -> str:
    """The size as ITK gives it: x first."""
    return "×".join(str(side) for side in reversed(shape))


def json_stack(kind: str, shape: tuple[int, ...], number: int) -> dict[str, Any]:
    """What tells one stack of raters from another, for the results."""
    return {
        "kind": kind,
        "size": size_text(shape),
        "voxels": int(np.prod(shape)),
        "raters": number,
    }
