"""Masks cropped to their bounding boxes, so that many can be compared quickly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.space.boxes import Box


@dataclass(frozen=True)
class PlacedMask:
    """A mask cropped to its bounding box, and that box."""

    inside: NDArray[np.bool_]
    box: Box
    voxels: int

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> PlacedMask:
        """Crop a mask of any shape; an empty mask has an empty box."""
        box: list[slice] = []
        for axis in range(mask.ndim):
            # Cropping along one axis accelerates the search along the next.
            part = mask[tuple(box)]
            along = np.flatnonzero(part.any(axis=tuple(n for n in range(mask.ndim) if n != axis)))
            box.append(slice(int(along[0]), int(along[-1]) + 1) if len(along) else slice(0, 0))
        inside = mask[tuple(box)].copy()
        return cls(inside, tuple(box), int(np.count_nonzero(inside)))

    def shared(self, other: PlacedMask) -> int:
        """Return the number of voxels in the intersection of two masks on the same grid."""
        both = [
            (max(a.start, b.start), min(a.stop, b.stop))
            for a, b in zip(self.box, other.box, strict=True)
        ]
        if any(low >= high for low, high in both):
            return 0
        mine, theirs = (
            one.inside[tuple(slice(low - axis.start, high - axis.start)
                             for (low, high), axis in zip(both, one.box, strict=True))]
            for one in (self, other)
        )  # fmt: skip
        return int(np.count_nonzero(mine & theirs))

    def dice(self, other: PlacedMask) -> float:
        """Return the Dice overlap; NaN if both masks are empty."""
        size = self.voxels + other.voxels
        return 2 * self.shared(other) / size if size else float("nan")
