"""Simulate cohorts for testing calibration: exchangeable 3D cases, some hard, with shared errors.

Each rater's error is the sum of a smooth field shared by all raters of the case, which no
comparison of raters can reveal, and an individual one. The order of random draws must not change,
since published calibration results refer to these cases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_fill_holes, distance_transform_edt, gaussian_filter, label

from examples.simulation.raters import Seed
from itk_consensus.core.array_types import Mask

COHORT_SHAPE = (28, 68, 68)
COHORT_SPACING = (2.5, 1.0, 1.0)
COHORT_RATERS = 5

_Field = NDArray[np.float32]
_HARDER = 1.8
_CUT_SHORT = 0.08


class CohortCase(NamedTuple):
    """True mask (28, 68, 68), its signed distance in mm, and the raters' masks (5, 28, 68, 68)."""

    truth: Mask
    distance: _Field
    raters: Mask


def conformal_case(
    seed: Seed, *, shifted: bool = False, independent_flips: bool = False
) -> CohortCase:
    """Draw one case.

    Parameters
    ----------
    seed : int or Generator
        With a generator, drawing continues after the previous case.
    shifted : bool
        Whether rater noise is 1.8 times as large and the first rater is displaced by 4 to 8 mm.
    independent_flips : bool
        Whether raters have independent voxel noise instead, as in the paper.
    """
    rng = np.random.default_rng(seed)
    truth = _draw_truth(rng)
    distance = _signed_distance(truth)
    difficulty = np.exp(rng.normal(0, 0.35)) * (_HARDER if shifted else 1.0)
    if independent_flips:
        return CohortCase(truth, distance, _flipping_raters(truth, rng))
    centred = distance - np.sign(distance) * 0.5
    shared = 1.1 * difficulty * _smooth_field(rng, 7) + rng.normal(0, 0.5) * difficulty
    raters = np.empty((COHORT_RATERS, *COHORT_SHAPE), bool)
    for index, rater in enumerate(raters):
        own = 1.6 * difficulty * _smooth_field(rng, 5) + rng.normal(0, 1.0) * difficulty
        rater[...] = centred + shared + own < 0
        if rng.random() < _CUT_SHORT:
            _cut_short(rater, rng)
        if shifted and index == 0:
            rater[...] = np.roll(rater, int(rng.integers(4, 9)), axis=2)
    return CohortCase(truth, distance, raters)


def _draw_truth(rng: np.random.Generator) -> Mask:
    """Draw a bumpy, connected ellipsoid without holes."""
    radii, centre = rng.uniform(10, 19, 3), rng.uniform(-3, 3, 3)
    axes = [
        (np.arange(side) - (side - 1) / 2) * step
        for side, step in zip(COHORT_SHAPE, COHORT_SPACING, strict=True)
    ]
    grid = np.meshgrid(*axes, indexing="ij")
    squares = [((x - c) / r) ** 2 for x, c, r in zip(grid, centre, radii, strict=True)]
    level = (np.sqrt(squares[0] + squares[1] + squares[2]) - 1) * radii.mean()
    truth = level + 2.0 * _smooth_field(rng, 9) < 0
    pieces, number = label(truth)
    if number > 1:
        truth = pieces == 1 + np.argmax(np.bincount(pieces.ravel())[1:])
    filled: Mask = binary_fill_holes(truth)
    return filled


def _smooth_field(rng: np.random.Generator, correlation: float) -> _Field:
    noise = rng.standard_normal(COHORT_SHAPE).astype(np.float32)
    sigmas = correlation / np.array(COHORT_SPACING)
    smooth: _Field = gaussian_filter(noise, sigmas, truncate=3, mode="wrap")
    smooth /= smooth.std()
    return smooth


# Do not use the package's distance transform here: the cases must not depend on it.
def _signed_distance(mask: Mask) -> _Field:
    if not mask.any():
        return np.full(mask.shape, 60.0, np.float32)
    inside = distance_transform_edt(mask, sampling=COHORT_SPACING)
    outside = distance_transform_edt(~mask, sampling=COHORT_SPACING)
    return np.asarray(np.where(mask, -inside, outside), dtype=np.float32)


def _flipping_raters(truth: Mask, rng: np.random.Generator) -> Mask:
    sensitivity = rng.uniform(0.75, 0.95, COHORT_RATERS)
    specificity = rng.uniform(0.90, 0.98, COHORT_RATERS)
    return np.stack(
        [
            np.where(truth, rng.random(truth.shape) < s, rng.random(truth.shape) > t)
            for s, t in zip(sensitivity, specificity, strict=True)
        ]
    )


def _cut_short(rater: Mask, rng: np.random.Generator) -> None:
    """Remove one or two slices at the top or bottom, in place."""
    marked = np.flatnonzero(rater.any(axis=(1, 2)))
    if len(marked) <= 4:
        return
    slices = int(rng.integers(1, 3))
    first = marked[0] if rng.random() < 0.5 else marked[-1] - slices + 1
    rater[first : first + slices] = False
