"""Voxels and their labels as compressed text: runs along the rows of a volume."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.storage.record import RecordError

#: Sorting this many voxels at a time stays within the cache.
_VOXELS_AT_ONCE = 1 << 16

Places = NDArray[np.int64]
"""Flat indices in C order, increasing."""


def encoded(places: Places, labels: NDArray[Any]) -> str:
    """Encode three numbers per run of equal labels: gap since the previous run, length, label."""
    if not places.size:
        return ""
    breaks = np.flatnonzero((np.diff(places) != 1) | (np.diff(labels.astype(np.int64)) != 0)) + 1
    starts = np.concatenate([[0], breaks])
    lengths = np.diff(np.concatenate([starts, [places.size]]))
    first = places[starts]
    ends = np.concatenate([[0], (first + lengths)[:-1]])
    runs = np.stack([first - ends, lengths, labels[starts].astype(np.int64)], axis=1)
    return base64.b64encode(zlib.compress(runs.astype("<i8").tobytes(), 6)).decode()


def decoded(text: str, voxels: int) -> tuple[Places, NDArray[np.int64]]:
    """Decode the voxels and labels of a text, for a volume with the given number of voxels.

    Raises
    ------
    RecordError
        The text was not made by `encoded` for such a volume.
    """
    if not text:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    unpacker = zlib.decompressobj()
    try:
        # A volume has at most as many runs as voxels, so longer data is not fully decompressed.
        unpacked = unpacker.decompress(base64.b64decode(text, validate=True), 24 * voxels + 1)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise RecordError(f"cannot be unpacked: {error}", "voxels") from error
    if not unpacker.eof or len(unpacked) % 24:
        raise RecordError("are cut short, or more than the volume has", "voxels")
    gaps, lengths, labels = np.frombuffer(unpacked, "<i8").reshape(-1, 3).T.astype(np.int64)
    limit = voxels + 1
    if (gaps < 0).any() or (lengths < 1).any() or (gaps > limit).any() or (lengths > limit).any():
        raise RecordError("overlap", "runs of voxels")
    ends = np.cumsum(gaps + lengths)
    if ends[-1] > voxels:
        raise RecordError("lie outside the volume", "voxels")
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(ends - lengths, lengths) + within, np.repeat(labels, lengths)


def encoded_map(labels: NDArray[Any]) -> str:
    """Encode a whole label map; voxels outside all runs are background."""
    flat = labels.reshape(-1)
    places = np.flatnonzero(flat)
    return encoded(places, flat[places])


def decoded_map(text: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Decode a label map written by `encoded_map`."""
    labels = np.zeros(shape, dtype)
    places, values = decoded(text, labels.size)
    labels.reshape(-1)[places] = values
    return labels


def counted(labels: NDArray[Any]) -> dict[int, int]:
    """Count the voxels of each label that occurs."""
    flat, found = labels.reshape(-1), dict[int, int]()
    for start in range(0, flat.size, _VOXELS_AT_ONCE):
        values, counts = np.unique(flat[start : start + _VOXELS_AT_ONCE], return_counts=True)
        for value, count in zip(values.tolist(), counts.tolist(), strict=True):
            found[value] = found.get(value, 0) + count
    return found
