"""Find raters whose label values differ from the others': labels swapped, or one renamed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.swaps import swaps_in
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.voting import StackVote, VoteRules, rows_as_stack

#: Maximum number of labels; with more, the confusion table would be larger than the images.
MOST_LABELS = 1000


class LabelSwap(NamedTuple):
    """Labels that a rater uses for structures that the others label differently."""

    rater: int
    used: tuple[int, ...]  #: Label values that the rater used
    meant: tuple[int, ...]  #: Label values that the others used for the same structures
    before: float  #: Mean Dice with the others before correction
    after: float  #: Mean Dice with the others after correction
    is_closed: bool  #: Whether `used` is a permutation of `meant`, not a renaming


def label_swaps(patterns: DecisionPatterns) -> list[LabelSwap]:
    """Find labels of one rater at voxels to which the majority gave a single different label.

    With two raters it is unknown which one is wrong; the swap is attributed to the first.
    """
    raters, labels = patterns.number_of_raters, patterns.number_of_labels
    drawn = np.count_nonzero(patterns.labels != 0)
    if raters < 2 or drawn < 2 or labels > MOST_LABELS:
        return []
    votes = np.ascontiguousarray(patterns.patterns.T)
    if raters == 2:
        return _swaps(0, _table(patterns, votes[0], votes[1]), patterns.labels)
    most = _most_frequent(patterns)
    found: list[LabelSwap] = []
    for rater, said in enumerate(votes):
        found += _swaps(rater, _table(patterns, said, most), patterns.labels)
    return found


def _most_frequent(patterns: DecisionPatterns) -> NDArray[Any]:
    """Return the (P,) index of the most frequent label; ``len(labels)`` if no rater annotated."""
    labels = patterns.number_of_labels
    decision = StackVote(rows_as_stack(patterns), VoteRules(ties="lowest")).decision()
    return np.where(decision < 0, labels, decision)


def _table(
    patterns: DecisionPatterns, said: NDArray[Any], most: NDArray[Any]
) -> NDArray[np.float64]:
    """Return a (K, K) confusion table in voxels: labels of a rater (rows) and of the majority."""
    size = patterns.number_of_labels + 1
    pairs = said.astype(np.intp) * size + most
    table = np.bincount(pairs, weights=patterns.counts, minlength=size * size)
    return np.asarray(table.reshape(size, size)[:-1, :-1], np.float64)


def _swaps(rater: int, table: NDArray[np.float64], labels: NDArray[Any]) -> list[LabelSwap]:
    mine, theirs = table.sum(axis=1), table.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        dice = np.nan_to_num(2 * table / (mine[:, None] + theirs[None, :]))
    background = np.asarray(labels == 0)
    dice[background] = dice[:, background] = 0
    return [
        LabelSwap(rater, _values(labels, one.used), _values(labels, one.meant), *one[2:])
        for one in swaps_in(dice)
    ]


def _values(labels: NDArray[Any], places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(labels[place]) for place in places)
