"""Masks as one bit a voxel, packed in the pass that finds out that they are masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.work import current

#: Voxels whose bits lie together, and their bytes: of every 256 voxels, byte k holds voxels k,
#: k + 32, k + 64 and so on, which processors pack and unpack faster than neighbours.
STRETCH, STRETCH_BYTES = 256, 32

#: Raters whose masks together take at most one byte per voxel.
FEW_MASKS = 8

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class MaskBits:
    """Masks of bytes that hold the same two values."""

    labels: NDArray[np.int64]  #: (2,) sorted
    bits: Bytes  #: (J, B) 1 for the second label


def pack_masks(arrays: Sequence[NDArray[Any] | None]) -> MaskBits | None:
    """Pack contiguous, equally long arrays; None if they are many, or no masks of bytes."""
    present = [array for array in arrays if array is not None]
    if len(present) > FEW_MASKS or any(array.dtype != np.uint8 for array in present):
        return None
    packed = _kernels.pack_masks([array.reshape(-1) for array in present], current().threads)
    if packed is None or packed[0] == packed[1]:
        return None
    return MaskBits(np.array(packed[:2], np.int64), packed[2])


def pack_bits(marks: NDArray[Any]) -> Bytes:
    """Pack where an array of bytes or Booleans is not 0."""
    return _kernels.pack_bits(marks.reshape(-1).view(np.uint8), current().threads)


def unpack_bits(bits: Bytes, begin: int, end: int) -> Bytes:
    """Unpack voxels `begin` to `end` - 1 of one mask to zeros and ones."""
    first = begin // STRETCH
    part = bits[first * STRETCH_BYTES : -(-end // STRETCH) * STRETCH_BYTES]
    return _kernels.unpack_bits(part)[begin - first * STRETCH : end - first * STRETCH]
