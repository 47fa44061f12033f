"""Raters who use other numbers than the others: two labels swapped, or one called otherwise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.swaps import swaps_in
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.voting import StackVote, VoteRules, rows_as_stack

#: A table of more labels would be larger than the images.
MOST_LABELS = 1000


class LabelSwap(NamedTuple):
    """Labels that a rater uses for what the others call otherwise."""

    rater: int
    used: tuple[int, ...]  #: Label values that the rater gave ...
    meant: tuple[int, ...]  #: ... where the others gave these
    before: float  #: Mean Dice to the others as the numbers are
    after: float  #: Mean Dice to the others if the numbers were put right
    is_closed: bool  #: Whether the same numbers are used and meant


def label_swaps(patterns: DecisionPatterns) -> list[LabelSwap]:
    """Labels that one rater uses where most others gave one and the same other label.

    Of two raters the first is compared with the second: who is wrong cannot be said.
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
    """(P,) index of the label that most raters gave; ``len(labels)`` where nobody did."""
    labels = patterns.number_of_labels
    decision = StackVote(rows_as_stack(patterns), VoteRules(ties="lowest")).decision()
    return np.where(decision < 0, labels, decision)


def _table(
    patterns: DecisionPatterns, said: NDArray[Any], most: NDArray[Any]
) -> NDArray[np.float64]:
    """(K, K) voxels by what a rater said and what most did."""
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
