"""Raters who use other numbers than the others: two labels swapped, or one called otherwise."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.voting import StackVote, VoteRules, rows_as_stack

#: A label is called otherwise if it has at least this Dice with what others call so ...
MEANT = 0.5
#: ... and so many times that of what they call the same.
TIMES_CLOSER = 2.0

#: A table of more labels would be larger than the images.
MOST_LABELS = 1000


class Renamed(NamedTuple):
    """A label that a rater calls otherwise."""

    rater: int
    used: int  #: Label value that the rater gave ...
    meant: int  #: ... where the others gave this one
    dice: float  #: Of what the rater calls `used` with what the others call `meant`
    is_swap: bool  #: Whether `meant` is used for `used`, too


def renamed_labels(patterns: DecisionPatterns) -> list[Renamed]:
    """Labels that one rater uses where most others gave one and the same other label.

    Of two raters the first is compared with the second: who is wrong cannot be said.
    """
    raters, labels = patterns.number_of_raters, patterns.number_of_labels
    drawn = np.count_nonzero(patterns.labels != 0)
    if raters < 2 or drawn < 2 or labels > MOST_LABELS:
        return []
    votes = np.ascontiguousarray(patterns.patterns.T)
    if raters == 2:
        return _renamed(0, _table(patterns, votes[0], votes[1]), patterns.labels)
    most = _most_frequent(patterns)
    found: list[Renamed] = []
    for rater, said in enumerate(votes):
        found += _renamed(rater, _table(patterns, said, most), patterns.labels)
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


def _renamed(rater: int, table: NDArray[np.float64], labels: NDArray[Any]) -> list[Renamed]:
    mine, theirs = table.sum(axis=1), table.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        dice = np.nan_to_num(2 * table / (mine[:, None] + theirs[None, :]))
    drawn = np.asarray(labels != 0)
    dice[~drawn] = dice[:, ~drawn] = 0
    own = np.diagonal(dice).copy()
    np.fill_diagonal(dice, 0)
    partner = dice.argmax(axis=1)
    best = dice[np.arange(len(dice)), partner]
    found = []
    for used in np.flatnonzero((best >= MEANT) & (best > TIMES_CLOSER * own)):
        meant = int(partner[used])
        swap = bool(partner[meant] == used and best[meant] >= MEANT)
        found.append(Renamed(rater, int(labels[used]), int(labels[meant]), float(best[used]), swap))
    return found
