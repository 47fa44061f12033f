"""A rater who is farther from all others than they are from each other.

Such a mask may be a slip, such as a wrong structure or a wrong series, or the only one that is
right; a vote counts it like any other. Which of the two, only a person can tell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.pair_counts import PairCounts

#: Two raters cannot say which of them is far from the other.
LEAST_RATERS = 3

#: A rater deviates whose distance 1 - Dice to the others is so many times theirs among each other,
#: and whose Dice is so much lower. Chosen by
#: `examples/benchmarks/findings/diagnostics_evidence.py --raters` on seeds 1000 to 1011: how often
#: that is so as raters are, and where one drew twice the volume.
TIMES_AS_FAR = 2.5
LOWER_DICE = 0.1

#: Others may be far from each other, too, but a rater whose Dice to them is below this part of
#: theirs drew something else: an inverted mask, another structure.
SLIP_SHARE = 0.25

#: Whoever drew too little, and this share of it where others did, too, has a say: the vote copes.
CONTAINED = 0.8

#: Distances that are equal but for their rounding differ by less, as a share.
ROUNDING = 1e-9


class Deviation(NamedTuple):
    """How far the farthest rater is from the others."""

    rater: int
    dice: float  #: Mean to the others
    others_dice: float  #: Mean among the others
    volume_ratio: float  #: To the others' volume where both annotated; NaN if they marked nothing

    @property
    def times_as_far(self) -> float:
        """Distance 1 - Dice to the others, in units of theirs among each other."""
        if self.others_dice == 1:
            return 1.0 if self.dice == 1 else np.inf
        return (1 - self.dice) / (1 - self.others_dice)

    @property
    def deviates(self) -> bool:
        """Whether that is far."""
        return self.times_as_far > TIMES_AS_FAR and self.others_dice - self.dice > LOWER_DICE


def farthest_rater(
    patterns: DecisionPatterns, counted: PairCounts | None = None
) -> Deviation | None:
    """The rater who is farthest from the others; None where fewer than three met each other.

    Dice is that of all labels but 0 together, of voxels that both raters annotated. Pairs that
    were counted before need not be again.
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
    """Mean of those that are known."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan


def raters_of_something_else(pairs: PairCounts, label: int) -> tuple[int, ...]:
    """Raters who marked something else than the others, one after the other, never half of all.

    They are far from others who are close to each other, or hardly meet them, and much of what they
    marked is theirs alone.

    Parameters
    ----------
    label : int
        The index of a label.
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
        # Raters who are equally far go together, or stay: their order must not choose.
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
