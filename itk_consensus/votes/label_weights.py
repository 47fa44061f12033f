"""Probabilities of labels at N voxels, of which each has but a few: lists instead of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.work import current

#: Voxels, ascending, and a real value for each.
Weighted = tuple[NDArray[np.uint32], NDArray[Any]]

NOTHING: Weighted = np.empty(0, np.uint32), np.empty(0, np.float32)


@dataclass(frozen=True)
class LabelWeights:
    """Seen as an array it is (K, N)."""

    of: Sequence[Weighted]  #: For each of K labels; weights of all other voxels are 0
    number: int  #: N

    @classmethod
    def one_hot(cls, labels: NDArray[Any], number_of_labels: int) -> LabelWeights:
        """Weight 1 for the label index of each voxel."""
        order = np.argsort(labels, kind="stable").astype(np.uint32)
        ends = labels[order].searchsorted(np.arange(1, number_of_labels))
        parts = np.split(order, ends)
        return cls([(part, np.ones(len(part), np.float32)) for part in parts], len(labels))

    @classmethod
    def joined(cls, parts: Sequence[list[Weighted]], labels: int, number: int) -> LabelWeights:
        """Of parts of the voxels, in order; they are emptied."""
        of: list[Weighted] = []
        for label in range(labels):
            voxels, weights = zip(NOTHING, *(part[label] for part in parts), strict=True)
            of.append((np.concatenate(voxels), np.concatenate(weights)))
            for part in parts:
                part[label] = NOTHING
        return cls(of, number)

    def range_of(self, label: int, voxels: slice) -> slice:
        """Where some voxels are in the list of a label."""
        return slice(*self.of[label][0].searchsorted([voxels.start, voxels.stop]).tolist())

    def part(self, voxels: slice) -> list[Weighted]:
        """Of some of the voxels."""
        ranges = [self.range_of(label, voxels) for label in range(len(self))]
        pairs = zip(self.of, ranges, strict=True)
        return [(of[here].copy(), weights[here].copy()) for (of, weights), here in pairs]

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, label: int) -> NDArray[Any]:
        """(N,) weights of a label."""
        voxels, weights = self.of[label]
        row = np.zeros(self.number, weights.dtype)
        row[voxels] = weights
        return row

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[label] for label in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(list(self), dtype).reshape(len(self), self.number)

    def columns(self, part: slice) -> NDArray[Any]:
        """(K, n) weights at some voxels."""
        table = np.zeros((len(self), part.stop - part.start), self.of[0][1].dtype)
        for label, (row, (voxels, weights)) in enumerate(zip(table, self.of, strict=True)):
            here = self.range_of(label, part)
            row[voxels[here] - np.uint32(part.start)] = weights[here]
        return table


def normalised(
    joints: list[Weighted], before: list[Weighted], within: slice, least: float
) -> tuple[float, float]:
    """Turn log joints of all labels at some voxels into weights: log evidence, weight moved since.

    Weights below `least` are left out.
    """
    number = within.stop - within.start
    sums = _kernels.normalise_joints(within.start, number, joints, before, least, current().threads)
    # Label by label, so that there are never two of all.
    for label, (voxels, weights) in enumerate(joints):
        some = weights > 0
        if not some.all():
            joints[label] = voxels[some], weights[some]
    return sums
