"""Cohorts whose raters have constant biases, for tests of learned fusion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

#: For each rater, the number of voxels by which contours are too far outside, and their variation.
HABITS = ((0.0, 0.4), (2.0, 0.8), (2.2, 0.8), (-0.6, 0.8))
#: Raters who differ only by random errors.
ALIKE = ((0.0, 0.9),) * 4
SIDE = 44


class Cohort(NamedTuple):
    cases: list[list[np.ndarray]]
    truths: list[np.ndarray]

    def part(self, numbers: Any) -> Cohort:
        return Cohort([self.cases[i] for i in numbers], [self.truths[i] for i in numbers])

    def permuted(self, order: Sequence[int]) -> Cohort:
        return Cohort([[case[j] for j in order] for case in self.cases], self.truths)

    def mapped(self, change: Any) -> Cohort:
        cases = [[change(rater) for rater in case] for case in self.cases]
        return Cohort(cases, [change(truth) for truth in self.truths])


def case(seed: int, habits: Sequence[tuple[float, float]], labels: int = 1) -> Any:
    """Return raters and true map of one case: adjacent disks, each with its own label."""
    rng = np.random.default_rng([51, seed])
    grid = np.mgrid[:SIDE, : SIDE * labels].astype(float)

    def wander() -> np.ndarray:
        field = gaussian_filter(rng.standard_normal((SIDE, SIDE * labels)), 4)
        return np.asarray(field / field.std())

    discs = []
    for label in range(labels):
        middle = np.array([SIDE / 2, SIDE * (label + 0.5)]) + rng.uniform(-3, 3, 2)
        distance = np.hypot(*(grid - middle[:, None, None]))
        discs.append(distance - rng.uniform(9, 13) + wander())
    drawn = []
    for bias, spread in ((0.0, 0.0), *habits):
        moved = [disc - bias - spread * wander() for disc in discs]
        labelled = np.zeros((SIDE, SIDE * labels), np.uint8)
        for label, disc in enumerate(moved, start=1):
            labelled[disc < 0] = label
        drawn.append(labelled)
    return drawn[1:], drawn[0]


def cohort(number: int, habits: Any = HABITS, labels: int = 1, first: int = 3000) -> Cohort:
    drawn = [case(seed, habits, labels) for seed in range(first, first + number)]
    return Cohort([raters for raters, _ in drawn], [truth for _, truth in drawn])
