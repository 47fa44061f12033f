"""Connected components ("pieces") of equal labels, in at most three spatial axes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Mask
from itk_consensus.space.blocks import Blocked, Packed, at_once, flagged, kept
from itk_consensus.space.boxes import Box, intersection, relative_to, space_axes
from itk_consensus.space.tiles import four_axes

#: Number of blocks whose piece numbers are cached.
_BLOCKS_KEPT = 8


class Pieces(NamedTuple):
    """Numbered pieces, in the order of their first voxels; 0 is the background."""

    places: NDArray[np.int32]  #: (*shape) number of the piece at each voxel
    sizes: NDArray[np.int64]  #: (P + 1,) number of voxels; 0 for the background
    bounds: NDArray[np.int64]  #: (P, 8) first voxel and end along each of four axes
    first: NDArray[np.int64]  #: (P,) flat index of the first voxel of each piece

    @property
    def number(self) -> int:
        """Number of pieces, P."""
        return len(self.bounds)

    def box(self, piece: int) -> Box:
        """Return the bounding box of a piece; pieces are numbered from 1."""
        pairs = self.bounds[piece - 1].reshape(4, 2).tolist()
        ndim = self.places.ndim
        if ndim > 4:
            before = [slice(0, size) for size in self.places.shape[:-3]]
            return (*before, *(slice(*pair) for pair in pairs[1:]))
        return tuple(slice(*pair) for pair in pairs[4 - ndim :])

    def without(self, flagged: Mask) -> Mask:
        """Return (P + 1,) flags of the pieces that contain none of the flagged voxels."""
        missing = np.ones(self.number + 1, bool)
        missing[self.places[flagged]] = False
        missing[0] = False
        return missing

    def any_of(self, wanted: Mask) -> Mask:
        """Return a (\\*shape) mask of the voxels of some pieces, given by (P + 1,) flags."""
        return np.asarray(wanted[self.places])


def label_pieces(labels: NDArray[Any], *, corners: bool = True) -> Pieces:
    """Find the connected components of each label.

    Parameters
    ----------
    labels : (\\*shape) ndarray of bool or int
        Label map; 0 is background.
    corners : bool
        Whether voxels that share only an edge or a corner are also connected.
    """
    places = np.empty(labels.shape, np.int32)
    if not labels.size:
        none = np.zeros(0, np.int64)
        return Pieces(places, np.zeros(1, np.int64), none.reshape(0, 8), none)
    found = _kernels.label_pieces(_narrow(labels), four_axes(labels.shape), corners, places)
    return Pieces(places, np.append(0, found[:, 0]), found[:, 1:9], found[:, 9])


def _narrow(labels: NDArray[Any]) -> NDArray[Any]:
    """Map labels one-to-one to an unsigned type of at most 32 bits."""
    if labels.dtype.itemsize > 4:
        _, numbers = np.unique(labels, return_inverse=True)
        labels = np.where(labels == 0, 0, numbers.reshape(labels.shape) + 1).astype(np.uint32)
    unsigned = np.dtype(f"u{labels.dtype.itemsize}")
    return np.ascontiguousarray(labels, labels.dtype.newbyteorder("=")).view(unsigned)


def raters_by_piece(
    pieces: Pieces, bits: NDArray[np.uint8], number: int
) -> tuple[Mask, NDArray[np.int64]]:
    """Return (J, P + 1) which raters marked each piece, and (P + 1,) voxels marked by several.

    Parameters
    ----------
    bits : (ceil(J / 8), \\*shape) ndarray
        The marks of J raters, packed as in `RaterField`.
    """
    finders = np.zeros((pieces.number + 1, len(bits)), np.uint8)
    shared = np.zeros(pieces.number + 1, np.int64)
    _kernels.find_finders(pieces.places, np.ascontiguousarray(bits), finders, shared)
    return np.unpackbits(finders, axis=1, count=number, bitorder="little").T.view(bool), shared


# -- pieces across blocks -------------------------------------------------------------------------


@dataclass(frozen=True)
class BlockPieces:
    """Pieces of a mask stored in blocks, with the same numbers as in a single array."""

    places: Blocked  #: Number of the piece at each voxel
    sizes: NDArray[np.int64]  #: (P + 1,) number of voxels; 0 for the background
    bounds: NDArray[np.int64]  #: (P, axes, 2) first voxel and end, in coordinates of the volume
    #: For each block, the pieces with voxels in it, in ascending order.
    numbers: Sequence[NDArray[np.int64]]

    @property
    def number(self) -> int:
        """Number of pieces, P."""
        return len(self.bounds)

    def box(self, piece: int) -> Box:
        """Return the bounding box of a piece; pieces are numbered from 1."""
        return tuple(slice(*pair) for pair in self.bounds[piece - 1].tolist())

    def in_blocks(self, flags: Mask) -> list[int]:
        """Return the pieces given by (P + 1,) flags, in the order of their first blocks."""
        starts: dict[int, None] = {}
        for pieces in self.numbers:
            for piece in pieces[flags[pieces]].tolist():
                starts.setdefault(piece, None)
        return list(starts)

    def without(self, mask: Blocked) -> Mask:
        """Return (P + 1,) flags of the pieces that contain no voxel of a mask."""
        return np.asarray((self.counts(mask) == 0) & (np.arange(self.number + 1) > 0))

    def counts(self, mask: Blocked) -> NDArray[np.int64]:
        """Return the (P + 1,) number of voxels of each piece in a mask; 0 for the background."""
        found = np.zeros(self.number + 1, np.int64)
        for number, pieces in enumerate(self.numbers):
            if not len(pieces):
                continue
            flags = flagged(mask, number)
            if flags is not None:
                there = np.bincount(self.places.part(number)[flags])
                found[: len(there)] += there
        found[0] = 0
        return found

    def any_of(self, wanted: Mask) -> Blocked:
        """Return a mask of the voxels of pieces given by (P + 1,) flags, without background."""
        wanted = wanted.copy()
        wanted[0] = False

        def make(number: int) -> NDArray[Any]:
            if not wanted[self.numbers[number]].any():
                return np.array(False)
            return np.asarray(wanted[self.places.part(number)])

        boxes = self.places.boxes
        parts = at_once(make, range(len(boxes)))
        parts = parts if len(boxes) == 1 else [kept(part) for part in parts]
        return Blocked(self.places.blocks, np.dtype(bool), parts)

    def parts(self, piece: int) -> Iterator[tuple[Box, Mask]]:
        """Yield the box of a piece in each block, and its mask in that box."""
        box = self.box(piece)
        for number in self.places.blocks.touching(box):
            if piece in self.numbers[number]:
                own = self.places.boxes[number]
                both = intersection(own, box)
                yield both, self.places.part(number)[relative_to(both, own)] == piece


def block_pieces(mask: Blocked, *, corners: bool = True) -> BlockPieces:
    """Find the pieces of a mask in blocks; parameters are those of `label_pieces`."""
    finder = _PieceFinder(mask, corners)
    number = len(mask.parts)
    found = at_once(finder.find, range(len(mask.parts)))
    firsts = np.append(0, np.cumsum([len(one.first) for one in found]))
    edges = [np.zeros((2, 0), np.int64)]
    for at in range(number):
        for other, mine, theirs in finder.meetings(at, found):
            pairs = np.stack([mine[mine > 0], theirs[mine > 0]]).astype(np.int64)
            edges.append(np.unique(pairs, axis=1) + firsts[[at, other], None] - 1)
    joined, total = np.concatenate(edges, axis=1), int(firsts[-1])
    meets = scipy.sparse.coo_matrix((np.ones(len(joined[0]), bool), tuple(joined)), (total, total))
    pieces, root = scipy.sparse.csgraph.connected_components(meets, directed=False)
    first = np.full(pieces, np.iinfo(np.int64).max)
    bounds = np.empty((pieces, len(mask.shape), 2), np.int64)
    bounds[..., 0], bounds[..., 1] = np.iinfo(np.int64).max, -1
    for at, one in zip(firsts, found, strict=False):
        own = root[at : at + len(one.first)]
        np.minimum.at(first, own, one.first)
        np.minimum.at(bounds[..., 0], own, one.bounds[..., 0])
        np.maximum.at(bounds[..., 1], own, one.bounds[..., 1])
    # Numbered in the order of their first voxels, as for a single block.
    order = np.argsort(first, kind="stable")
    final = np.empty(pieces, np.int64)
    final[order] = np.arange(1, pieces + 1)
    sizes = np.zeros(pieces + 1, np.int64)
    tables, numbers = [], []
    for at, one in zip(firsts, found, strict=False):
        own = final[root[at : at + len(one.first)]]
        np.add.at(sizes, own, one.sizes)
        tables.append(np.append(0, own).astype(np.int32))
        numbers.append(np.unique(own[one.sizes > 0]))
    places: list[NDArray[np.int32] | _Places] = [finder.places]
    if number > 1:
        finder.tables = tables
        nothing = np.zeros((), np.int32)
        places = [_Places(finder, at) if len(own) else nothing for at, own in enumerate(numbers)]
    return BlockPieces(
        Blocked(mask.blocks, np.dtype(np.int32), places), sizes, bounds[order], numbers
    )


class _Found(NamedTuple):
    """Pieces of a block that is extended by the preceding plane of voxels along each axis."""

    first: NDArray[np.int64]  #: (P,) flat index of each piece's first voxel in the whole box
    bounds: NDArray[np.int64]  #: (P, axes, 2) bounding boxes in coordinates of the volume
    sizes: NDArray[np.int64]  #: (P,) number of voxels in the block without the extension
    #: For each spatial axis, the numbers of the pieces on the plane before the block (`starts`) and
    #: on its last plane (`ends`), which the next block compares with its own `starts`.
    starts: dict[int, Packed]
    ends: dict[int, Packed]


_NOTHING = np.zeros(0, np.int64)


class _PieceFinder:
    """Finds the pieces of each block.

    A block is extended by the preceding voxel along each spatial axis, so that any two touching
    voxels are both in the extended box of one of the blocks.
    """

    def __init__(self, mask: Blocked, corners: bool) -> None:
        self._mask, self._corners = mask, corners
        self._space = space_axes(len(mask.shape))
        self.tables: list[NDArray[np.int32]] = []  #: For each block, the final number of each piece
        self.places = np.zeros(0, np.int32)  #: Piece at each voxel, if there is a single block
        # A strong reference back would keep volumes in memory until the garbage collector detects
        # the cycle.
        numbered = partial(_PieceFinder._numbered, weakref.proxy(self))
        self.kept = lru_cache(maxsize=_BLOCKS_KEPT)(numbered)

    def find(self, number: int) -> _Found:
        """Find the pieces of a block."""
        mask, own = self._mask, self._mask.boxes[number]
        wide = self._wide(own)
        if all(mask.constant(one) == 0 for one in mask.blocks.touching(wide)):
            return _Found(_NOTHING, _NOTHING.reshape(0, len(own), 2), _NOTHING, {}, {})
        pieces, places = self._pieces(wide, own)
        if len(mask.parts) == 1:
            self.places = places
        sizes = pieces.sizes - _counts_before(pieces, wide, own)
        first, bounds = self._in_volume(pieces, wide)
        starts, ends = {}, {}
        for axis in self._space:
            before = (slice(None),) * axis
            if wide[axis].start < own[axis].start:
                starts[axis] = Packed.of(pieces.places[(*before, slice(0, 1))])
            if own[axis].stop < mask.box[axis].stop:
                ends[axis] = Packed.of(places[(*before, slice(-1, None))])
        return _Found(first, bounds, sizes[1:], starts, ends)

    def _in_volume(self, pieces: Pieces, wide: Box) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Convert first voxels and bounds of the pieces in a box to coordinates of the volume."""
        around = self._mask.box
        inside = np.unravel_index(pieces.first, pieces.places.shape)
        steps = [part.start - all_.start for part, all_ in zip(wide, around, strict=True)]
        places = tuple(at + step for at, step in zip(inside, steps, strict=True))
        first = np.ravel_multi_index(places, self._mask.shape)
        bounds = np.empty((len(pieces.first), len(wide), 2), np.int64)
        for axis in range(len(wide)):
            four = axis + 4 - len(wide)
            if len(wide) > 4 and four < 1:
                bounds[:, axis] = around[axis].start, around[axis].stop
            else:
                bounds[:, axis] = pieces.bounds[:, 2 * four : 2 * four + 2] + wide[axis].start
        return np.asarray(first, np.int64), bounds

    def meetings(
        self, number: int, found: Sequence[_Found]
    ) -> Iterator[tuple[int, NDArray[np.int32], NDArray[np.int32]]]:
        """Yield each preceding block, and the pieces of both blocks on their common plane."""
        own, boxes = self._mask.boxes[number], self._mask.boxes
        wide = self._wide(own)
        for other in self._mask.blocks.touching(wide):
            axes = [a for a in self._space if boxes[other][a].stop == own[a].start]
            if not axes or axes[0] not in found[number].starts or axes[0] not in found[other].ends:
                continue
            axis, both = axes[0], intersection(wide, boxes[other])
            plane = (slice(None),) * axis + (slice(0, 1),)
            here, there = (list(relative_to(both, box)) for box in (wide, boxes[other]))
            here[axis] = there[axis] = plane[axis]
            mine = found[number].starts[axis].array()[tuple(here)]
            yield other, mine, found[other].ends[axis].array()[tuple(there)]

    def _wide(self, own: Box) -> Box:
        before = [1 if axis in self._space else 0 for axis in range(len(own))]
        pairs = zip(own, before, self._mask.box, strict=True)
        return tuple(slice(max(p.start - b, all_.start), p.stop) for p, b, all_ in pairs)

    def _pieces(self, wide: Box, own: Box) -> tuple[Pieces, NDArray[np.int32]]:
        pieces = label_pieces(self._mask.read(wide), corners=self._corners)
        return pieces, pieces.places[relative_to(own, wide)]

    def _numbered(self, number: int) -> NDArray[np.int32]:
        own = self._mask.boxes[number]
        pieces, places = self._pieces(self._wide(own), own)
        # In place, and not of the background, which is most voxels: all of it would take longer.
        flat = pieces.places.reshape(-1)
        marked = np.flatnonzero(flat)
        flat[marked] = self.tables[number][flat[marked]]
        return places


