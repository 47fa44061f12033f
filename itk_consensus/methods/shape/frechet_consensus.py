"""Fréchet consensus: the mask with the highest mean Dice, or Jaccard, with the raters.

The result does not depend on the amount of background, since Dice and Jaccard do not.

For Dice with a fixed number of voxels m, the mean ``1/J sum_j 2 |S_j and M| / (|S_j| + m)`` is
linear in the voxels: the value of a voxel is the sum of 2 / (|S_j| + m) / J over the raters who
mark it. Taking voxels in decreasing order of value is optimal, so only m must be found, which is
done exactly by branch and bound over ranges of m. Jaccard is not linear; it is maximised greedily,
by adding and removing patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import in_threads, report, stage
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import PatternShares
from itk_consensus.votes.overlap import dice_of

Measure = Literal["dice", "jaccard"]
MEASURES: tuple[Measure, ...] = get_args(Measure)

#: Differences of mean overlaps below this are rounding errors.
TOLERANCE = 1e-12


class FrechetConsensus(NamedTuple):
    """A mask on patterns and its mean overlap with the raters."""

    #: (P,) number of voxels of each pattern that are in the mask: all or none, except for at most
    #: one pattern, from which any voxels can be taken.
    taken: NDArray[np.int64]
    overlap: float  #: Mean Dice or Jaccard of exactly this mask


class FrechetLabels(NamedTuple):
    """A label map on patterns."""

    decision: NDArray[np.int64]  #: (P,) label index; the first label if no other is chosen
    overlaps: dict[int, float]  #: Mean overlap of this map with the raters, by label index, from 1


@dataclass(frozen=True)
class CertainShares(PatternShares):
    """Probability 1 for the label assigned by a map."""

    decision: NDArray[np.int64]  #: (P,) label index
    labels: int  #: Number of labels, K

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.decision), self.labels

    def rows(self, part: slice) -> Floats:
        return np.eye(self.labels)[self.decision[part]]

    def of_label(self, label: int) -> Floats:
        return np.asarray(self.decision == label, np.float64)


class _Table(NamedTuple):
    """Marks of one label; patterns that are marked by the same raters are merged into one set."""

    marks: Floats  #: (G, J) 1 if a rater marks the voxels of a set with the label, else 0
    counts: NDArray[np.int64]  #: (G,) number of voxels of each set
    sizes: Floats  #: (J,) number of voxels marked by each rater
    set_of: NDArray[np.intp]  #: (P',) set of each pattern

    def of_patterns(self, taken: NDArray[np.int64], counts: NDArray[np.int64]) -> Any:
        """Distribute the voxels taken from each set to its (P',) patterns, in their order."""
        order = np.argsort(self.set_of, kind="stable")
        before = np.cumsum(counts[order]) - counts[order]
        before -= (np.cumsum(self.counts) - self.counts)[self.set_of[order]]
        spread = np.empty_like(counts)
        spread[order] = (taken[self.set_of[order]] - before).clip(0, counts[order])
        return spread


def frechet_consensus(
    patterns: DecisionPatterns,
    measure: Measure = "dice",
    foreground: int = 1,
) -> FrechetConsensus:
    """Return the mask with the highest mean overlap with the raters.

    Parameters
    ----------
    patterns : DecisionPatterns
        Patterns without missing votes, for which the overlap is undefined.
    measure : {"dice", "jaccard"}
        Dice is maximised exactly; Jaccard only up to a local optimum with respect to adding or
        removing one pattern.
    foreground : int
        Index of the label that is fused against all other labels.
    """
    if not patterns.present.all():
        raise InputError("frechet_consensus: every rater must annotate every voxel")
    marked = _has_vote_for(patterns, foreground)
    table = _table(patterns, foreground, marked)
    best = _best_mask(table, measure)
    taken = np.zeros(len(marked), np.int64)
    taken[marked] = table.of_patterns(best, patterns.counts[marked])
    mean = _mean_dice if measure == "dice" else _mean_jaccard
    return FrechetConsensus(taken, float(mean(table, best)))


def _best_mask(table: _Table, measure: Measure) -> NDArray[np.int64]:
    """Return (G,) the number of voxels of each set in the mask with the highest mean overlap."""
    best = _highest_dice(table)
    if measure == "dice":
        return best
    votes = np.where(table.marks.mean(axis=1) > 0.5, table.counts, 0)
    whole = np.where(2 * best > table.counts, table.counts, 0)
    ends = [_climb_jaccard(table, start) for start in (whole, votes)]
    return max(ends, key=lambda end: float(_mean_jaccard(table, end)))


def frechet_labels(patterns: DecisionPatterns, measure: Measure = "dice") -> FrechetLabels:
    """Fuse each label except the first against all other labels, in whole patterns.

    A pattern that is in the masks of several labels is assigned to the label with the most votes.
    Missing votes are replaced by the majority vote of the others; raters without annotations are
    left out.
    """
    complete = _fill_missing(patterns)
    decision = np.zeros(len(complete.counts), np.int64)
    claimed = np.zeros(len(complete.counts), np.int64)

    def claim(label: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the patterns in the mask of a label, and its votes there."""
        marked = _has_vote_for(complete, label)
        table = _table(complete, label, marked)
        whole = _whole_sets(table, _best_mask(table, measure), measure)
        rows = np.flatnonzero(marked)[whole[table.set_of]]
        return rows, np.count_nonzero(complete.patterns[rows] == label, axis=1)

    labels = range(1, complete.number_of_labels)
    # Process label by label, since a dense table of patterns and labels may not fit into memory.
    with stage(0.0, 0.9):
        for label, (rows, votes) in zip(labels, in_threads(claim, labels), strict=True):
            better = votes > claimed[rows]
            decision[rows[better]], claimed[rows[better]] = label, votes[better]
    mean = _mean_dice if measure == "dice" else _mean_jaccard

    def overlap(label: int) -> float:
        chosen = decision == label
        rows = chosen | _has_vote_for(complete, label)
        table = _table(complete, label, rows)
        voxels = np.where(chosen[rows], complete.counts[rows], 0)
        taken = np.bincount(table.set_of, voxels, len(table.counts)).astype(np.int64)
        return float(mean(table, taken))

    with stage(0.9, 1.0):
        overlaps = dict(zip(labels, in_threads(overlap, labels), strict=True))
    return FrechetLabels(decision, overlaps)


def _whole_sets(table: _Table, taken: NDArray[np.int64], measure: Measure) -> Mask:
    """Return (G,) the sets of which more than half is in the mask; sets of equal value are joined.

    A mask may contain part of a set, or of sets of equal value. The choice of their voxels is
    arbitrary, and must not depend on the order of the raters.
    """
    if measure == "jaccard" or not taken.any():
        return 2 * taken > table.counts
    worth = _by_worth(table, int(taken.sum()))[0]
    tied = np.abs(worth - worth[taken > 0].min()) <= TOLERANCE
    share = 2 * taken[tied].sum() > table.counts[tied].sum()
    return np.where(tied, share, taken > 0)


def _has_vote_for(patterns: DecisionPatterns, label: int) -> Mask:
    """Return (P,) whether any rater votes for a label."""
    found = np.zeros(len(patterns.counts), bool)
    for votes in patterns.patterns.T:
        found |= votes == label
    return found


def _table(patterns: DecisionPatterns, label: int, rows: Mask) -> _Table:
    """Build the table of a label from the patterns given by `rows`."""
    marks = patterns.patterns[rows] == label
    first, set_of = _equal_rows(np.packbits(marks, axis=1))
    of_sets = marks[first].astype(np.float64)
    counts = np.bincount(set_of, patterns.counts[rows], len(first)).astype(np.int64)
    return _Table(of_sets, counts, counts @ of_sets, set_of)


def _equal_rows(table: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first row of each set of equal rows, in order, and the set of each row."""
    order = np.lexsort(table.T)
    begins = np.ones(len(table), bool)
    begins[1:] = (table[order[1:]] != table[order[:-1]]).any(axis=1)
    first = order[begins]
    rank = np.argsort(np.argsort(first))
    set_of = np.empty(len(table), np.intp)
    set_of[order] = rank[np.cumsum(begins) - 1]
    return np.sort(first), set_of


def _fill_missing(patterns: DecisionPatterns) -> DecisionPatterns:
    """Replace missing votes by the majority vote, and drop raters without any vote."""
    if patterns.present.all():
        return patterns
    used = patterns.present.any(axis=0)
    vote = majority_vote(patterns, ties="lowest").decision
    vote = np.where(patterns.present.any(axis=1), vote, 0)
    filled = np.where(patterns.present, patterns.patterns, vote[:, None])[:, used]
    return DecisionPatterns(filled, patterns.counts, patterns.labels)


def _mean_dice(table: _Table, taken: NDArray[np.int64]) -> Floats:
    return np.asarray(dice_of(taken @ table.marks, table.sizes + taken.sum()).mean())


def _highest_dice(table: _Table) -> NDArray[np.int64]:
    """Return the mask with the highest mean Dice by branch and bound over ranges of its size.

    Among equally good sizes the smallest is used, so that the result does not depend on rounding.
    """
    best = np.zeros(len(table.counts), np.int64)
    highest = float(_mean_dice(table, best))
    ranges = [(1, int(table.counts.sum()))]
    while ranges:
        report(0.0)
        low, high = ranges.pop()
        if low > high or _dice_bound(table, low, high) < highest - TOLERANCE:
            continue
        middle = (low + high) // 2
        candidate = _most_valuable(table, middle)
        value = float(_mean_dice(table, candidate))
        if value > highest + TOLERANCE or (value > highest - TOLERANCE and middle < best.sum()):
            best, highest = candidate, value
        if low < high:
            ranges += [(low, middle), (middle + 1, high)]
    return best


def _by_worth(table: _Table, size: int) -> tuple[Floats, NDArray[np.intp], NDArray[np.int64]]:
    """Return (G,) values of a voxel in a mask of `size`, the order of sets, and voxel sums."""
    worth = table.marks @ (2 / (table.sizes + size)) / len(table.sizes)
    order = np.argsort(-worth, kind="stable")
    return worth, order, np.cumsum(table.counts[order])


def _most_valuable(table: _Table, size: int) -> NDArray[np.int64]:
    """Return the mask of `size` voxels with the highest mean Dice."""
    _, order, ends = _by_worth(table, size)
    taken = np.empty_like(table.counts)
    taken[order] = (size - ends + table.counts[order]).clip(0, table.counts[order])
    return taken


def _dice_bound(table: _Table, low: int, high: int) -> float:
    """Return an upper bound on the mean Dice of masks of `low` to `high` voxels.

    The mean Dice of a mask of m voxels is at most the sum of the m highest values computed for size
    `low`, times the largest (S + low) / (S + m), which is attained for the rater with the largest
    size S. The bound is monotone in m between the sizes at which a set is exhausted, so it suffices
    to evaluate it at these sizes and at both ends.
    """
    worth, order, ends = _by_worth(table, low)
    total = np.cumsum(worth[order] * table.counts[order])
    between = slice(*np.searchsorted(ends, (low, high)))
    sizes = np.concatenate([[low, high], ends[between]])
    best = np.interp(sizes, np.append(0, ends), np.append(0.0, total))
    largest = table.sizes.max()
    return float((best * (largest + low) / (largest + sizes)).max())


def _mean_jaccard(table: _Table, taken: NDArray[np.int64]) -> Floats:
    overlap = taken @ table.marks
    return _jaccard(overlap, table.sizes + taken.sum() - overlap)


def _jaccard(overlap: Floats, union: Floats) -> Floats:
    each = np.where(union > 0, overlap / np.maximum(union, 1), 1.0)
    return np.asarray(each.mean(axis=-1))


def _climb_jaccard(table: _Table, start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Repeatedly add or remove the set that raises the mean Jaccard most, until none does."""
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
