"""Compressed copy of a stack, independent of the caller's images.

Copying forty raters would need the memory of forty images. Since raters agree nearly everywhere,
one rater is copied completely, and the other raters only in the short blocks in which any rater
differs from the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.mask_bits import FEW_MASKS, pack_bits, unpack_bits

#: Number of bytes per block; shorter blocks contain fewer agreeing voxels, but there are more of
#: them.
_BLOCK = 64
_WORD = np.dtype(np.uint64)

#: Approximate number of parts in which a volume is restored.
_SLABS = 16

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class KeptStack:
    """A compressed copy of the voxels of a stack."""

    stack: LabelStack  #: Labels and masks; its arrays are empty but keep their dtypes
    shape: tuple[int, ...]
    first: Bytes  #: Bytes of the first present rater
    #: (B,) blocks of bytes in which some rater differs from the first; the last one may be short.
    blocks: NDArray[np.intp]
    others: dict[int, Bytes]  #: These blocks of each present rater with the dtype of the first one
    strangers: dict[int, NDArray[Any]]  #: Full copies of raters with another dtype
    #: For masks (two labels), instead of the above: one bit per voxel of every present rater,
    #: packed as in `votes.mask_bits`.
    bits: dict[int, Bytes]

    @classmethod
    def of(cls, stack: LabelStack) -> KeptStack:
        """Copy the voxels of a stack."""
        present = {j: array for j, array in enumerate(stack.arrays) if array is not None}
        emptied = replace(stack, arrays=tuple(_without_voxels(array) for array in stack.arrays))
        is_mask = (
            len(stack.labels) == 2 and stack.foreground is None and stack.missing_label is None
        )
        if stack.bits is not None:
            return cls._of_bits(emptied, stack.shape, dict(zip(present, stack.bits, strict=True)))
        if is_mask and len(present) <= FEW_MASKS:
            return cls._of_masks(emptied, stack.shape, present)
        first = next(iter(present.values()))
        alike = {j: array for j, array in present.items() if array.dtype == first.dtype}
        differs = np.zeros(_number_of_blocks(first), bool)
        for array in alike.values():
            if array is not first:
                differs |= _differing_blocks(array, first)
        blocks = np.flatnonzero(differs)
        if is_mask and first.nbytes + _BLOCK * len(blocks) * len(alike) > first.size / 8 * len(
            present
        ):
            return cls._of_masks(emptied, stack.shape, present)
        return cls(
            emptied,
            stack.shape,
            _bytes(first).copy(),
            blocks,
            {j: _take_blocks(array, blocks) for j, array in alike.items()},
            {j: array.copy() for j, array in present.items() if j not in alike},
            {},
        )

    @classmethod
    def _of_masks(
        cls, emptied: LabelStack, shape: tuple[int, ...], present: dict[int, NDArray[Any]]
    ) -> KeptStack:
        low = emptied.labels[0]
        bits = {
            j: pack_bits(array if array.dtype == np.uint8 and low == 0 else array != low)
            for j, array in present.items()
        }
        return cls._of_bits(emptied, shape, bits)

    @classmethod
    def _of_bits(
        cls, emptied: LabelStack, shape: tuple[int, ...], bits: dict[int, Bytes]
    ) -> KeptStack:
        nothing = np.zeros(0, np.uint8)
        return cls(emptied, shape, nothing, np.zeros(0, np.intp), {}, {}, bits)

    @property
    def labels(self) -> NDArray[Any]:
        """(K,) label value of each index."""
        return self.stack.labels

    @property
    def number_of_raters(self) -> int:
        """Number of raters J, including missing ones."""
        return len(self.stack.arrays)

    def to_stack(self) -> LabelStack:
        """Decompress the stack, which needs the memory of all its arrays."""
        return self._planes(slice(0, self.shape[0]))

    def slabs(self, halo: int = 0) -> Iterator[tuple[slice, slice, LabelStack]]:
        """Decompress the stack slab by slab, each with `halo` additional planes on both sides.

        Yields the planes in the volume, the same planes in the slab, and the slab.
        """
        planes = self.shape[0]
        step = max(1, 4 * halo, -(-planes // _SLABS))
        for low in range(0, planes, step):
            high = min(low + step, planes)
            wide = slice(max(0, low - halo), min(planes, high + halo))
            yield (
                slice(low, high),
                slice(low - wide.start, high - wide.start),
                self._planes(wide),
            )

    def _planes(self, planes: slice) -> LabelStack:
        """Decompress some planes."""

        def cut(mask: NDArray[Any] | None) -> Any:
            return None if mask is None else mask[planes]

        masks = self.stack.rater_masks
        return replace(
            self.stack,
            arrays=tuple(
                None if array is None else self._rater(j, array.dtype, planes)
                for j, array in enumerate(self.stack.arrays)
            ),
            mask=cut(self.stack.mask),
            rater_masks=None if masks is None else tuple(map(cut, masks)),
        )

    def _rater(self, rater: int, dtype: np.dtype[Any], planes: slice) -> NDArray[Any]:
        if rater in self.strangers:
            return self.strangers[rater][planes]
        plane = math.prod(self.shape[1:])
        if rater in self.bits:
            return self._mask(
                rater, dtype, slice(planes.start * plane, planes.stop * plane)
            ).reshape(planes.stop - planes.start, *self.shape[1:])
        plane *= dtype.itemsize
        begin, end = planes.start * plane, planes.stop * plane
        low, high = begin // _BLOCK, -(-end // _BLOCK)
        restored = self.first[low * _BLOCK : high * _BLOCK].copy()
        whole, rest = _split(restored)
        here = slice(*self.blocks.searchsorted([low, high]))
        blocks, kept = self.blocks[here] - low, self.others[rater][here]
        if len(blocks) and blocks[-1] == len(whole):
            rest[...] = kept[-1, : len(rest)]
            blocks, kept = blocks[:-1], kept[:-1]
        whole[blocks] = kept
        cut = restored[begin - low * _BLOCK : end - low * _BLOCK]
        return cut.view(dtype).reshape(planes.stop - planes.start, *self.shape[1:])

    def _mask(self, rater: int, dtype: np.dtype[Any], voxels: slice) -> NDArray[Any]:
        """Decompress a range of voxels of a rater's mask."""
        bits = unpack_bits(self.bits[rater], voxels.start, voxels.stop)
        if self.labels.tolist() == [0, 1]:
            return bits.astype(dtype, copy=False)
        return np.asarray(self.labels.astype(dtype)[bits])


