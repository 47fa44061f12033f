"""Arrays of labels or codes, compressed: they are mostly repetitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numcodecs import Blosc
from numpy.typing import NDArray

#: Few labels use few bits: with bits of one significance side by side, most of them are zeros.
_CODEC = Blosc("lz4", clevel=1, shuffle=Blosc.BITSHUFFLE)

#: The codec takes no more than two gigabytes at once.
_MOST_BYTES = 1 << 30


class PackedArray(NamedTuple):
    """A compressed array; it holds bytes only, so that it can be sent and saved."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: tuple[bytes, ...]

    @classmethod
    def of(cls, array: NDArray[Any]) -> PackedArray:
        """Compress an array."""
        flat = np.ascontiguousarray(array).reshape(-1)
        step = _MOST_BYTES // flat.itemsize
        pieces = (flat[at : at + step] for at in range(0, len(flat), step))
        return cls(array.shape, array.dtype, tuple(bytes(_CODEC.encode(part)) for part in pieces))

    def unpacked(self) -> NDArray[Any]:
        """The array again."""
        flat = np.empty(int(np.prod(self.shape)), self.dtype)
        at = 0
        for part in self.parts:
            decoded = np.frombuffer(_CODEC.decode(part), self.dtype)
            flat[at : at + len(decoded)] = decoded
            at += len(decoded)
        return flat.reshape(self.shape)
