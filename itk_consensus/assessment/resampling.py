"""Bootstrap intervals, permutation tests and rankings over cases.

The unit of resampling is the case, not the rater or voxel, since these are not independent within a
case. The random seed is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from itk_consensus.core.array_types import Floats

LEVEL = 0.95
"""Confidence level of every interval."""

DRAWS = 2000
"""Number of bootstrap samples."""

#: Number of random sign flips; if there are fewer possible ones, all of them are used.
_FLIPS = 10_000


@dataclass(frozen=True)
class Interval:
    """A value with its confidence interval; the bounds are NaN for a single case."""

    value: float
    low: float
    high: float


def draw_cases(number: int, draws: int = DRAWS) -> NDArray[np.int64]:
    """Return (draws, number) bootstrap samples: indices of cases, drawn with replacement."""
    return np.random.default_rng(0).integers(0, number, (draws, number))


def mean_interval(values: ArrayLike) -> Interval:
    """Return the mean of one value per case, ignoring NaN, with its bootstrap interval."""
    known = np.asarray(values, np.float64)
    known = known[~np.isnan(known)]
    if not known.size:
        return Interval(math.nan, math.nan, math.nan)
    mean = float(known.mean())
    if known.size < 2 or not np.isfinite(known).all():
        return Interval(mean, math.nan, math.nan)
    return Interval(mean, *percentiles(known[draw_cases(known.size)].mean(axis=1), known.size))


def percentiles(drawn: Floats, cases: int) -> tuple[float, float]:
    """Return the bootstrap percentile interval, ignoring NaN.

    With few cases a percentile interval is too narrow; the percentiles are therefore expanded so
    that the interval of a mean is as wide as Student's (Hesterberg, Am Stat 69:371-386, 2015).
    """
    known = drawn[np.isfinite(drawn)]
    if not known.size or cases < 2:
        return math.nan, math.nan
    reach = float(scipy.special.stdtrit(cases - 1, (1 + LEVEL) / 2))
    tail = float(scipy.special.ndtr(-reach * math.sqrt(cases / (cases - 1))))
    low, high = np.quantile(known, (tail, 1 - tail))
    return float(low), float(high)


@dataclass(frozen=True)
class Comparison:
    """A paired comparison on the same cases."""

    first: str
    second: str
    difference: Interval  #: Mean of first - second
    p: float  #: Two-sided p-value of the sign-flip test
    corrected_p: float  #: p-value corrected for the number of comparisons (max statistic)
    cases: int  #: Number of cases with both values


def paired_comparisons(names: Sequence[str], values: ArrayLike) -> list[Comparison]:
    """Compare all pairs of rows by sign-flip permutation tests of their differences per case.

    All comparisons share the sign flips; the maximum statistic over them corrects for multiple
    testing (Westfall and Young).

    Parameters
    ----------
    names : sequence of str
        Names of the S rows.
    values : (S, N) array_like
        One value per case; NaN if missing.
    """
    table = np.asarray(values, np.float64)
    pairs = list(combinations(range(len(names)), 2))
    if not pairs:
        return []
    differences = np.stack([table[one] - table[other] for one, other in pairs])
    known = np.isfinite(differences)
    filled = np.where(known, differences, 0.0)
    signs = _signs(table.shape[1])
    spread = np.sqrt(np.square(filled).sum(axis=1))
    # Avoids 0 / 0 for pairs without any difference, whose p-value becomes 1.
    scale = np.where(spread > 0, spread, 1.0)
    observed = np.abs(filled.sum(axis=1)) / scale
    drawn = np.abs(filled @ signs.T) / scale[:, None]
    # The tolerance absorbs rounding: sums in another order differ slightly.
    as_large = drawn >= observed[:, None] - 1e-9
    largest = drawn.max(axis=0)[None, :] >= observed[:, None] - 1e-9
    return [
        Comparison(
            names[one],
            names[other],
            mean_interval(differences[row]),
            float(as_large[row].mean()),
            float(largest[row].mean()),
            int(known[row].sum()),
        )
        for row, (one, other) in enumerate(pairs)
    ]


def _signs(cases: int) -> Floats:
    """Return (F, N) sign flips, 1 or -1; the first row is the unflipped one."""
    if 2**cases <= _FLIPS:
        numbers = np.arange(2**cases)
        bits = (numbers[:, None] >> np.arange(cases)) & 1
        return np.asarray(1.0 - 2.0 * bits)
    signs = np.random.default_rng(0).integers(0, 2, (_FLIPS, cases)) * 2.0 - 1.0
    signs[0] = 1.0
    return np.asarray(signs)


@dataclass(frozen=True)
class Rank:
    """Rank of one method, with its bootstrap interval."""

    name: str
    rank: int  #: Rank by the mean over cases; 1 is the best
    low: int  #: Lower bound of the 95 % bootstrap interval of the rank
    high: int  #: Upper bound of the interval
    first: float  #: Share of bootstrap samples in which it ranks first


@dataclass(frozen=True)
class Ranking:
    """A ranking and its stability."""

    ranks: tuple[Rank, ...]  #: The best first
    #: Share of bootstrap samples in which the order of the methods differs.
    changed: float
    #: (S, S) share of bootstrap samples in which the method of the row, in the order of `ranks`,
    #: has the rank of the column.
    places: NDArray[np.float64]


def ranking(names: Sequence[str], values: ArrayLike, *, higher_is_better: bool) -> Ranking:
    """Rank rows by their means over cases, with bootstrap intervals of the ranks.

    Parameters
    ----------
    names : sequence of str
        Names of the S rows.
    values : (S, N) array_like
        One value per case; NaN is ignored for its own row only.
    """
    table = np.asarray(values, np.float64) * (-1 if higher_is_better else 1)
    order = np.argsort(_means(table), kind="stable")
    drawn = draw_cases(table.shape[1])
    means = np.stack([_means(row[drawn]) for row in table[order]])
    # Rows without any value in a bootstrap sample rank last in it; ties keep the overall order.
    places = np.argsort(np.argsort(means, axis=0, kind="stable"), axis=0, kind="stable")
    number = len(names)
    shares = np.stack([(places == place).mean(axis=1) for place in range(number)], axis=1)
    bounds = np.quantile(
        places, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=1, method="inverted_cdf"
    )  # fmt: skip
    ranks = tuple(
        Rank(
            names[index],
            place + 1,
            int(bounds[0, place]) + 1,
            int(bounds[1, place]) + 1,
            float(shares[place, 0]),
        )
        for place, index in enumerate(order)
    )
    in_order = (places == np.arange(number)[:, None]).all(axis=0)
    return Ranking(ranks, float(1 - in_order.mean()), shares)


def _means(values: Floats) -> Floats:
    """Return the means over the last axis, ignoring NaN; infinite if all are NaN."""
    known = np.isfinite(values)
    number = known.sum(axis=-1)
    sums = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(sums, number, out=np.full(sums.shape, np.inf), where=number > 0))