def _bytes(array: NDArray[Any]) -> Bytes:
    return array.reshape(-1).view(np.uint8)


def _split(flat: Bytes) -> tuple[Bytes, Bytes]:
    """Return the (B, 64) complete blocks, and the remaining bytes."""
    end = len(flat) - len(flat) % _BLOCK
    return flat[:end].reshape(-1, _BLOCK), flat[end:]


def _number_of_blocks(array: NDArray[Any]) -> int:
    return -(-array.nbytes // _BLOCK)


def _differing_blocks(array: NDArray[Any], reference: NDArray[Any]) -> NDArray[np.bool_]:
    (whole, rest), (its_whole, its_rest) = _split(_bytes(array)), _split(_bytes(reference))
    words = whole.view(_WORD) != its_whole.view(_WORD)
    # View eight Booleans as one word, since NumPy reduces slowly along such a short axis.
    differs = words.view(_WORD)[:, 0] != 0
    return np.append(differs, bool((rest != its_rest).any())) if len(rest) else differs


def _take_blocks(array: NDArray[Any], blocks: NDArray[np.intp]) -> Bytes:
    """Return the (B, 64) blocks of an array's bytes; a short last block is padded with zeros."""
    whole, rest = _split(_bytes(array))
    if not len(blocks) or blocks[-1] < len(whole):
        return whole[blocks]
    taken = np.zeros((len(blocks), _BLOCK), np.uint8)
    taken[:-1] = whole[blocks[:-1]]
    taken[-1, : len(rest)] = rest
    return taken


def _without_voxels(array: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if array is None else np.empty(0, array.dtype)
