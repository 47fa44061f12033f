"""The Fréchet consensus: the mask with the highest mean Dice, or Jaccard, to the raters.

It does not depend on how much background there is, since no measure that it uses does.

For Dice with the number of voxels m fixed, the mean ``1/J sum_j 2 |S_j and M| / (|S_j| + m)`` is
linear in the voxels: a voxel of a pattern is worth the sum of 1 / (|S_j| + m) over the raters who
mark it. Taking patterns by worth is then optimal, and only m is to be found, which branch and
bound over ranges of m does exactly. Jaccard is not linear; patterns are added and taken away while
that helps.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.array_types import Floats, Mask
from itk_consensus.errors import InputError
from itk_consensus.labels.decision_patterns import DecisionPatterns

Measure = Literal["dice", "jaccard"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

#: A better mean by less than this is rounding.
TOLERANCE = 1e-12


class FrechetConsensus(NamedTuple):
    """A mask on patterns and its mean overlap with the raters."""

    #: (P,) voxels of each pattern in the mask: all or none of them, but for one pattern at most,
    #: where raters with small and large masks pull both ways. Which of its voxels, nobody can say.
    taken: NDArray[np.int64]
    overlap: float  #: Mean Dice or Jaccard of exactly this mask


class FrechetLabels(NamedTuple):
    """A label map on patterns."""

    decision: NDArray[np.int64]  #: (P,) label index; the first label where none is claimed
    overlaps: dict[int, float]  #: Mean overlap of this map with the raters, by label index from 1


class _Table(NamedTuple):
    """Patterns that somebody marks: marks (P, J), voxels (P,), and each rater's voxels (J,)."""

    marks: Floats
    counts: NDArray[np.int64]
    sizes: Floats


def frechet_consensus(
    patterns: DecisionPatterns, measure: Measure = "dice", foreground: int = 1
) -> FrechetConsensus:
    """The mask closest to all raters.

    Parameters
    ----------
    patterns : DecisionPatterns
        Without missing raters: where one is missing, overlap with him is not defined.
    measure : {"dice", "jaccard"}
        Dice is exact; Jaccard ends where no single pattern added or taken away helps.
    foreground : int
        Index of the label that is fused against all others.
    """
    if not patterns.present.all():
        raise InputError("frechet_consensus: every rater must annotate every voxel")
    marked = (patterns.patterns == foreground).any(axis=1)
    table = _table(patterns, foreground, marked)
    best = _highest_dice(table)
    if measure == "jaccard":
        votes = np.where(table.marks.mean(axis=1) > 0.5, table.counts, 0)
        whole = np.where(2 * best > table.counts, table.counts, 0)
        ends = [_climb_jaccard(table, start) for start in (whole, votes)]
        best = max(ends, key=lambda end: float(_mean_jaccard(table, end)))
    taken = np.zeros(len(marked), np.int64)
    taken[marked] = best
    mean = _mean_dice if measure == "dice" else _mean_jaccard
    return FrechetConsensus(taken, float(mean(table, best)))


def frechet_labels(patterns: DecisionPatterns, measure: Measure = "dice") -> FrechetLabels:
    """Each label but the first against all others, in whole patterns.

    What several labels claim goes to the one with more votes. Where a rater is missing, the vote
    of the others stands in; raters who annotated nothing are left out.
    """
    complete = _completed(patterns)
    decision = np.zeros(len(complete.counts), np.int64)
    claimed = np.zeros(len(complete.counts), np.int64)
    for label in range(1, complete.number_of_labels):
        taken = frechet_consensus(complete, measure, label).taken
        # Label by label: a table of patterns and labels is much memory where both are many.
        votes = np.count_nonzero(complete.patterns == label, axis=1)
        better = (2 * taken > complete.counts) & (votes > claimed)
        decision[better], claimed[better] = label, votes[better]
    mean = _mean_dice if measure == "dice" else _mean_jaccard
    overlaps = {}
    for label in range(1, complete.number_of_labels):
        chosen = decision == label
        rows = chosen | (complete.patterns == label).any(axis=1)
        table = _table(complete, label, rows)
        overlaps[label] = float(mean(table, np.where(chosen[rows], table.counts, 0)))
    return FrechetLabels(decision, overlaps)


