"""Simulated raters for the benchmarks; each stack is generated once per run."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from examples.simulation import contour_error_raters, ellipsoid_mask, organs_phantom
from itk_consensus.simulation.atlas_phantoms import atlas_labels
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

CONTOUR_ERROR = "contour-error"
NOISY = "noisy"
ORGANS = "organs"
ATLASES = "atlases"
CROWD = "crowd"

ORGAN_LABELS = 4
ATLAS_SEED = 3000
NOISE = 0.1

Raters = list[NDArray[np.uint8]]


@cache
def raters(kind: str, shape: tuple[int, ...], number: int) -> Raters:
    """Simulate raters of one structure of the size of an organ, or of several organs.

    Parameters
    ----------
    kind : {'contour-error', 'noisy', 'organs', 'atlases K', 'crowd'}
        Smoothly displaced contours of an ellipsoid; the same ellipsoid with every voxel flipped
        with probability `NOISE`, independently; displaced contours of `ORGAN_LABELS` organs;
        misregistered atlases of K labels; the ellipsoid with independent voxelwise errors, for
        sensitivities of .8 to .95 and specificities of .99 to .999.
    shape : tuple of int
        In array order (z, y, x).

    Returns
    -------
    list of `number` ndarrays of uint8
    """
    if kind == ORGANS:
        return list(contour_error_raters(organs_phantom(shape, ORGAN_LABELS).truth, number))
    if kind.startswith(ATLASES):
        return list(atlas_labels(ATLAS_SEED, shape, int(kind.split()[1]), number).maps)
    truth = ellipsoid_mask(shape, [side / 4 for side in shape]).view(np.uint8)
    if kind == CONTOUR_ERROR:
        return list(contour_error_raters(truth, number))
    if kind == CROWD:
        return [_crowd_rater(truth, ATLAS_SEED + index) for index in range(number)]
    return [_noisy_rater(truth, seed) for seed in range(number)]


def _noisy_rater(truth: NDArray[np.uint8], seed: int) -> NDArray[np.uint8]:
    draws = np.random.default_rng(seed).random(truth.shape, dtype=np.float32)
    return truth ^ (draws < NOISE)


def _crowd_rater(truth: NDArray[np.uint8], seed: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    sensitivity, specificity = rng.uniform(0.8, 0.95), rng.uniform(0.99, 0.999)
    marked = np.where(truth, np.float32(sensitivity), np.float32(1 - specificity))
    return (rng.random(truth.shape, dtype=np.float32) < marked).view(np.uint8)


def number_of_patterns(stack: Raters) -> int:
    """Return the number of distinct votes in a stack of binary raters."""
    return len(DecisionPatterns.from_stack(LabelStack.binary(stack, 1)).counts)


def size_text(shape: tuple[int, ...]) -> str:
    """Format the size in ITK's order, x first."""
    return "×".join(str(side) for side in reversed(shape))


def json_stack(kind: str, shape: tuple[int, ...], number: int) -> dict[str, Any]:
    """Return the key of a stack of raters in the results."""
    return {
        "kind": kind,
        "size": size_text(shape),
        "voxels": int(np.prod(shape)),
        "raters": number,
    }
