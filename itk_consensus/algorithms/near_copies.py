"""Raters who copied: pairs that differ far less than their errors, were these independent.

If raters err on their own, two of them differ wherever one errs: the number of voxels on which i
and j differ is the sum of their errors. How many a rater makes is told by two others, k and l, who
err on their own too: e_i = (d_ik + d_il - d_kl) / 2. Copies differ by much less than e_i + e_j.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns

#: Copies differ by less than this share of their errors. Copies with one contour voxel in twenty
#: changed reach .04 to .10; of raters simulated to err on their own one case in twenty comes below
#: where they miss whole lesions or draw too narrow, and otherwise next to none.
COPY_SHARE = 0.08

#: With a third rater only, whose errors count too, nothing but almost the same mask is a copy.
COPY_SHARE_OF_THREE = 0.03

#: Sums of shares that are equal but for their rounding differ by less; one voxel's share is more.
ROUNDING = 1e-13


#: Of more raters no pair decides anything, and comparing all of them takes too long.
MOST_RATERS = 200


def near_copies(patterns: DecisionPatterns) -> list[list[int]]:
    """Groups of raters who are copies of each other, in order; most groups are one rater.

    Two raters alone are never a copy: nobody tells how many errors there are.
    """
    raters = patterns.number_of_raters
    if raters > MOST_RATERS:
        return [[rater] for rater in range(raters)]
    distances = disagreements(patterns)
    group = list(range(raters))
    for i, j in itertools.combinations(range(raters), 2):
        if is_copy(distances, i, j):
            group = [group[i] if member == group[j] else member for member in group]
    names = sorted(set(group), key=group.index)
    return [[rater for rater in range(raters) if group[rater] == name] for name in names]


def disagreements(patterns: DecisionPatterns) -> Floats:
    """(J, J) share of the voxels that both annotated on which two raters differ; NaN if none."""
    raters, counts = patterns.number_of_raters, patterns.counts
    # By columns: rows of a long table are far apart.
    votes = np.ascontiguousarray(patterns.patterns.T)
    present = np.ascontiguousarray(patterns.present.T)
    everywhere = [bool(column.all()) for column in present]
    distances = np.zeros((raters, raters))
    for i, j in itertools.combinations(range(raters), 2):
        differ = votes[i] != votes[j]
        total = patterns.number_of_voxels
        if not (everywhere[i] and everywhere[j]):
            both = present[i] & present[j]
            differ &= both
            total = counts[both].sum()
        share = counts[differ].sum() / total if total else np.nan
        distances[i, j] = distances[j, i] = share
    return distances


def is_copy(distances: Floats, i: int, j: int) -> bool:
    """Whether raters i and j differ by much less than their errors."""
    others = np.flatnonzero(np.isfinite(distances[[i, j]]).all(axis=0))
    others = others[(others != i) & (others != j)]
    if not len(others):
        return False
    if len(others) == 1:
        errors = distances[[i, j], others[0]].sum()
        return bool(distances[i, j] + ROUNDING < COPY_SHARE_OF_THREE * errors)
    # The largest estimate: where k or m is a copy too, theirs is too small.
    errors = sum(_largest_error(distances, rater, others) for rater in (i, j))
    return bool(distances[i, j] + ROUNDING < COPY_SHARE * errors)


def _largest_error(distances: Floats, rater: int, others: NDArray[np.int64]) -> float:
    """What two others who met say of a rater's errors, at most."""
    own = distances[rater, others]
    told = (own[:, None] + own - distances[np.ix_(others, others)]) / 2
    np.fill_diagonal(told, np.nan)
    return float(np.nanmax(told)) if np.isfinite(told).any() else 0.0
