"""Raters who copied: contours that coincide voxel by voxel where those of others do not.

Readers who agree may all be right; readers who trace the same contour to a fifth of a voxel share
more than the truth. So a pair is judged by the voxels on which it differs, as a share of the voxels
of its contours, and against what independent witnesses do at the same place: at least two others
who drew about the same thing, who differ from the pair and from each other, and to whom the pair's
own errors are far larger than the difference between its two.

Agreement against an outlier is not copying, for the outlier is no witness; nor is agreement that
there is nothing, for an empty mask has no contour.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.space.boxes import bounding_box, grown
from itk_consensus.votes.decision_patterns import DecisionPatterns

#: Copies differ by less than this share of the voxels of their contours. Two readers whose contours
#: each err by s voxels differ by about 1.1 s of them: at .24 their hands err by a fifth of a voxel.
COPY_SHARE = 0.24

#: A contour of fewer voxels coincides by chance.
LEAST_CONTOUR = 75

#: Copies differ by less than this share of their errors, as two witnesses tell them.
COPY_RATIO = 1 / 3

#: Witnesses drew about the same thing: they differ from the pair by less than so many of the voxels
#: of its contours, within `REACH` of them.
NEAR = 3.0

#: Voxels around a contour in which other raters are compared.
REACH = 3

#: Of more raters no pair decides anything, and comparing all of them takes too long.
MOST_RATERS = 200


def near_copies(patterns: DecisionPatterns) -> list[list[int]]:
    """Groups of raters who are copies of each other, in order; most groups are one rater.

    Fewer than four raters are never copies: it takes two others to see who copied, or erred.
    """
    raters = patterns.number_of_raters
    group = list(range(raters))
    if 4 <= raters <= MOST_RATERS and patterns.codes is not None:
        contours = _Contours(patterns)
        for i, j in contours.close_pairs():
            if group[i] != group[j] and contours.are_copied(i, j):
                group = [group[i] if member == group[j] else member for member in group]
    found: dict[int, list[int]] = {}
    for rater, name in enumerate(group):
        found.setdefault(name, []).append(rater)
    return list(found.values())


def same_masks(patterns: DecisionPatterns) -> list[list[int]]:
    """Groups of two or more raters who gave the same labels everywhere, and not background only."""
    groups: dict[bytes, list[int]] = {}
    background = patterns.labels == 0
    for rater, votes in enumerate(np.ascontiguousarray(patterns.patterns.T)):
        used = np.unique(votes)
        used = used[used < patterns.number_of_labels]
        if len(used) and not background[used].all():
            groups.setdefault(votes.tobytes(), []).append(rater)
    return [group for group in groups.values() if len(group) > 1]


class _Contours:
    """Contours of raters, traced on demand."""

    def __init__(self, patterns: DecisionPatterns) -> None:
        self._patterns = patterns
        self._votes = np.ascontiguousarray(patterns.patterns.T)
        self._present = np.ascontiguousarray(patterns.present.T)
        self._known: dict[int, Mask] = {}
        self._lengths: dict[int, int] = {}
        #: Whether an index is that of a label, not of the background nor of nothing.
        self._labels = np.append(patterns.labels != 0, False)

    def close_pairs(self) -> Iterable[tuple[int, int]]:
        """Pairs who differ by less than half of what most pairs do; few of them are copies."""
        every = disagreements(self._patterns)
        known = every[np.triu_indices(len(every), 1)]
        known = known[np.isfinite(known)]
        if not len(known):
            return
        limit = np.quantile(known, 0.75) / 2
        for i, j in itertools.combinations(range(len(every)), 2):
            if every[i, j] < limit:
                yield i, j

    def are_copied(self, i: int, j: int) -> bool:
        """Whether two raters' contours coincide where those of two witnesses do not."""
        differing = self._differing(i, j, self._patterns.counts)
        sizes = [self._length(rater) for rater in (i, j)]
        # Both together have no more voxels, so that most pairs need no look at them; 1 % is far
        # more than rounding.
        if differing > 1.01 * COPY_SHARE * sum(sizes):
            return False
        contour = self._contour(i) | self._contour(j)
        voxels = np.count_nonzero(contour)
        own = differing / voxels if voxels else 1.0
        if voxels < LEAST_CONTOUR or own >= COPY_SHARE:
            return False
        return self._errs_by_more(i, j, own, contour)

    def _errs_by_more(self, i: int, j: int, own: float, contour: Mask) -> bool:
        """Whether every two witnesses say that a pair errs by far more than it differs."""
        counts, voxels = self._counts_around(contour), np.count_nonzero(contour)
        witnesses = list[int]()
        apart = dict[int, float]()
        found = False
        for k in range(len(self._votes)):
            if k in (i, j):
                continue
            both = self._differing(i, k, counts) + self._differing(j, k, counts)
            apart[k] = both / 2 / voxels
            if not COPY_SHARE <= apart[k] < NEAR:
                continue
            for m in witnesses:
                between = self._differing(k, m, counts) / voxels
                if between < COPY_SHARE:
                    continue
                # Each of the two has half of it: e = (d_ik + d_im - d_km) / 2 if all err alone.
                found = True
                if own >= COPY_RATIO * (apart[k] + apart[m] - between):
                    return False
            witnesses.append(k)
        return found

    def _length(self, rater: int) -> int:
        """Voxels of a rater's contour."""
        if rater not in self._lengths:
            self._lengths[rater] = int(np.count_nonzero(self._contour(rater)))
        return self._lengths[rater]

    def _contour(self, rater: int) -> Mask:
        """Voxels of labels beside which the rater has another label, where that was annotated."""
        if rater not in self._known:
            missing = self._patterns.number_of_labels
            drawn = np.where(self._present[rater], self._votes[rater], missing)
            volume = self._patterns.expand(drawn, outside=missing)
            found = np.zeros(volume.shape, bool)
            for axis in range(-min(volume.ndim, 3), 0):
                ahead, behind = _neighbours(volume.ndim, axis)
                differs = (volume[ahead] != volume[behind]) & (volume[ahead] != missing)
                differs &= volume[behind] != missing
                found[ahead] |= differs
                found[behind] |= differs
            self._known[rater] = found & self._labels[volume]
        return self._known[rater]

    def _counts_around(self, contour: Mask) -> NDArray[np.int64]:
        """(P,) voxels of each pattern within reach of a contour."""
        codes, slots = self._patterns.codes, self._patterns.slots
        assert codes is not None
        assert slots is not None
        tight = bounding_box(contour)
        assert tight is not None
        box = grown(tight, [REACH] * contour.ndim, contour.shape)
        near = scipy.ndimage.maximum_filter(contour[box], 2 * REACH + 1)
        found = np.bincount(codes[box][near], minlength=self._patterns.number_of_codes)
        return np.asarray(found[slots])

    def _differing(self, i: int, j: int, counts: NDArray[np.int64]) -> float:
        differ = self._votes[i] != self._votes[j]
        differ &= self._present[i] & self._present[j]
        return float(counts[differ].sum())


def _neighbours(dimension: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Every voxel but the first along an axis, and the one before each."""
    whole = [slice(None)] * dimension
    ahead, behind = list(whole), list(whole)
    ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
    return tuple(ahead), tuple(behind)


def disagreements(patterns: DecisionPatterns) -> Floats:
    """(J, J) share of the voxels that both annotated on which two raters differ; NaN if none."""
    same = patterns.shared_votes.sum(axis=0)
    both = patterns.shared_voxels
    share = np.divide(both - same, both, out=np.full(same.shape, np.nan), where=both > 0)
    np.fill_diagonal(share, 0.0)
    return np.asarray(share)
