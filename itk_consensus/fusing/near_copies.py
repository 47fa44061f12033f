"""Detect copies among raters: contours that coincide where those of other raters do not.

Raters who agree may all be right, but contours that coincide to within a fifth of a voxel indicate
more than agreement about the true contour. A pair is judged by the number of voxels on which it
differs, relative to the voxels of its contours, and by independent witnesses. These are at least
two other raters who drew approximately the same object, who differ from the pair and from each
other, and whose differences imply that the errors of the pair are far larger than the difference
within it.

Two raters who differ only from an outlier are not copies, since an outlier is not a witness. Raters
who agree that an image is empty are not copies either, since an empty mask has no contour.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.space.blocks import SIDE, Blocked, Blocks
from itk_consensus.space.boxes import (
    Box,
    bounding_box,
    grow_box,
    intersection,
    relative_to,
    to_volume,
)
from itk_consensus.votes.decision_patterns import DecisionPatterns

#: Copies differ by less than this fraction of the voxels of their contours. Two raters whose
#: contours each have an error of s voxels differ by about 1.1 s of them: 0.24 corresponds to an
#: error of a fifth of a voxel.
COPY_SHARE = 0.24

#: Contours with fewer voxels may coincide by chance.
LEAST_CONTOUR = 75

#: Copies differ by less than this fraction of their errors, as estimated from two witnesses.
COPY_RATIO = 1 / 3

#: Witnesses drew approximately the same object: within `REACH` of the pair's contours, they differ
#: from the pair by less than this multiple of the voxels of these contours.
NEAR = 3.0

#: Distance from a contour, in voxels, within which other raters are compared.
REACH = 3

#: With more raters, no pair has much influence, and comparing all pairs takes too long.
MOST_RATERS = 200


def near_copies(patterns: DecisionPatterns) -> list[list[int]]:
    """Return groups of raters who are copies of each other; most groups contain one rater.

    With fewer than four raters no copies are found, since two witnesses are required.
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
    """Return groups of raters with identical label maps that are not only background."""
    groups: dict[bytes, list[int]] = {}
    background = patterns.labels == 0
    for rater, votes in enumerate(np.ascontiguousarray(patterns.patterns.T)):
        used = np.unique(votes)
        used = used[used < patterns.number_of_labels]
        if len(used) and not background[used].all():
            groups.setdefault(votes.tobytes(), []).append(rater)
    return [group for group in groups.values() if len(group) > 1]


