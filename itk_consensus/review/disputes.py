"""Disputes: connected regions in which raters differ from the consensus, largest first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.review.shells import cut_shells
from itk_consensus.review.voxel_runs import Places
from itk_consensus.space.boxes import Box, bounding_box, enclosing_box
from itk_consensus.space.pieces import label_pieces
from itk_consensus.votes.decision_patterns import distinct_rows
from itk_consensus.votes.label_stack import LabelStack

#: Maximum number of listed disputes; smaller ones are not listed and keep the consensus.
MOST_DISPUTES = 20_000

#: Maximum product of disputes and labels that are counted together.
_COUNTS_AT_ONCE = 1 << 20

Probabilities = Callable[[Mapping[int, Places]], Mapping[int, NDArray[Any]]]
"""The fuser's probability of each label at some voxels; labels it does not know are left out."""


@dataclass(frozen=True)
class RatedMap:
    """One label map from every rater, and the consensus of these maps."""

    name: str  #: Name of the structure; empty for a label map
    maps: tuple[NDArray[Any], ...]  #: One label map per rater
    missing: int  #: Value of voxels that a rater did not annotate
    consensus: NDArray[Any]
    labels: tuple[int, ...]  #: All labels used by the raters
    undecided: int | None = None  #: Value of the consensus at voxels that no label won

    @cached_property
    def box(self) -> Box | None:
        """Bounding box of all voxels marked by a rater or the consensus; often small."""
        marked = (bounding_box((one != 0) & (one != self.missing)) for one in self.maps)
        return enclosing_box(bounding_box(self.consensus != 0), *marked)

    def within(self, box: Box) -> RatedMap:
        """Return a copy restricted to a part of the volume."""
        maps = tuple(labels[box] for labels in self.maps)
        return replace(self, maps=maps, consensus=self.consensus[box])


@dataclass(frozen=True)
class Dispute:
    """A connected region with one consensus label and one set of labels claimed by raters."""

    number: int  #: From 1, the largest first
    structure: str  #: Name of the `RatedMap`
    places: Places
    consensus: int  #: Consensus label of all its voxels
    labels: tuple[int, ...]  #: Labels given to these voxels by raters or the consensus
    #: For each rater, the number of voxels given each label.
    votes: tuple[dict[int, int], ...]
    #: The fuser's probability of each label, averaged over the voxels
    probability: dict[int, float]
    #: A voxel near the middle of the region's part in the slice that contains most of it
    index: tuple[int, ...]

    @property
    def voxels(self) -> int:
        """Number of voxels of the dispute."""
        return int(self.places.size)

    def marked_by(self, label: int | None = None) -> list[float]:
        """Return the share of voxels that each rater gave a label; by default, any label but 0."""
        return [
            sum(n for said, n in vote.items() if (said == label if label else said != 0))
            / self.voxels
            for vote in self.votes
        ]


def marked_voxels(rated: RatedMap) -> Mask:
    """Return a mask of voxels that a rater or the consensus labelled other than 0."""
    marked = rated.consensus != 0
    for labels in rated.maps:
        marked |= (labels != 0) & (labels != rated.missing)
    return np.asarray(marked)


def disputed_voxels(rated: RatedMap) -> Mask:
    """Return a mask of voxels at which an annotation differs from the consensus.

    It includes voxels that no rater annotated but the consensus marks.
    """
    disputed = np.zeros(rated.consensus.shape, bool)
    nobody = np.ones(rated.consensus.shape, bool)
    for labels in rated.maps:
        present = labels != rated.missing
        disputed |= present & (labels != rated.consensus)
        nobody &= ~present
    return np.asarray(disputed | (nobody & (rated.consensus != 0)))