def _table(patterns: DecisionPatterns, label: int, rows: Mask) -> _Table:
    """Who marks a label in which patterns; of many labels most patterns hold none of it."""
    marks = (patterns.patterns[rows] == label).astype(np.float64)
    counts = patterns.counts[rows]
    return _Table(marks, counts, counts @ marks)


def _completed(patterns: DecisionPatterns) -> DecisionPatterns:
    if patterns.present.all():
        return patterns
    used = patterns.present.any(axis=0)
    vote = majority_vote(patterns, ties="lowest").decision
    vote = np.where(patterns.present.any(axis=1), vote, 0)
    filled = np.where(patterns.present, patterns.patterns, vote[:, None])[:, used]
    return DecisionPatterns(filled, patterns.counts, patterns.labels)


def _mean_dice(table: _Table, taken: NDArray[np.int64]) -> Floats:
    total = table.sizes + taken.sum()
    each = np.where(total > 0, 2 * (taken @ table.marks) / np.maximum(total, 1), 1.0)
    return np.asarray(each.mean())


def _highest_dice(table: _Table) -> NDArray[np.int64]:
    """Exact, by bisecting ranges of the number of voxels until none can be better."""
    best = np.zeros(len(table.counts), np.int64)
    highest = float(_mean_dice(table, best))
    ranges = [(1, int(table.counts.sum()))]
    while ranges:
        low, high = ranges.pop()
        if low > high or _dice_bound(table, low, high) <= highest + TOLERANCE:
            continue
        middle = (low + high) // 2
        _, candidate = _most_valuable(table, middle, middle)
        value = float(_mean_dice(table, candidate))
        if value > highest:
            best, highest = candidate, value
        if low < high:
            ranges += [(low, middle), (middle + 1, high)]
    return best


def _most_valuable(table: _Table, size: int, number: int) -> tuple[Floats, NDArray[np.int64]]:
    """What a voxel of each pattern is worth in a mask of `size`, and the best `number` of them."""
    worth = table.marks @ (2 / (table.sizes + size)) / len(table.sizes)
    order = np.argsort(-worth, kind="stable")
    before = np.cumsum(table.counts[order]) - table.counts[order]
    taken = np.empty_like(table.counts)
    taken[order] = (number - before).clip(0, table.counts[order])
    return worth, taken


def _dice_bound(table: _Table, low: int, high: int) -> float:
    """No mask of `low` to `high` voxels has a higher mean Dice: voxels are worth most in `low`."""
    worth, taken = _most_valuable(table, low, high)
    return float(worth @ taken)


def _mean_jaccard(table: _Table, taken: NDArray[np.int64]) -> Floats:
    overlap = taken @ table.marks
    return _jaccard(overlap, table.sizes + taken.sum() - overlap)


def _jaccard(overlap: Floats, union: Floats) -> Floats:
    each = np.where(union > 0, overlap / np.maximum(union, 1), 1.0)
    return np.asarray(each.mean(axis=-1))


def _climb_jaccard(table: _Table, start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add or take away the pattern that helps most, until none does."""
    taken = start.copy()
    while True:
        overlap = taken @ table.marks
        union = table.sizes + taken.sum() - overlap
        change = (table.counts - 2 * taken)[:, None]
        after = _jaccard(overlap + change * table.marks, union + change * (1 - table.marks))
        if len(after) == 0 or after.max() <= _jaccard(overlap, union) + TOLERANCE:
            return taken
        flipped = after.argmax()
        taken[flipped] = table.counts[flipped] - taken[flipped]
