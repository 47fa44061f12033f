"""The Fréchet consensus: the mask with the highest mean Dice, or Jaccard, to the raters.

It does not depend on how much background there is, since no measure that it uses does.

For Dice with the number of voxels m fixed, the mean ``1/J sum_j 2 |S_j and M| / (|S_j| + m)`` is
linear in the voxels: a voxel of a pattern is worth the sum of 1 / (|S_j| + m) over the raters who
mark it. Taking patterns by worth is then optimal, and only m is to be found, which branch and
bound over ranges of m does exactly. Jaccard is not linear; patterns are added and taken away while
that helps.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import InputError
from itk_consensus.labels.decision_patterns import DecisionPatterns

Floats = NDArray[np.float64]
Measure = Literal["dice", "jaccard"]

#: A better mean by less than this is rounding.
TOLERANCE = 1e-12


class FrechetConsensus(NamedTuple):
    """A mask on patterns and its mean overlap with the raters."""

    chosen: NDArray[np.bool_]
    overlap: float


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
    marks = (patterns.patterns == foreground).astype(np.float64)
    marked = marks.any(axis=1)
    table = _Table(marks[marked], patterns.counts[marked], patterns.counts @ marks)
    chosen = np.zeros(len(marks), bool)
    chosen[marked] = _highest_dice(table)
    if measure == "jaccard":
        votes = table.marks.mean(axis=1) > 0.5
        starts = [_climb_jaccard(table, start) for start in (chosen[marked], votes)]
        chosen[marked] = max(starts, key=lambda start: float(_mean_jaccard(table, start)))
        return FrechetConsensus(chosen, float(_mean_jaccard(table, chosen[marked])))
    return FrechetConsensus(chosen, _mean_dice(table, chosen[marked]))


def _mean_dice(table: _Table, chosen: NDArray[np.bool_]) -> float:
    overlap = (table.counts * chosen) @ table.marks
    total = table.sizes + table.counts[chosen].sum()
    return float(np.where(total > 0, 2 * overlap / np.maximum(total, 1), 1.0).mean())


def _highest_dice(table: _Table) -> NDArray[np.bool_]:
    """Exact, by bisecting ranges of the number of voxels until none can be better."""
    best = np.zeros(len(table.counts), bool)
    highest = _mean_dice(table, best)
    ranges = [(1, int(table.counts.sum()))]
    while ranges:
        low, high = ranges.pop()
        if low > high or _dice_bound(table, low, high) <= highest + TOLERANCE:
            continue
        middle = (low + high) // 2
        for candidate in _whole_patterns(table, middle):
            value = _mean_dice(table, candidate)
            if value > highest:
                best, highest = candidate, value
        # A set of whole patterns is as good as any, so a single number needs no further look.
        if low < high:
            ranges += [(low, middle), (middle + 1, high)]
    return best


def _dice_bound(table: _Table, low: int, high: int) -> float:
    """No mask of `low` to `high` voxels has a higher mean Dice.

    A voxel is worth most in the smallest mask, and empty raters agree with no mask at all.
    """
    worth = table.marks @ (2 / (table.sizes + low)) / len(table.sizes)
    order = np.argsort(-worth, kind="stable")
    before = np.cumsum(table.counts[order]) - table.counts[order]
    taken = (high - before).clip(0, table.counts[order])
    return float(worth[order] @ taken)


def _whole_patterns(table: _Table, number: int) -> list[NDArray[np.bool_]]:
    """The most valuable patterns just below and just above a number of voxels."""
    worth = table.marks @ (1 / (table.sizes + number))
    order = np.argsort(-worth, kind="stable")
    reached = int(np.searchsorted(np.cumsum(table.counts[order]), number))
    candidates = []
    for last in (reached, reached + 1):
        candidate = np.zeros(len(order), bool)
        candidate[order[:last]] = True
        candidates.append(candidate)
    return candidates


def _mean_jaccard(table: _Table, chosen: NDArray[np.bool_]) -> Floats:
    overlap = (table.counts * chosen) @ table.marks
    return _jaccard(overlap, table.sizes + table.counts[chosen].sum() - overlap)


def _jaccard(overlap: Floats, union: Floats) -> Floats:
    each = np.where(union > 0, overlap / np.maximum(union, 1), 1.0)
    return np.asarray(each.mean(axis=-1))


def _climb_jaccard(table: _Table, start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Add or take away the pattern that helps most, until none does."""
    chosen = start.copy()
    while True:
        overlap = (table.counts * chosen) @ table.marks
        union = table.sizes + table.counts[chosen].sum() - overlap
        change = (np.where(chosen, -1, 1) * table.counts)[:, None]
        after = _jaccard(overlap + change * table.marks, union + change * (1 - table.marks))
        if len(after) == 0 or after.max() <= _jaccard(overlap, union) + TOLERANCE:
            return chosen
        chosen[after.argmax()] ^= True
