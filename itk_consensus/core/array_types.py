"""Type aliases for arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Mask = NDArray[np.bool_]

#: Label indices, as in patterns and decisions.
Labels = NDArray[np.int64]


class VoxelSteps(tuple[float, ...]):
    """Spacing of an array without spacing: 1 along each axis, so that lengths are in voxels."""

    __slots__ = ()


def length_unit(spacing: Sequence[float]) -> str:
    """Return the unit of lengths for this spacing: mm, or voxels for a plain array."""
    return "voxels" if isinstance(spacing, VoxelSteps) else "mm"
