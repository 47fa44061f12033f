"""A stack kept after the caller's images are gone or changed: one rater, and where others differ.

Copying forty raters would take the memory of forty images. Raters agree nearly everywhere, so one
copy and the short blocks in which any other differs from it hold the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.votes.label_stack import LabelStack

#: Bytes compared at once; shorter blocks keep fewer voxels that agree, but there are more of them.
_BLOCK = 64
_WORD = np.dtype(np.uint64)

#: Raters whose masks take no more than one byte a voxel together.
_FEW_MASKS = 8

#: A volume is restored in about so many parts.
_SLABS = 16

Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class KeptStack:
    """The voxels of a stack, whatever becomes of the arrays it was made from."""

    stack: LabelStack  #: Labels and masks; its arrays are empty but have their type
    shape: tuple[int, ...]
    first: Bytes  #: The bytes of the first present rater
    #: (B,) blocks of bytes in which some rater differs from the first; the last one may be short.
    blocks: NDArray[np.intp]
    others: dict[int, Bytes]  #: Those blocks of every other present rater of the first one's type
    strangers: dict[int, NDArray[Any]]  #: Raters of another type, copied as they are
    #: Of masks, which have two labels, instead of all that: every present rater, a bit a voxel.
    bits: dict[int, Bytes]

    @classmethod
    def of(cls, stack: LabelStack) -> KeptStack:
        """Copy what is needed of a stack."""
        present = {j: array for j, array in enumerate(stack.arrays) if array is not None}
        emptied = replace(stack, arrays=tuple(_emptied(array) for array in stack.arrays))
        is_mask = (
            len(stack.labels) == 2 and stack.foreground is None and stack.missing_label is None
        )
        if is_mask and len(present) <= _FEW_MASKS:
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
            {j: _taken(array, blocks) for j, array in alike.items()},
            {j: array.copy() for j, array in present.items() if j not in alike},
            {},
        )

    @classmethod
    def _of_masks(
        cls, emptied: LabelStack, shape: tuple[int, ...], present: dict[int, NDArray[Any]]
    ) -> KeptStack:
        low = emptied.labels[0]
        bits = {
            j: np.packbits(array if array.dtype.kind in "ui" and low == 0 else array != low)
            for j, array in present.items()
        }
        nothing = np.zeros(0, np.uint8)
        return cls(emptied, shape, nothing, np.zeros(0, np.intp), {}, {}, bits)

    @property
    def labels(self) -> NDArray[Any]:
        """(K,) the label values behind the indices."""
        return self.stack.labels

    @property
    def number_of_raters(self) -> int:
        """J, missing raters included."""
        return len(self.stack.arrays)

    def restored(self) -> LabelStack:
        """The stack as it was; this takes the memory of its arrays."""
        return self._planes(slice(0, self.shape[0]))

    def slabs(self, halo: int = 0) -> Iterator[tuple[slice, slice, LabelStack]]:
        """Some planes of the stack after the other, each with `halo` planes more on both sides.

        Yields which planes of the volume, where they are in the slab, and the slab.
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
        """The stack as it was in some planes."""

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
        """The labels of a rater who has two, at some voxels in a line."""
        low = voxels.start // 8
        bits = np.unpackbits(self.bits[rater][low : -(-voxels.stop // 8)])
        bits = bits[voxels.start - 8 * low : voxels.stop - 8 * low]
        if self.labels.tolist() == [0, 1]:
            return bits.astype(dtype, copy=False)
        return np.asarray(self.labels.astype(dtype)[bits])


def _bytes(array: NDArray[Any]) -> Bytes:
    return array.reshape(-1).view(np.uint8)


def _split(flat: Bytes) -> tuple[Bytes, Bytes]:
    """(B, 64) whole blocks, and what is left after them."""
    end = len(flat) - len(flat) % _BLOCK
    return flat[:end].reshape(-1, _BLOCK), flat[end:]


def _number_of_blocks(array: NDArray[Any]) -> int:
    return -(-array.nbytes // _BLOCK)


def _differing_blocks(array: NDArray[Any], reference: NDArray[Any]) -> NDArray[np.bool_]:
    (whole, rest), (its_whole, its_rest) = _split(_bytes(array)), _split(_bytes(reference))
    words = whole.view(_WORD) != its_whole.view(_WORD)
    # Eight truth values to a word again: NumPy is slow along so short an axis.
    differs = words.view(_WORD)[:, 0] != 0
    return np.append(differs, bool((rest != its_rest).any())) if len(rest) else differs


def _taken(array: NDArray[Any], blocks: NDArray[np.intp]) -> Bytes:
    """(B, 64) blocks of an array's bytes; a short last one is filled up with zeros."""
    whole, rest = _split(_bytes(array))
    if not len(blocks) or blocks[-1] < len(whole):
        return whole[blocks]
    taken = np.zeros((len(blocks), _BLOCK), np.uint8)
    taken[:-1] = whole[blocks[:-1]]
    taken[-1, : len(rest)] = rest
    return taken


def _emptied(array: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if array is None else np.empty(0, array.dtype)
