"""How many raters are enough: quality of the vote of k raters, measured and extrapolated.

Contours of independent raters scatter about a common one. Their vote is the median contour, whose
variance decreases with the number k of raters, and (1 - Dice)^2 with a left-out rater is linear in
that variance. Ties count as half a voxel, so four raters are equivalent to three. The displacement
by one more rater is proportional to 1 / sqrt(k (k + 1)). Both quality and displacement are measured
on subsets of the raters and extrapolated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb, prod
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.calibration.probabilities import contour_area
from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice_of

MOST_SUBSETS = 60
"""Largest number of subsets of one size that is evaluated."""

LEVEL = 0.9
"""Confidence level of the intervals."""


class Interval(NamedTuple):
    """A mean with its confidence interval."""

    mean: float
    low: float
    high: float


class CurvePoint(NamedTuple):
    """Quality of the vote of k raters."""

    raters: int
    with_all: Interval  #: Dice of the vote of k raters with that of all raters
    #: Dice with a left-out rater; None if k is the number of all raters
    with_left_out: Interval | None
    #: Displacement of the contour by one more rater, in mm; None if k is the number of all raters.
    moved: Interval | None


@dataclass(frozen=True)
class CaseCurve:
    """Values for the evaluated subsets of one case, by number of raters; see `CurvePoint`."""

    with_all: dict[int, Floats]
    with_left_out: dict[int, Floats]
    moved: dict[int, Floats]


def case_curve(
    patterns: DecisionPatterns, label: int, spacing: Sequence[float], seed: int = 0
) -> CaseCurve:
    """Measure the quality curve of one case from votes of subsets of its raters.

    Parameters
    ----------
    label : int
        Index of the label.
    """
    said: NDArray[np.bool_] = patterns.patterns == label
    counts = patterns.counts.astype(np.float64)
    number = said.shape[1]
    everyone = _vote(said, range(number))
    area = contour_area(patterns.expand(everyone >= 0.5), spacing)
    thickness = prod(spacing) / area if area else 0.0
    curve = CaseCurve({}, {}, {})
    rng = np.random.default_rng(seed)
    for k in range(1, number + 1):
        with_all, left_out, moved = [], [], []
        for subset in _subsets(number, k, rng):
            fused = _vote(said, subset)
            with_all.append(_dice(fused, everyone, counts))
            for other in sorted(set(range(number)) - set(subset)):
                left_out.append(_dice(fused, said[:, other].astype(float), counts))
                more = _vote(said, (*subset, other))
                moved.append(float(np.abs(more - fused) @ counts) * thickness)
        curve.with_all[k] = np.array(with_all)
        if left_out:
            curve.with_left_out[k] = np.array(left_out)
            curve.moved[k] = np.array(moved)
    return curve


def _subsets(number: int, k: int, rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    if comb(number, k) <= MOST_SUBSETS:
        yield from combinations(range(number), k)
        return
    drawn = (tuple(rng.permutation(number)[:k].tolist()) for _ in iter(int, 1))
    yield from islice(drawn, MOST_SUBSETS)


def _vote(said: NDArray[np.bool_], subset: Sequence[int]) -> Floats:
    """Return (P,) the vote of a subset: 1 if most of its raters gave the label, 0.5 at
    ties, else 0.
    """
    votes = said[:, list(subset)].sum(axis=1)
    return np.asarray(np.clip(2 * votes - len(subset) + 1, 0, 2) / 2)


def median_variance(raters: int) -> float:
    """Return the variance of the median of this many standard normal variables, to within 2 %.

    An even number is equivalent to that number minus one, as explained in the module's docstring.
    """
    odd = raters - 1 + raters % 2
    return float(np.pi / (2 * (odd - 1) + np.pi))


def _dice(one: Floats, other: Floats, counts: Floats) -> float:
    """Return the Dice of two votes by pattern, counting ties as half a voxel."""
    return float(dice_of((one * other) @ counts, (one + other) @ counts))


@dataclass(frozen=True)
class RaterNumberCurve:
    """Quality of the vote by number of raters, with extrapolation to more raters."""

    points: tuple[CurvePoint, ...]
    level: float  #: Limit of (1 - Dice)^2 with a new rater for infinitely many raters
    slope: float  #: Slope of (1 - Dice)^2 as a function of the variance of the median
    movement: float  #: Displacement by one more rater in mm, times sqrt(k (k + 1))
    cases: int

    @property
    def raters(self) -> int:
        """Number of raters per case."""
        return self.points[-1].raters

    @classmethod
    def of(cls, cases: Sequence[CaseCurve]) -> RaterNumberCurve:
        """Average over cases that all have the same number of raters, at least three."""
        most = max(cases[0].with_all)
        points = tuple(
            CurvePoint(
                k,
                _interval([case.with_all[k] for case in cases]),
                _interval([case.with_left_out[k] for case in cases]) if k < most else None,
                _interval([case.moved[k] for case in cases]) if k < most else None,
            )
            for k in range(1, most + 1)
        )
        level, slope = _line(points[:-1])
        movement = np.mean(
            [
                p.moved.mean * np.sqrt(p.raters * (p.raters + 1))
                for p in points
                # Going from one rater to two only creates ties and does not move the contour.
                if p.moved is not None and (p.raters > 1 or most == 2)
            ]
        )
        return cls(points, level, slope, float(movement), len(cases))

    def dice_with_another(self, raters: int) -> float:
        """Return the expected Dice of the vote of this many raters with an additional rater."""
        return 1 - float(np.sqrt(self.level + self.slope * median_variance(raters)))

    def moved_by_another(self, raters: int | None = None) -> float:
        """Return the expected displacement in mm by one more rater than `raters` (default: all)."""
        number = self.raters if raters is None else raters
        return self.movement / float(np.sqrt(number * (number + 1)))

    @property
    def answer(self) -> str:
        """A sentence that states what more raters would change."""
        more = self.raters + 1
        ordinal = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth"}
        now, then = (self.dice_with_another(number) for number in (self.raters, 2 * self.raters))
        return (
            f"A {ordinal.get(more, f'{more}th')} rater would move the contour by about "
            f"{self.moved_by_another():.2g} mm; with another rater the consensus of "
            f"{self.raters} has a Dice of about {now:.3f}, that of {2 * self.raters} would have "
            f"{then:.3f}."
        )

    def table(self) -> Iterator[dict[str, float | int | None]]:
        """Yield a row for each number of raters."""
        for point in self.points:
            row: dict[str, float | int | None] = {"raters": point.raters}
            for name in ("with_all", "with_left_out", "moved"):
                interval = getattr(point, name)
                for part in Interval._fields:
                    row[f"{name}_{part}"] = None if interval is None else getattr(interval, part)
            yield row


def _line(points: Sequence[CurvePoint]) -> tuple[float, float]:
    """Fit (1 - Dice)^2 with a left-out rater as a linear function of the variance of the median."""
    odd = [p for p in points if p.raters % 2 and p.with_left_out is not None]
    squares = np.array([(1 - p.with_left_out.mean) ** 2 for p in odd if p.with_left_out])
    if len(odd) == 1:
        # A line cannot be fitted to a single point: contours are assumed to be independent, for
        # which level and slope are equal.
        return float(squares[0]) / 2, float(squares[0]) / 2
    slope, level = np.polyfit([median_variance(p.raters) for p in odd], squares, 1)
    return max(float(level), 0.0), max(float(slope), 0.0)


def _interval(cases: Sequence[Floats]) -> Interval:
    """Return the mean over cases with Student's interval or, for a single case, quantiles."""
    means = np.array([values.mean() for values in cases])
    mean = float(means.mean())
    if len(means) == 1:
        low, high = np.quantile(cases[0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return Interval(mean, float(low), float(high))
    error = means.std(ddof=1) / len(means) ** 0.5
    reach = float(scipy.special.stdtrit(len(means) - 1, (1 + LEVEL) / 2) * error)
    return Interval(mean, mean - reach, mean + reach)
