"""Compressed arrays of labels or codes, which consist mostly of repeated values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numcodecs import Blosc
from numpy.typing import NDArray

#: Bits of equal significance are stored together; with few labels, most of these bits are zero.
_CODEC = Blosc("lz4", clevel=1, shuffle=Blosc.BITSHUFFLE)

#: Arrays are compressed in parts smaller than the codec's limit of two gigabytes.
_MOST_BYTES = 1 << 30


class PackedArray(NamedTuple):
    """A compressed array that contains only bytes, so that it can be sent to workers and saved."""

    shape: tuple[int, ...]
    dtype: str
    parts: tuple[NDArray[np.uint8], ...]

    @classmethod
    def of(cls, array: NDArray[Any]) -> PackedArray:
        """Compress an array."""
        flat = np.ascontiguousarray(array).reshape(-1)
        step = _MOST_BYTES // flat.itemsize
        pieces = (flat[at : at + step] for at in range(0, len(flat), step))
        parts = tuple(np.frombuffer(_CODEC.encode(piece), np.uint8) for piece in pieces)
        return cls(array.shape, array.dtype.str, parts)

    def unpacked(self) -> NDArray[Any]:
        """Decompress the array."""
        flat = np.empty(int(np.prod(self.shape)), self.dtype)
        step = _MOST_BYTES // flat.itemsize
        for number, part in enumerate(self.parts):
            _CODEC.decode(part, flat[number * step : (number + 1) * step])
        return flat.reshape(self.shape)
