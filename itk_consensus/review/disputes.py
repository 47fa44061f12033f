"""Disputes: connected regions in which raters differ from the consensus, largest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.review.voxel_runs import Places, counted
from itk_consensus.space.boxes import bounding_box

#: Smaller regions than the largest so many are not listed and stay as the consensus has them.
MOST_DISPUTES = 1000

Probability = Callable[[int], NDArray[Any] | None]
"""Gives the fuser's probability of a label at each voxel, if it has one."""


@dataclass(frozen=True)
class RatedMap:
    """One label map as every rater drew it, and what a fuser made of it."""

    name: str  #: Of the structure; empty for a label map
    maps: tuple[NDArray[Any], ...]  #: A label map for each rater
    missing: int  #: What stands where a rater did not annotate
    consensus: NDArray[Any]
    labels: tuple[int, ...]  #: All that raters used
    undecided: int | None = None  #: The consensus's label of voxels that no label won


@dataclass(frozen=True)
class Dispute:
    """One region: connected, with one label in the consensus and the same labels claimed."""

    number: int  #: From 1, the largest first
    structure: str  #: Name of the `RatedMap`
    places: Places
    consensus: int  #: The consensus's label of all its voxels
    labels: tuple[int, ...]  #: What raters and consensus say of these voxels
    #: For each rater, how many of the voxels it gave which label.
    votes: tuple[dict[int, int], ...]
    probability: dict[int, float]  #: The fuser's of each label, mean over the voxels
    index: tuple[int, ...]  #: A voxel in its thickest slice, near the middle

    @property
    def voxels(self) -> int:
        """How many it has."""
        return int(self.places.size)

    def marked_by(self, label: int | None = None) -> list[float]:
        """For each rater the share of the voxels it gave a label; without one, any but 0."""
        return [
            sum(n for said, n in vote.items() if (said == label if label else said != 0))
            / self.voxels
            for vote in self.votes
        ]


def disputed_voxels(rated: RatedMap) -> Mask:
    """Where somebody who annotated differs from the consensus, or where nobody did and it marks."""
    disputed = np.zeros(rated.consensus.shape, bool)
    nobody = np.ones(rated.consensus.shape, bool)
    for labels in rated.maps:
        present = labels != rated.missing
        disputed |= present & (labels != rated.consensus)
        nobody &= ~present
    return np.asarray(disputed | (nobody & (rated.consensus != 0)))


def find_disputes(
    rated: Sequence[RatedMap],
    probabilities: Sequence[Probability] | None = None,
    most: int = MOST_DISPUTES,
) -> tuple[list[Dispute], int]:
    """Disputes of label maps on one grid, the largest first, and the voxels of unlisted ones.

    Regions touch by a face, an edge or a corner. Voxels that the consensus marks and voxels that it
    leaves out never share a region, nor do voxels about which different labels are claimed: one
    decision must make sense for all of a region.

    Parameters
    ----------
    rated : sequence of RatedMap
        The label map, or one for each structure.
    probabilities : sequence of callables, optional
        One for each map.
    most : int
        How many are listed.
    """
    shape = rated[0].consensus.shape
    regions = [
        (places, number, claimed)
        for number, one in enumerate(rated)
        for places, claimed in _regions(one)
    ]
    # Equally large ones in the order of structures and of their first voxels.
    regions.sort(key=lambda region: (-region[0].size, region[1], int(region[0][0])))
    listed = regions[:most]
    unlisted = sum(int(places.size) for places, _, _ in regions[most:])
    disputes = [
        _described(rated[number], places, claimed, shape, order)
        for order, (places, number, claimed) in enumerate(listed, start=1)
    ]
    if probabilities is not None:
        disputes = _with_probabilities(disputes, rated, probabilities)
    return disputes, unlisted


