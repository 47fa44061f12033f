"""How much each rater's patch resembles the consensus, slab by slab and label by label.

A slab is some planes of the box of disputed voxels, with a halo of the patch's half width. A label
is looked at only where a patch can see it, so that neither labels nor raters take more memory than
a slab of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.fusion.selection.boundary_simple.local_correlation import (
    correlation,
    raters_by_gaps,
)
from itk_consensus.neighbourhood.box_sum import box_sum
from itk_consensus.neighbourhood.boxes import Box, grown, intersection
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.label_weights import LabelWeights
from itk_consensus.work import report

#: A box of disputed voxels is cut into about so many slabs.
_SLABS = 96


def slabs_of(voxels: DisputedVoxels, radii: tuple[int, ...]) -> Iterator[PatchSlab]:
    """Slabs that cover all disputed voxels of a box with a margin of `radii`, in order."""
    planes = voxels.region[0]
    step = max(1, radii[0], -(-(planes.stop - planes.start) // _SLABS))
    places_in_plane = int(np.prod(voxels.shape[1:]))
    for low in range(planes.start, planes.stop, step):
        high = min(low + step, planes.stop)
        wide = slice(max(low - radii[0], planes.start), min(high + radii[0], planes.stop))
        ends = np.array([wide.start, low, high, wide.stop]) - planes.start
        first, begin, end, _ = voxels.places.searchsorted(ends * places_in_plane).tolist()
        if end > begin:
            around = DisputedVoxels(voxels.patterns, (wide, *voxels.region[1:]))
            yield PatchSlab(around, radii, slice(begin, end), first)


@dataclass(frozen=True)
class PatchSlab:
    """Some planes of disputed voxels, and all that their patches see."""

    around: DisputedVoxels  #: Of the planes and the halo
    radii: tuple[int, ...]  #: Half width of a patch
    part: slice  #: The slab's own voxels among all disputed ones
    first: int  #: The first of `around` among them

    @property
    def _patterns(self) -> DecisionPatterns:
        return self.around.patterns

    @property
    def _own(self) -> slice:
        """The slab's own voxels among those around."""
        return slice(self.part.start - self.first, self.part.stop - self.first)

    @cached_property
    def digits(self) -> NDArray[Any]:
        """(J, n) label index that each rater gave the slab's voxels."""
        return np.asarray(self._patterns.patterns.T[:, self.around.rows[self._own]])

    def similarity(
        self, shares: LabelWeights, labels: list[int], boxes: list[Box | None]
    ) -> Floats:
        """(J, n) correlation of each rater's patch with the consensus, from 0 to 1.

        Parameters
        ----------
        shares : LabelWeights
            Of all disputed voxels.
        labels : list of int
            The labels that are looked at, all together.
        boxes : list of Box or None
            Of each label: where somebody says it.
        """
        raters, number = self._patterns.number_of_raters, self.part.stop - self.part.start
        groups = [_Group(self, members) for members in raters_by_gaps(self._patterns)]
        covariance: Floats = np.zeros((raters, number))
        own = np.zeros_like(covariance)
        variances = np.zeros((len(groups), number))
        for done, label in enumerate(labels):
            report(done / len(labels))
            view = self._view(label, boxes[label])
            if view is None:
                continue
            consensus = view.consensus(shares)
            for group, variance in zip(groups, variances, strict=True):
                known = group.annotated(view)
                mean = view.sums(consensus * known) / group.count[view.members]
                square = view.sums(consensus**2 * known) / group.count[view.members]
                variance[view.members] += np.maximum(square - mean**2, 0.0)
                for rater in group.raters:
                    says = view.says(rater)
                    both = view.sums(consensus * says) / group.count[view.members]
                    share = view.sums(says.astype(np.float64)) / group.count[view.members]
                    covariance[rater, view.members] += both - share * mean
                    own[rater, view.members] += share - share**2
        for group, variance in zip(groups, variances, strict=True):
            for rater in group.raters:
                found = correlation(covariance[rater], own[rater], variance)
                covariance[rater] = np.where(
                    self.digits[rater] < self._patterns.number_of_labels, (found + 1) / 2, 0.0
                )
        return covariance

    def _view(self, label: int, box: Box | None) -> _View | None:
        """The label where patches of the slab's voxels can see it; None if none can."""
        if box is None:
            return None
        shape = self._patterns.codes.shape if self._patterns.codes is not None else ()
        seen = intersection(grown(box, self.radii, shape), self.around.region)
        members, places = self.around.inside(seen)
        mine = slice(*members.searchsorted([self._own.start, self._own.stop]).tolist())
        return _View(self, label, seen, members, places, mine) if mine.stop > mine.start else None


class _View:
    """One label in a box: sums over patches of the slab's own voxels there."""

    def __init__(
        self,
        slab: PatchSlab,
        label: int,
        box: Box,
        around: NDArray[np.intp],
        places: NDArray[np.intp],
        mine: slice,
    ) -> None:
        self.label, self.box = label, box
        self.members = around[mine] - slab._own.start  #: among the slab's own voxels
        self._slab, self._around, self._places, self._mine = slab, around, places, mine
        self._cropped = slab.around.patterns.crop(box)

    def expand(self, by_pattern: NDArray[Any]) -> NDArray[Any]:
        """Values by pattern as a volume of the box."""
        return self._cropped.expand(np.ascontiguousarray(by_pattern))

    def says(self, rater: int) -> NDArray[np.bool_]:
        """Where the rater says the label."""
        return self.expand(self._cropped.patterns[:, rater] == self.label)

    def consensus(self, shares: LabelWeights) -> Floats:
        """The label's share at every voxel of the box."""
        patterns = self._slab.around.patterns  # which knows it already
        agreed = patterns.unanimous & (patterns.lowest_vote == self.label)
        volume = self.expand(agreed.astype(np.float64))
        first = self._slab.first
        if len(self._around):
            # Whoever is given the label lies in the box, if in the slab or its halo at all.
            around = slice(first + int(self._around[0]), first + int(self._around[-1]) + 1)
            here = shares.range_of(self.label, around)
            members, values = shares.of[self.label]
            at = self._around.searchsorted(members[here] - np.uint32(first))
            volume.reshape(-1)[self._places[at]] = values[here]
        return volume

    def sums(self, volume: Floats) -> Floats:
        """(m,) sums of a volume, which is overwritten, over the members' patches."""
        pooled = box_sum(volume, self._slab.radii)
        return np.asarray(pooled.reshape(-1)[self._places[self._mine]])


class _Group:
    """Raters who annotated the same voxels, and how many of them lie in each patch."""

    def __init__(self, slab: PatchSlab, raters: list[int]) -> None:
        self.raters = raters
        self._present = slab.around.patterns.present[:, raters[0]]
        known = slab.around.expand(self._present.astype(np.float64))
        pooled = box_sum(known, slab.radii)
        #: (n,) at least 1
        self.count: Floats = np.maximum(slab.around.take(pooled)[slab._own], 1.0)

    def annotated(self, view: _View) -> Any:
        """1 where these raters annotated; outside the mask a consensus is zero already."""
        return 1.0 if self._present.all() else view.expand(self._present)
