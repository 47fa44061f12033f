"""Simulated settings for comparing fusion methods: twelve binary ones, and noisy organs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from examples.simulation.phantoms import (
    PAPER_SHAPE,
    disc_phantom,
    ellipsoid_phantom,
    organs_phantom,
)
from examples.simulation.raters import (
    PAPER_MAXIMUM_JITTER,
    Quality,
    SpatialJitter,
    confusion_raters,
    heterogeneous_raters,
    paper_raters,
    spatial_raters,
    uniform_confusion,
)

JITTER_RADII = (39, 22, 10, 7, 5)
ONE_GOOD_RADII = (25, 10, 5)
ONE_RANDOM_RADIUS = 10

ONE_GOOD_FOUR_POOR: tuple[Quality, ...] = ((0.95, 0.98), *[(0.65, 0.85)] * 4)
ONE_RANDOM: tuple[Quality, ...] = (*[(0.9, 0.95)] * 4, (0.5, 0.5))

NOISY_ORGANS = 5
NOISY_SENSITIVITY = 0.87
NOISY_SPECIFICITY = 0.985


class Case(NamedTuple):
    """True segmentation (\\*shape) and raters (raters, \\*shape), both bool or both labels."""

    truth: NDArray[Any]
    raters: NDArray[Any]


class Setting(NamedTuple):
    """A kind of rater errors, with one case per seed."""

    name: str
    cases: list[Case]


def twelve_settings(seeds: Iterable[int]) -> Iterator[Setting]:
    """Yield the twelve settings, each with one case per seed.

    Table 3's discs at five radii, Table 4's spatially varying raters with three orders of
    jitter, one good rater among poor ones at three radii, and one random rater.
    """
    seeds = tuple(seeds)
    for radius in JITTER_RADII:
        yield Setting(f"jitter r{radius}", [class_imbalance_case(radius, seed) for seed in seeds])
    for order in get_args(SpatialJitter):
        yield Setting(f"spatial {order}", [spatial_case(order, seed) for seed in seeds])
    for radius in ONE_GOOD_RADII:
        yield Setting(
            f"one good r{radius}",
            [heterogeneous_case(radius, seed, ONE_GOOD_FOUR_POOR) for seed in seeds],
        )
    yield Setting(
        f"one random r{ONE_RANDOM_RADIUS}",
        [heterogeneous_case(ONE_RANDOM_RADIUS, seed, ONE_RANDOM) for seed in seeds],
    )


def class_imbalance_case(radius: int, seed: int) -> Case:
    """Simulate a disc and five of the paper's raters; jitter is limited to half the radius (Table
    3).
    """
    truth = disc_phantom(radius, seed).truth
    jitter = min(radius // 2, PAPER_MAXIMUM_JITTER)
    return Case(truth, paper_raters(truth, 5, seed, maximum_jitter=jitter))


def spatial_case(jitter: SpatialJitter, seed: int) -> Case:
    """Simulate the paper's ellipse and six spatially varying raters (Table 4)."""
    truth = ellipsoid_phantom(seed=seed).truth
    return Case(truth, spatial_raters(truth, 6, seed, jitter))


def heterogeneous_case(radius: int, seed: int, qualities: tuple[Quality, ...]) -> Case:
    """Simulate a disc and raters with the given sensitivities and specificities."""
    truth = disc_phantom(radius, seed).truth
    return Case(truth, heterogeneous_raters(truth, seed, qualities))


def noisy_organs_case(seed: int, shape: Sequence[int] = PAPER_SHAPE) -> Case:
    """Simulate five organs in background, and three raters with voxel noise but no contour errors.

    A rater labels an organ's voxel correctly with probability .87, and all wrong labels are
    equally likely; a background voxel gets the label of each organ with probability .015, i.e. the
    specificity per organ is .985.

    Parameters
    ----------
    shape : sequence of int
        The organs are in the central half of every axis.
    """
    middle = organs_phantom([side // 2 for side in shape], NOISY_ORGANS, seed).truth
    truth = np.zeros(shape, middle.dtype)
    truth[tuple(slice(side // 4, side // 4 + side // 2) for side in shape)] = middle
    confusion = uniform_confusion(NOISY_ORGANS + 1, NOISY_SENSITIVITY)
    confusion[1:, 0] = 1 - NOISY_SPECIFICITY
    confusion[0, 0] = 1 - confusion[1:, 0].sum()
    return Case(truth, confusion_raters(truth, [confusion] * 3, seed))
