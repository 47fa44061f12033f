"""Intervals and comparisons over cases, by drawing cases again.

Cases are drawn, never raters or voxels: what is seen in one case is not independent. Every draw is
the same at every call.
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
"""Of every interval."""

DRAWS = 2000
"""Samples of cases."""

#: Sign changes that are tried; all there are where they are fewer.
_FLIPS = 10_000


@dataclass(frozen=True)
class Interval:
    """A value and where it may lie; NaN bounds where one case is all there is."""

    value: float
    low: float
    high: float


def drawn_cases(number: int, draws: int = DRAWS) -> NDArray[np.int64]:
    """(draws, number) indices of cases, with replacement."""
    return np.random.default_rng(0).integers(0, number, (draws, number))


def mean_interval(values: ArrayLike) -> Interval:
    """The mean of one number per case, NaN left out, with its bootstrap interval."""
    known = np.asarray(values, np.float64)
    known = known[~np.isnan(known)]
    if not known.size:
        return Interval(math.nan, math.nan, math.nan)
    mean = float(known.mean())
    if known.size < 2 or not np.isfinite(known).all():
        return Interval(mean, math.nan, math.nan)
    return Interval(mean, *percentiles(known[drawn_cases(known.size)].mean(axis=1), known.size))


def percentiles(drawn: Floats, cases: int) -> tuple[float, float]:
    """The interval between percentiles of drawn values, NaN left out.

    With few cases percentiles lie too close together; they are taken further out, so that the
    interval of a mean is as wide as Student's (Hesterberg, Am Stat 69:371-386, 2015).
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
    """Two of several, compared on the same cases."""

    first: str
    second: str
    difference: Interval  #: Mean of first less second
    p: float  #: That cases without any difference would show as large a one; two-sided
    #: The same for the largest of all comparisons: it is no smaller than `p`.
    corrected_p: float
    cases: int  #: That have both


def paired_comparisons(names: Sequence[str], values: ArrayLike) -> list[Comparison]:
    """Every two of several, by changing the signs of their differences case by case.

    Comparisons share their sign changes, and the largest of them corrects for their number
    (Westfall and Young's step of maximal statistics).

    Parameters
    ----------
    names : sequence of str
        Of the S rows.
    values : (S, N) array_like
        A number for each case, NaN where there is none.
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
    # Nothing changes in a pair without differences; then every draw is as large.
    scale = np.where(spread > 0, spread, 1.0)
    observed = np.abs(filled.sum(axis=1)) / scale
    drawn = np.abs(filled @ signs.T) / scale[:, None]
    # As large, but for rounding: sums in another order differ by that.
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
    """(F, N) of 1 and -1; the first row changes nothing."""
    if 2**cases <= _FLIPS:
        numbers = np.arange(2**cases)
        bits = (numbers[:, None] >> np.arange(cases)) & 1
        return np.asarray(1.0 - 2.0 * bits)
    signs = np.random.default_rng(0).integers(0, 2, (_FLIPS, cases)) * 2.0 - 1.0
    signs[0] = 1.0
    return np.asarray(signs)


@dataclass(frozen=True)
class Rank:
    """The place of one of several, and how sure it is."""

    name: str
    rank: int  #: 1 is the best; the mean of cases decides
    low: int  #: Places in 95 % of the draws of cases
    high: int
    first: float  #: Share of draws in which it is the best


@dataclass(frozen=True)
class Ranking:
    """All of several in order."""

    ranks: tuple[Rank, ...]  #: The best first
    #: Share of draws of cases in which the whole order is another.
    changed: float
    #: (S, S) share of draws in which the one of the row, in the order of `ranks`, has the place of
    #: the column.
    places: NDArray[np.float64]


def ranking(names: Sequence[str], values: ArrayLike, *, higher_is_better: bool) -> Ranking:
    """Order several by their means, and see how the order changes when cases are drawn again.

    Parameters
    ----------
    names : sequence of str
        Of the S rows.
    values : (S, N) array_like
        A number for each case, NaN where there is none; such a case counts for the others.
    """
    table = np.asarray(values, np.float64) * (-1 if higher_is_better else 1)
    order = np.argsort(_means(table), kind="stable")
    drawn = drawn_cases(table.shape[1])
    means = np.stack([_means(row[drawn]) for row in table[order]])
    # Who has no case in a draw comes last in it; equal means keep the order that was found.
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
    """Over the last axis; NaN left out, infinite where nothing is left."""
    known = np.isfinite(values)
    number = known.sum(axis=-1)
    sums = np.where(known, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(sums, number, out=np.full(sums.shape, np.inf), where=number > 0))
