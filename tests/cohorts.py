"""Simulated cohorts as images, drawn once per process."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import SimpleITK as sitk

from examples.simulation.conformal_cohort import COHORT_SPACING, conformal_case
from itk_consensus.methods.staple.staple_filter import STAPLEImageFilter

FAST = 40
"""Cases of the fast suite: 20 calibrate, 20 test."""
FULL = 260


class Case(NamedTuple):
    """The true mask, the vote fraction and the raters, as SimpleITK images."""

    truth: Any
    fraction: Any
    raters: list[Any]


def image(array: Any, dtype: Any = np.uint8) -> Any:
    made = sitk.GetImageFromArray(np.asarray(array).astype(dtype))
    made.SetSpacing(COHORT_SPACING[::-1])
    made.SetOrigin((-31.5, 12.25, 7.0))
    return made


def array(made: Any) -> Any:
    return sitk.GetArrayFromImage(made)


@cache
def cohort_case(seed: int, kind: str = "ordinary") -> Case:
    truth, _, raters = conformal_case(
        seed, shifted=kind == "shifted", independent_flips=kind == "flips"
    )
    return Case(
        image(truth), image(raters.mean(axis=0), np.float64), [image(rater) for rater in raters]
    )


def cohort(number: int, first: int = 0, kind: str = "ordinary") -> list[Case]:
    return [cohort_case(seed, kind) for seed in range(first, first + number)]


def columns(cases: list[Case]) -> tuple[list[Any], list[Any], list[list[Any]]]:
    """Return vote fractions, true masks and raters, as arguments of Calibrate."""
    return [c.fraction for c in cases], [c.truth for c in cases], [c.raters for c in cases]


@cache
def staple_probability(seed: int, kind: str = "ordinary") -> Any:
    return STAPLEImageFilter().Execute(cohort_case(seed, kind).raters)


def staple_columns(
    number: int, first: int = 0, kind: str = "ordinary"
) -> tuple[list[Any], list[Any], list[list[Any]]]:
    _, truths, raters = columns(cohort(number, first, kind))
    return [staple_probability(s, kind) for s in range(first, first + number)], truths, raters