def _regions(rated: RatedMap) -> Iterator[tuple[Places, tuple[int, ...]]]:
    """Places of every region, and the labels claimed there, the consensus's first."""
    from scipy import ndimage

    disputed = disputed_voxels(rated)
    box = bounding_box(disputed)
    if box is None:
        return
    inside = disputed[box]
    where = np.nonzero(inside)
    shape = rated.consensus.shape
    corner = [side.start for side in box]
    flat = np.ravel_multi_index([w + c for w, c in zip(where, corner, strict=True)], shape)
    kinds, claims = _claims(rated, flat)
    # Volumes along axes before the last three have nothing to do with each other.
    touching = np.zeros((3,) * inside.ndim, bool)
    touching[(1,) * (inside.ndim - 3) + (slice(None),) * min(3, inside.ndim)] = True
    for kind, claimed in enumerate(claims):
        chosen = kinds == kind
        own = tuple(axis[chosen] for axis in where)
        tight = tuple(slice(int(axis.min()), int(axis.max()) + 1) for axis in own)
        within = tuple(axis - side.start for axis, side in zip(own, tight, strict=True))
        mask = np.zeros([side.stop - side.start for side in tight], bool)
        mask[within] = True
        numbers, _ = ndimage.label(mask, touching)
        belongs = numbers[within]
        order = np.argsort(belongs, kind="stable")
        starts = np.flatnonzero(np.diff(belongs[order], prepend=0))
        for places in np.split(flat[chosen][order], starts[1:]):
            yield places.astype(np.int64), claimed


def _claims(rated: RatedMap, places: Places) -> tuple[NDArray[np.int64], list[tuple[int, ...]]]:
    """Which voxels are of one kind, and for each kind the consensus's label and all claimed."""
    consensus = rated.consensus.reshape(-1)[places].astype(np.int64)
    said = np.stack([labels.reshape(-1)[places] for labels in rated.maps], axis=1).astype(np.int64)
    said = np.where(said == rated.missing, consensus[:, None], said)
    rows = np.sort(np.column_stack([said, consensus]), axis=1)
    # A set of labels, whoever said them: one that comes again gives way to the row's largest.
    again = rows[:, 1:] == rows[:, :-1]
    rows[:, 1:] = np.where(again, rows[:, -1:], rows[:, 1:])
    rows = np.column_stack([consensus, np.sort(rows, axis=1)])
    # A number for each row, which sorts faster than rows do.
    code = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values, ranks = np.unique(column, return_inverse=True)
        _, code = np.unique(code * len(values) + ranks, return_inverse=True)
    _, first = np.unique(code, return_index=True)
    return code, [
        (int(consensus[f]), *sorted({*said[f].tolist(), int(consensus[f])})) for f in first
    ]


def _described(
    rated: RatedMap,
    places: Places,
    claimed: tuple[int, ...],
    shape: tuple[int, ...],
    number: int,
) -> Dispute:
    votes = []
    for labels in rated.maps:
        said = counted(labels.reshape(-1)[places])
        said.pop(rated.missing, None)
        votes.append(said)
    index = _place_to_look_at(places, shape)
    consensus, *labels_claimed = claimed
    return Dispute(
        number, rated.name, places, consensus, tuple(labels_claimed), tuple(votes), {}, index
    )


def _place_to_look_at(places: Places, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The voxel nearest to the middle of the slice that holds most of a region."""
    where = np.stack(np.unravel_index(places, shape), axis=1)
    axis = max(0, len(shape) - 3)  # of slices; a picture has none, and any row will do
    slices, counts = np.unique(where[:, axis], return_counts=True)
    within = where[where[:, axis] == slices[counts.argmax()]]
    nearest = np.square(within - within.mean(axis=0)).sum(axis=1).argmin()
    return tuple(within[nearest].tolist())


def _with_probabilities(
    disputes: Sequence[Dispute], rated: Sequence[RatedMap], probabilities: Sequence[Probability]
) -> list[Dispute]:
    """Mean probabilities added, one label's volume in memory at a time."""
    found: dict[int, dict[int, float]] = {one.number: {} for one in disputes}
    for one, probability in zip(rated, probabilities, strict=True):
        own = [dispute for dispute in disputes if dispute.structure == one.name]
        for label in sorted({label for dispute in own for label in dispute.labels if label}):
            volume = probability(label)
            if volume is None:
                continue
            flat = volume.reshape(-1)
            for dispute in own:
                if label in dispute.labels:
                    mean = float(np.mean(flat[dispute.places], dtype=np.float64))
                    found[dispute.number][label] = round(mean, 6)
    return [replace(one, probability=found[one.number]) for one in disputes]
