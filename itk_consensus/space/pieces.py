"""Connected pieces of equal labels. Axes before the last three connect nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Mask
from itk_consensus.space.boxes import Box
from itk_consensus.space.tiles import four_axes


class Pieces(NamedTuple):
    """Pieces by number, in the order of their first voxels; 0 is background."""

    places: NDArray[np.int32]  #: (*shape) the number of each voxel's piece
    sizes: NDArray[np.int64]  #: (P + 1,) voxels; none of the background
    bounds: NDArray[np.int64]  #: (P, 8) first voxel and end along four axes

    @property
    def number(self) -> int:
        """P."""
        return len(self.bounds)

    def box(self, piece: int) -> Box:
        """The smallest box around a piece, from 1 on."""
        pairs = self.bounds[piece - 1].reshape(4, 2).tolist()
        ndim = self.places.ndim
        if ndim > 4:
            before = [slice(0, size) for size in self.places.shape[:-3]]
            return (*before, *(slice(*pair) for pair in pairs[1:]))
        return tuple(slice(*pair) for pair in pairs[4 - ndim :])

    def without(self, flagged: Mask) -> Mask:
        """(P + 1,) pieces that have none of the flagged voxels."""
        missing = np.ones(self.number + 1, bool)
        missing[self.places[flagged]] = False
        missing[0] = False
        return missing

    def any_of(self, wanted: Mask) -> Mask:
        """(\\*shape) voxels of those pieces, given by (P + 1,) flags."""
        return np.asarray(wanted[self.places])


def label_pieces(labels: NDArray[Any], *, corners: bool = True) -> Pieces:
    """Pieces of one label whose voxels connect by faces, and unless told otherwise by corners too.

    Parameters
    ----------
    labels : (\\*shape) ndarray of bool or int
        0 is background.
    """
    places = np.empty(labels.shape, np.int32)
    if not labels.size:
        return Pieces(places, np.zeros(1, np.int64), np.zeros((0, 8), np.int64))
    found = _kernels.label_pieces(_narrow(labels), four_axes(labels.shape), corners, places)
    return Pieces(places, np.append(0, found[:, 0]), found[:, 1:])


def _narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """The same labels, or others that differ where they do, unsigned and of 32 bits at most."""
    if labels.dtype.itemsize > 4:
        _, numbers = np.unique(labels, return_inverse=True)
        labels = np.where(labels == 0, 0, numbers.reshape(labels.shape) + 1).astype(np.uint32)
    unsigned = np.dtype(f"u{labels.dtype.itemsize}")
    return np.ascontiguousarray(labels, labels.dtype.newbyteorder("=")).view(unsigned)


def finders_of(
    pieces: Pieces, bits: NDArray[np.uint8], number: int
) -> tuple[Mask, NDArray[np.int64]]:
    """(J, P + 1) who marked something of each piece; (P + 1,) voxels that two or more marked.

    Parameters
    ----------
    bits : (ceil(J / 8), \\*shape) ndarray
        The marks of J raters, as `RaterField` has them.
    """
    finders = np.zeros((pieces.number + 1, len(bits)), np.uint8)
    shared = np.zeros(pieces.number + 1, np.int64)
    _kernels.find_finders(pieces.places, np.ascontiguousarray(bits), finders, shared)
    return np.unpackbits(finders, axis=1, count=number, bitorder="little").T.view(bool), shared