def find_disputes(
    rated: Sequence[RatedMap],
    probabilities: Sequence[Probabilities] | None = None,
    most: int = MOST_DISPUTES,
    spacing: Sequence[float] | None = None,
) -> tuple[list[Dispute], int]:
    """Return the disputes of label maps on one grid, and the voxels of unlisted disputes.

    Disputes are sorted by size, the largest first. Regions are connected by faces, edges or
    corners. Voxels marked by the consensus and voxels left out by it never share a region, nor do
    voxels for which the sets of claimed labels differ, so that one decision makes sense for a whole
    region.

    Parameters
    ----------
    rated : sequence of RatedMap
        The label map, or one map per structure.
    probabilities : sequence of callables, optional
        One callable per map.
    most : int
        Maximum number of listed disputes.
    spacing : sequence of float, optional
        If given, shells around structures are divided by thickness and side.
    """
    every = [_Regions.of(one, spacing) for one in rated]
    sizes = np.concatenate([regions.sizes for regions in every])
    # Regions of equal size are sorted by structure and by their first voxel.
    largest = np.argsort(-sizes, kind="stable")[:most]
    number = np.zeros(len(sizes), np.int64)
    number[largest] = np.arange(1, len(largest) + 1)
    numbers = np.split(number, np.cumsum([len(regions.sizes) for regions in every])[:-1])
    disputes = []
    for at, (one, regions, own) in enumerate(zip(rated, every, numbers, strict=True)):
        if own.any():
            probability = None if probabilities is None else probabilities[at]
            disputes += _Listed.of(regions, own).disputes(one, probability)
    unlisted = sizes.sum() - sizes[largest].sum()
    return sorted(disputes, key=lambda dispute: dispute.number), int(unlisted)


@dataclass(frozen=True)
class _Regions:
    """All regions of one map, in the order of their first voxels."""

    sizes: NDArray[np.int64]  #: (R,) number of voxels of each region
    places: Places  #: (N,) the disputed voxels
    region: NDArray[np.int32]  #: (N,) region of each voxel, from 0
    row: NDArray[np.intp]  #: (N,) row of each voxel in the next two arrays
    said: NDArray[np.intp]  #: (P, 1 + J) label indices of the consensus and of each rater
    #: (P, 1 + J) the sorted set of these indices; rows are filled up with the largest index
    claimed: NDArray[np.intp]
    labels: list[int]  #: Label of each index; the index after the last stands for a missing rater

    @classmethod
    def of(cls, rated: RatedMap, spacing: Sequence[float] | None = None) -> _Regions:
        """Find the connected regions of voxels of the same kind."""
        box = rated.box  # if nothing is marked, nothing is disputed
        part = rated if box is None else rated.within(box)
        disputed = disputed_voxels(part)
        if box is None or not disputed.any():
            none = np.zeros(0, np.int64)
            return cls(none, none, none.astype(np.int32), none, none[:, None], none[:, None], [])
        inside = [axis + side.start for axis, side in zip(np.nonzero(disputed), box, strict=True)]
        places = np.ravel_multi_index(inside, rated.consensus.shape)
        maps = [labels.reshape(-1)[places] for labels in (rated.consensus, *rated.maps)]
        stack = LabelStack.multilabel(maps, missing_label=rated.missing)
        rows, row = distinct_rows(stack)
        said = rows.astype(np.intp)
        # A rater who did not annotate a voxel claims no label other than that of the consensus.
        claimed = _as_sets(np.where(said == len(stack.labels), said[:, :1], said))
        kinds = tuple(np.column_stack([said[:, 0], claimed]).T.copy())
        _, kind = distinct_rows(LabelStack(kinds, np.arange(len(stack.labels))))
        volume = np.zeros(disputed.shape, np.uint32)
        volume[disputed] = 1 + kind[row]
        pieces = label_pieces(volume)
        del volume  # frees memory, which matters for large cases
        region = pieces.places[disputed] - 1
        if spacing is not None:
            own = pieces.places.view(np.uint32)
            region = cut_shells(own, part.consensus, spacing).astype(np.int32) - 1
        sizes = np.bincount(region)
        return cls(sizes, places, region, row, said, claimed, stack.labels.tolist())


