"""The raters' votes for one label in a box, as kernels need them: packed bits or probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.space.boxes import Box, read_extended

_BITS = 8


class RaterField(NamedTuple):
    """Votes of J raters for one label in a box."""

    #: (ceil(J / 8), *shape) bit j % 8 of plane j // 8 belongs to rater j; or memberships in [0, 1].
    masks: NDArray[Any]
    number: int  #: Number of raters, J
    #: (ceil(J / 8), *shape) whether each rater annotated, as packed bits; None: everywhere.
    present: NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, masks: NDArray[Any], present: NDArray[Any] | None = None) -> RaterField:
        """Pack masks, or copy memberships, of shape (J, \\*shape)."""
        there = None if present is None else pack_bits(np.asarray(present != 0))
        truth = masks.dtype.kind == "b"
        values = pack_bits(masks) if truth else np.ascontiguousarray(masks, np.float32)
        return cls(values, len(masks), there)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the box."""
        return self.masks.shape[1:]

    def without(self, silent: Mask | None) -> RaterField:
        """Treat raters as missing where `silent`, (J, \\*shape), unless no rater would remain."""
        if silent is None:
            return self
        asked = pack_bits(~silent)
        here = asked if self.present is None else asked & self.present
        # Where no rater would remain, all raters are kept.
        nobody = np.bitwise_or.reduce(here, axis=0) == 0
        everybody = pack_bits(np.ones_like(silent)) if self.present is None else self.present
        here[:, nobody] = everybody[:, nobody]
        return self._replace(present=here)

    def part(self, box: Box) -> RaterField:
        """Return the votes in a part of the box."""
        if all(p.stop - p.start == size for p, size in zip(box, self.shape, strict=True)):
            return self
        every = (slice(None), *box)
        present = None if self.present is None else np.ascontiguousarray(self.present[every])
        return RaterField(np.ascontiguousarray(self.masks[every]), self.number, present)

    def extend_to(self, box: Box) -> RaterField:
        """Return the votes in a larger box, where edge voxels are repeated."""
        present = None if self.present is None else read_extended(self.present, box)
        return RaterField(read_extended(self.masks, box), self.number, present)

    def marked_voxels(self) -> Mask:
        """Return a (\\*shape) mask of voxels that were marked by any rater who annotated them."""
        if self.masks.dtype == np.uint8:
            bits = self.masks if self.present is None else self.masks & self.present
            return np.asarray(np.bitwise_or.reduce(bits, axis=0) != 0)
        found = np.zeros(self.shape, bool)
        for rater, mask in enumerate(self.masks):
            marks = mask > 0
            if self.present is not None:
                marks &= (self.present[rater // _BITS] >> rater % _BITS & 1).view(bool)
            found |= marks
        return found

    def disputed_voxels(self) -> Mask:
        """Return a (\\*shape) mask of voxels marked by some but not all raters.

        All raters must have annotated all voxels.
        """
        return np.asarray(self.marked_voxels() & ~marked_by_all(self.masks, self.number))

    def annotated_voxels(self) -> Mask | None:
        """Return a (\\*shape) mask of voxels that any rater annotated; None: all."""
        if self.present is None:
            return None
        return np.asarray(np.bitwise_or.reduce(self.present, axis=0) != 0)


def pack_bits(masks: Mask) -> NDArray[np.uint8]:
    """Pack (J, \\*shape) masks into (ceil(J / 8), \\*shape) bytes."""
    planes = np.zeros((-(-len(masks) // _BITS), *masks.shape[1:]), np.uint8)
    for rater, mask in enumerate(masks):
        planes[rater // _BITS] |= mask.view(np.uint8) << np.uint8(rater % _BITS)
    return planes


def bits_of(raters: slice | NDArray[np.intp], number: int) -> NDArray[np.uint8]:
    """Return (ceil(J / 8),) bytes in which the bits of the given raters, out of J, are set."""
    wanted = np.zeros(number, bool)
    wanted[raters] = True
    return np.packbits(wanted, bitorder="little")


def marked_by_all(planes: NDArray[np.uint8], number: int) -> Mask:
    """Return a (\\*shape) mask of voxels where the bits of all J raters are set."""
    found = np.ones(planes.shape[1:], bool)
    for plane, full in zip(planes, bits_of(slice(None), number), strict=True):
        found &= plane == full
    return found


def marked_by_any(planes: NDArray[np.uint8], raters: NDArray[np.uint8]) -> Mask:
    """Return a (\\*shape) mask of voxels where the bit of any of `raters` is set.

    `raters` are given as (ceil(J / 8),) bytes.
    """
    found = np.zeros(planes.shape[1:], bool)
    for plane, some in zip(planes, raters, strict=True):
        found |= (plane & some) != 0
    return found


def has_marks(planes: NDArray[np.uint8], number: int) -> Mask:
    """Return (J,) whether each rater marked any voxel."""
    any_bits = np.bitwise_or.reduce(planes.reshape(len(planes), -1), axis=1)
    return np.unpackbits(any_bits, count=number, bitorder="little").view(bool)


def unpack_bits(planes: NDArray[np.uint8], number: int) -> Mask:
    """Unpack (ceil(J / 8), \\*shape) bytes into (J, \\*shape) masks."""
    masks = np.empty((number, *planes.shape[1:]), np.uint8)
    for rater, mask in enumerate(masks):
        np.right_shift(planes[rater // _BITS], np.uint8(rater % _BITS), out=mask)
        mask &= 1
    return masks.view(bool)


def weighted_bits(planes: NDArray[np.uint8], weights: Floats) -> Floats:
    """Return the (\\*shape) weighted mean of J raters' bits, looked up by byte."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    found = np.zeros(planes.shape[1:])
    for plane, first in zip(planes, range(0, len(weights), _BITS), strict=True):
        some = weights[first : first + _BITS]
        found += (bits[:, : len(some)] @ some)[plane]
    found /= weights.sum()
    return found


def pack_label(arrays: Sequence[NDArray[Any]], label: Any, box: Box) -> NDArray[np.uint8]:
    """Pack as bits, in a box, the voxels where each of J label maps has a given label.

    Parameters
    ----------
    arrays : sequence of (\\*shape) ndarray
        C-contiguous integer or floating-point arrays with at most four axes.
    box : tuple of slice
        One slice per axis, or () for the whole volume.
    """
    shape = arrays[0].shape
    box = box or tuple(slice(0, size) for size in shape)
    sizes = tuple(part.stop - part.start for part in box)
    planes = np.zeros((-(-len(arrays) // _BITS), *sizes), np.uint8)
    if planes.size == 0:
        return planes
    ones = (1,) * (4 - len(shape))
    # An array whose dtype cannot represent the label contains no such voxel.
    values = {kind: np.array([label]).astype(kind) for kind in {array.dtype for array in arrays}}
    held = {kind: value[value == label] for kind, value in values.items()}
    _kernels.pack_marks(
        arrays,
        [held[array.dtype] for array in arrays],
        ones + shape,
        (0,) * len(ones) + tuple(part.start for part in box),
        ones + tuple(part.stop for part in box),
        planes,
    )
    return planes
