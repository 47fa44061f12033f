"""Masks packed as one bit per voxel, in the same pass that verifies that they are masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.work import current

#: Number of voxels in a stretch, and of the bytes that contain its bits. Byte k of a stretch
#: contains voxels k, k + 32, k + 64 and so on, which is faster to pack and unpack than adjacent
#: voxels in one byte.
STRETCH, STRETCH_BYTES = 256, 32

#: Maximum number of masks to pack: together they need at most one byte per voxel.
FEW_MASKS = 8

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class MaskBits:
    """Packed masks with the same two values."""

    labels: NDArray[np.int64]  #: (2,) the two values, sorted
    bits: Bytes  #: (J, B) packed bits, 1 for the second label


def pack_masks(arrays: Sequence[NDArray[Any] | None]) -> MaskBits | None:
    """Pack contiguous arrays of equal length; None if they are too many or not byte masks."""
    present = [array for array in arrays if array is not None]
    if len(present) > FEW_MASKS or any(array.dtype != np.uint8 for array in present):
        return None
    packed = _kernels.pack_masks([array.reshape(-1) for array in present], current().threads)
    if packed is None or packed[0] == packed[1]:
        return None
    return MaskBits(np.array(packed[:2], np.int64), packed[2])


def pack_bits(marks: NDArray[Any]) -> Bytes:
    """Pack an array of bytes or Booleans: a bit is 1 where the array is non-zero."""
    return _kernels.pack_bits(marks.reshape(-1).view(np.uint8), current().threads)


def unpack_bits(bits: Bytes, begin: int, end: int) -> Bytes:
    """Unpack voxels `begin` to `end` - 1 of one mask to zeros and ones."""
    first = begin // STRETCH
    part = bits[first * STRETCH_BYTES : -(-end // STRETCH) * STRETCH_BYTES]
    return _kernels.unpack_bits(part)[begin - first * STRETCH : end - first * STRETCH]