def _as_sets(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows sorted; repeated values are replaced by the row's largest value."""
    rows = np.sort(rows, axis=1)
    rows[:, 1:] = np.where(rows[:, 1:] == rows[:, :-1], rows[:, -1:], rows[:, 1:])
    return np.sort(rows, axis=1)


@dataclass(frozen=True)
class _Listed:
    """The listed regions of a map, in order, and their voxels."""

    regions: _Regions
    numbers: NDArray[np.int64]  #: (D,) numbers of the disputes
    voxels: NDArray[np.intp]  #: (M,) indices into the disputed voxels, ascending
    dispute: NDArray[np.intp]  #: (M,) dispute of each of these voxels, from 0

    @classmethod
    def of(cls, regions: _Regions, number: NDArray[np.int64]) -> _Listed:
        """Select regions by their (R,) numbers; 0 marks an unlisted region."""
        numbers = np.sort(number[number > 0])
        voxels = np.flatnonzero(number[regions.region])
        dispute = numbers.searchsorted(number[regions.region[voxels]])
        return cls(regions, numbers, voxels, dispute)

    def disputes(self, rated: RatedMap, probabilities: Probabilities | None) -> list[Dispute]:
        """Return the `Dispute` objects."""
        regions, labels = self.regions, self.regions.labels
        order = np.argsort(self.dispute, kind="stable")
        ends = np.cumsum(np.bincount(self.dispute, minlength=len(self.numbers)))
        voxels = np.split(self.voxels[order], ends[:-1])
        rows = regions.row[[own[0] for own in voxels]]
        claimed = [sorted({*row}) for row in regions.claimed[rows].tolist()]
        votes = self._votes(order, ends)
        known = [dict[int, float]() for _ in voxels]
        if probabilities is not None:
            known = self._mean_probabilities(claimed, probabilities)
        disputes = []
        for at, (own, row) in enumerate(zip(voxels, rows, strict=True)):
            places = regions.places[own]
            disputes.append(
                Dispute(
                    int(self.numbers[at]),
                    rated.name,
                    places,
                    labels[regions.said[row, 0]],
                    tuple(labels[index] for index in claimed[at]),
                    votes[at],
                    known[at],
                    _place_to_look_at(places, rated.consensus.shape),
                )
            )
        return disputes

    def _votes(
        self, order: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> list[tuple[dict[int, int], ...]]:
        """Count, for each dispute and rater, the voxels of each label."""
        regions, missing = self.regions, len(self.regions.labels)
        rows = regions.row[self.voxels[order]]
        found = []
        step = max(1, _COUNTS_AT_ONCE // (missing + 1))
        for first in range(0, len(ends), step):
            last = min(first + step, len(ends))
            part = slice(ends[first - 1] if first else 0, ends[last - 1])
            begin = (self.dispute[order[part]] - first) * (missing + 1)
            tables = [
                np.bincount(begin + said, minlength=(last - first) * (missing + 1))
                for said in regions.said[rows[part]].T[1:]
            ]
            by_rater = [table.reshape(last - first, -1)[:, :missing] for table in tables]
            found += [
                tuple(
                    {regions.labels[k]: int(row[k]) for k in np.flatnonzero(row)}
                    for row in (table[at] for table in by_rater)
                )
                for at in range(last - first)
            ]
        return found

    def _mean_probabilities(
        self, claimed: Sequence[Sequence[int]], probabilities: Probabilities
    ) -> list[dict[int, float]]:
        """Compute, for each dispute, the mean probability of each claimed label."""
        regions = self.regions
        claims = np.zeros((len(regions.labels), len(claimed)), bool)
        for at, own in enumerate(claimed):
            claims[own, at] = True
        chosen = {
            label: np.flatnonzero(claims[index][self.dispute])
            for index, label in enumerate(regions.labels)
            if label and claims[index].any()
        }
        wanted = {label: regions.places[self.voxels[own]] for label, own in chosen.items()}
        means: list[dict[int, float]] = [{} for _ in claimed]
        for label, values in probabilities(wanted).items():
            dispute = self.dispute[chosen[label]]
            sums = np.bincount(dispute, values, len(claimed))
            sizes = np.bincount(dispute, minlength=len(claimed))
            for at in np.flatnonzero(sizes).tolist():
                means[at][label] = round(float(sums[at] / sizes[at]), 6)
        return means


def _place_to_look_at(places: Places, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the voxel nearest to the middle of the slice that contains most of a region."""
    where = np.stack(np.unravel_index(places, shape), axis=1)
    axis = max(0, len(shape) - 3)  # the slice axis; a 2D image has none, so any row will do
    slices, counts = np.unique(where[:, axis], return_counts=True)
    within = where[where[:, axis] == slices[counts.argmax()]]
    nearest = np.square(within - within.mean(axis=0)).sum(axis=1).argmin()
    return tuple(within[nearest].tolist())
