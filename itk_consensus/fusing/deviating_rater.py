"""Detect a rater who is farther from all others than the others are from each other.

Such a mask may be a gross error, such as a segmentation of the wrong structure or series, or the
only correct one; a vote counts it like any other mask. Only a human reviewer can decide which of
the two applies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.pair_counts import PairCounts

#: With only two raters, it is undefined which of them is far from the other.
LEAST_RATERS = 3

#: A rater deviates if the distance 1 - Dice to the others is at least this many times the distance
#: among the others, and the Dice is lower by at least this much. The values were chosen with
#: `examples/benchmarks/findings/diagnostics_evidence.py --raters` on seeds 1000 to 1011, by
#: comparing how often ordinary raters are reported with how often a rater who drew twice the volume
#: is reported.
TIMES_AS_FAR = 2.5
LOWER_DICE = 0.1

#: Even if the others are far from each other, a rater whose Dice with them is below this fraction
#: of the Dice among them drew something different, such as an inverted mask or another structure.
SLIP_SHARE = 0.25

#: A rater is kept, however small the rater's mask is, if at least this fraction of the mask is
#: contained in the others' masks.
CONTAINED = 0.8

#: Relative difference below which distances are considered equal.
ROUNDING = 1e-9


class Deviation(NamedTuple):
    """A rater's distance to the others, and the distance among the others."""

    rater: int
    dice: float  #: Mean Dice with the others
    others_dice: float  #: Mean Dice among the others
    #: Volume relative to the others where both annotated; NaN if the others marked nothing
    volume_ratio: float

    @property
    def times_as_far(self) -> float:
        """Distance 1 - Dice to the others, divided by the distance among the others."""
        if self.others_dice == 1:
            return 1.0 if self.dice == 1 else np.inf
        return (1 - self.dice) / (1 - self.others_dice)

    @property
    def deviates(self) -> bool:
        """Whether the rater deviates."""
        return self.times_as_far > TIMES_AS_FAR and self.others_dice - self.dice > LOWER_DICE


def farthest_rater(
    patterns: DecisionPatterns, counted: PairCounts | None = None
) -> Deviation | None:
    """Return the rater who is farthest from the others; None if fewer than three overlap.

    Dice is pooled over all labels except 0, and over voxels that both raters annotated. `counted`
    contains the pair counts, if they are known.
    """
    pairs = PairCounts.of(patterns) if counted is None else counted
    drawn = patterns.labels != 0
    marked, shared = pairs.marked[drawn].sum(axis=0), pairs.shared[drawn].sum(axis=0)
    either = marked + marked.T
    dices = dice_of(shared, either)
    dices[pairs.marked.sum(axis=0) == 0] = np.nan
    np.fill_diagonal(dices, np.nan)
    met = np.flatnonzero(np.isfinite(dices).any(axis=0))
    if len(met) < LEAST_RATERS:
        return None
    found = [_deviation(dices, marked, int(rater), met[met != rater]) for rater in met]
    known = [one for one in found if np.isfinite(one.dice) and np.isfinite(one.others_dice)]
    return max(known, key=lambda one: one.times_as_far, default=None)


def _deviation(
    dices: Floats, marked: NDArray[np.int64], rater: int, others: NDArray[np.intp]
) -> Deviation:
    theirs = marked[others, rater].sum()
    return Deviation(
        rater,
        _mean(dices[rater, others]),
        _mean(dices[np.ix_(others, others)]),
        float(marked[rater, others].sum() / theirs) if theirs else np.nan,
    )


def _mean(values: Floats) -> float:
    """Return the mean of the finite values; NaN if there are none."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan


def raters_of_something_else(pairs: PairCounts, label: int) -> tuple[int, ...]:
    """Return the raters who marked something different from the rest, removing them one by one.

    Such raters are far from raters who are close to each other, or hardly overlap them, and much of
    what they marked was marked by no other rater. Fewer than half of all raters are returned.

    Parameters
    ----------
    label : int
        Index of the label.
    """
    left = np.flatnonzero(pairs.sizes[label] > 0)
    most = (len(left) - 1) // 2
    shared, marked = pairs.shared[label], pairs.marked[label]
    either = np.maximum(marked + marked.T, 1)
    dices = np.where(np.eye(len(shared), dtype=bool), np.nan, 2 * shared / either)
    contained = np.where(np.isnan(dices), np.nan, shared / np.maximum(marked, 1))
    found: list[int] = []
    while len(left) >= LEAST_RATERS:
        all_left = [_of_overlaps(dices, int(rater), left) for rater in left]
        distance = max(one.times_as_far for one in all_left)
        # Equally distant raters are removed together or not at all, independently of the order of
        # raters.
        farthest = [one for one in all_left if one.times_as_far >= distance * (1 - ROUNDING)]
        if len(found) + len(farthest) > most or not all(
            _marked_elsewhere(one, contained, left) for one in farthest
        ):
            break
        found += [one.rater for one in farthest]
        left = np.setdiff1d(left, found)
    return tuple(sorted(found))


def _marked_elsewhere(one: Deviation, contained: Floats, among: NDArray[np.intp]) -> bool:
    is_far = one.deviates or one.dice < SLIP_SHARE * one.others_dice
    return is_far and _mean(contained[one.rater, among]) < CONTAINED


def _of_overlaps(dices: Floats, rater: int, among: NDArray[np.intp]) -> Deviation:
    others = among[among != rater]
    own, theirs = _mean(dices[rater, others]), _mean(dices[np.ix_(others, others)])
    return Deviation(rater, own, theirs, np.nan)