def _counts_before(pieces: Pieces, wide: Box, own: Box) -> NDArray[np.int64]:
    """(P + 1,) voxels of each piece of a box on the planes before a block."""
    counts, rest = np.zeros(pieces.number + 1, np.int64), pieces.places
    for axis, (part, block) in enumerate(zip(wide, own, strict=True)):
        before, rest = np.split(rest, [block.start - part.start], axis)
        counts += np.bincount(before.reshape(-1), minlength=len(counts))
    counts[0] = 0
    return counts


@dataclass(frozen=True)
class _Places:
    """Piece numbers at a block's voxels, recomputed unless they are cached."""

    finder: _PieceFinder
    number: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the piece numbers."""
        return np.dtype(np.int32)

    def array(self) -> NDArray[np.int32]:
        """Return the piece numbers at all voxels of the block."""
        return self.finder.kept(self.number)

    def part(self, box: Box) -> NDArray[np.int32]:
        """Return the piece numbers in a box."""
        return self.array()[box]


def block_finders(
    pieces: BlockPieces, bits_in: Callable[[Box], NDArray[np.uint8]], number: int
) -> tuple[Mask, NDArray[np.int64]]:
    """Apply `raters_by_piece` to bits that are read block by block."""
    every = np.zeros((pieces.number + 1, -(-number // 8)), np.uint8)
    shared = np.zeros(pieces.number + 1, np.int64)
    for at, box in enumerate(pieces.places.boxes):
        if not len(pieces.numbers[at]):
            continue
        places = np.ascontiguousarray(pieces.places.part(at))
        _kernels.find_finders(places, np.ascontiguousarray(bits_in(box)), every, shared)
    return np.unpackbits(every, axis=1, count=number, bitorder="little").T.view(bool), shared