class _Contours:
    """Contours of raters, computed on demand; for votes in blocks, block by block."""

    def __init__(self, patterns: DecisionPatterns) -> None:
        self._patterns = patterns
        assert patterns.codes is not None
        self._shape = patterns.codes.shape
        whole = tuple(slice(0, size) for size in self._shape)
        in_blocks = isinstance(patterns.codes, Blocked)
        self._boxes = Blocks.of(whole, SIDE if in_blocks else None).boxes()
        self._votes = np.ascontiguousarray(patterns.patterns.T)
        self._present = np.ascontiguousarray(patterns.present.T)
        self._known: dict[int, Mask] = {}
        self._lengths: dict[int, int] = {}
        #: Whether an index is that of a foreground label, not of background or a missing vote.
        self._labels = np.append(patterns.labels != 0, False)

    def close_pairs(self) -> Iterable[tuple[int, int]]:
        """Return pairs that differ by less than half of what most pairs do: candidate copies."""
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
        """Return whether two raters' contours coincide where those of witnesses do not."""
        differing = self._differing(i, j, self._patterns.counts)
        sizes = [self._length(rater) for rater in (i, j)]
        # The union of the contours has at most this many voxels, which excludes most pairs quickly;
        # 1 % is a margin for rounding.
        if differing > 1.01 * COPY_SHARE * sum(sizes):
            return False
        voxels = sum(int(np.count_nonzero(self._contours(i, j, box))) for box in self._boxes)
        own = differing / voxels if voxels else 1.0
        if voxels < LEAST_CONTOUR or own >= COPY_SHARE:
            return False
        return self._errs_by_more(i, j, own, voxels)

    def _errs_by_more(self, i: int, j: int, own: float, voxels: int) -> bool:
        """Return whether witnesses imply that a pair's errors are far larger than its difference.

        `voxels` is the total number of voxels of the pair's contours.
        """
        counts = sum(self._counts_around(i, j, box) for box in self._boxes)
        assert isinstance(counts, np.ndarray)
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
                # If errors are independent, the error of a rater in the pair is (d_ik + d_im -
                # d_km) / 2.
                found = True
                if own >= COPY_RATIO * (apart[k] + apart[m] - between):
                    return False
            witnesses.append(k)
        return found

    def _length(self, rater: int) -> int:
        """Return the number of voxels of a rater's contour."""
        if rater not in self._lengths:
            found = (np.count_nonzero(self._contour(rater, box)) for box in self._boxes)
            self._lengths[rater] = int(sum(found))
        return self._lengths[rater]

    def _contours(self, i: int, j: int, box: Box) -> Mask:
        """Return a mask of the voxels of two contours in a box."""
        return np.asarray(self._contour(i, box) | self._contour(j, box))

    def _contour(self, rater: int, box: Box) -> Mask:
        """Return label voxels next to a voxel to which the rater assigned another label."""
        if len(self._boxes) > 1:
            wide = grow_box(box, [1] * len(box), self._shape)
            return self._traced(rater, wide)[relative_to(box, wide)]
        if rater not in self._known:
            self._known[rater] = self._traced(rater, box)
        return self._known[rater]

    def _traced(self, rater: int, box: Box) -> Mask:
        missing = self._patterns.number_of_labels
        drawn = np.where(self._present[rater], self._votes[rater], missing)
        volume = self._patterns.crop(box).expand(drawn, outside=missing)
        found = np.zeros(volume.shape, bool)
        for axis in range(-min(volume.ndim, 3), 0):
            ahead, behind = _neighbours(volume.ndim, axis)
            differs = (volume[ahead] != volume[behind]) & (volume[ahead] != missing)
            differs &= volume[behind] != missing
            found[ahead] |= differs
            found[behind] |= differs
        return np.asarray(found & self._labels[volume])

    def _counts_around(self, i: int, j: int, block: Box) -> NDArray[np.int64]:
        """Return (P,) voxel counts by pattern, in a block, within reach of two contours."""
        codes, slots = self._patterns.codes, self._patterns.slots
        assert codes is not None
        assert slots is not None
        wide = grow_box(block, [REACH] * len(block), codes.shape)
        contour = self._contours(i, j, wide)
        tight = bounding_box(contour)
        if tight is None:
            return np.zeros(len(slots), np.int64)
        box = grow_box(tight, [REACH] * len(block), contour.shape)
        near = scipy.ndimage.maximum_filter(contour[box], 2 * REACH + 1)
        here = to_volume(box, wide)
        both = intersection(here, block)
        found = np.bincount(
            codes[both][near[relative_to(both, here)]], minlength=self._patterns.number_of_codes
        )
        return np.asarray(found[slots])

    def _differing(self, i: int, j: int, counts: NDArray[np.int64]) -> float:
        differ = self._votes[i] != self._votes[j]
        differ &= self._present[i] & self._present[j]
        return float(counts[differ].sum())


def _neighbours(dimension: int, axis: int) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return slices of all voxels but the first along an axis, and of the voxel before each."""
    whole = [slice(None)] * dimension
    ahead, behind = list(whole), list(whole)
    ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
    return tuple(ahead), tuple(behind)


def disagreements(patterns: DecisionPatterns) -> Floats:
    """Return the (J, J) share of jointly annotated voxels on which raters differ; NaN if none."""
    same = patterns.shared_votes.sum(axis=0)
    both = patterns.shared_voxels
    share = np.divide(both - same, both, out=np.full(same.shape, np.nan), where=both > 0)
    np.fill_diagonal(share, 0.0)
    return np.asarray(share)
