"""Sparse label probabilities at N voxels, each of which has only a few labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Voxels in ascending order, and a value for each of them.
Weighted = tuple[NDArray[np.uint32], NDArray[Any]]


@dataclass(frozen=True)
class LabelWeights:
    """A sparse (K, N) array of weights by label and voxel."""

    of: Sequence[Weighted]  #: Weights for each of K labels; those of all other voxels are 0
    number: int  #: Number of voxels, N

    def range_of(self, label: int, voxels: slice) -> slice:
        """Return the slice of a label's list that belongs to a range of voxels."""
        return slice(*self.of[label][0].searchsorted([voxels.start, voxels.stop]).tolist())

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, label: int) -> NDArray[Any]:
        """Return the (N,) weights of a label."""
        voxels, weights = self.of[label]
        row = np.zeros(self.number, weights.dtype)
        row[voxels] = weights
        return row

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[label] for label in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(list(self), dtype).reshape(len(self), self.number)

    def columns(self, part: slice) -> NDArray[Any]:
        """Return (K, n) dense weights at a range of voxels."""
        table = np.zeros((len(self), part.stop - part.start), self.of[0][1].dtype)
        for label, (row, (voxels, weights)) in enumerate(zip(table, self.of, strict=True)):
            here = self.range_of(label, part)
            row[voxels[here] - np.uint32(part.start)] = weights[here]
        return table
