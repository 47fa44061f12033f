"""Names for the arrays that everything here is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Mask = NDArray[np.bool_]

#: Label indices, as patterns and decisions hold them.
Labels = NDArray[np.int64]


class VoxelSteps(tuple[float, ...]):
    """The spacing of an array that has none: 1 along each axis, so that lengths are in voxels."""

    __slots__ = ()


def length_unit(spacing: Sequence[float]) -> str:
    """In what lengths are that were measured with a spacing: mm, or voxels if it has none."""
    return "voxels" if isinstance(spacing, VoxelSteps) else "mm"
