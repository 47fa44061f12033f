"""Fusion of chunks as a lazy dask graph.

This module imports dask, so it is imported only for dask arrays and stores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import dask
import dask.array as da
import numpy as np
from numpy.typing import DTypeLike

from itk_consensus.chunked.packed_array import PackedArray
from itk_consensus.chunked.passes import (
    Array,
    Block,
    ChunkedWork,
    Depth,
    Estimated,
    Gathered,
    ImageKey,
    Request,
)
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import working

#: Number of summaries that are merged at a time, in a tree reduction.
_BRANCHES = 16


class Layout(NamedTuple):
    """The roles of a block's arrays, in order, and the chunks of the volume."""

    present: tuple[bool, ...]  #: Whether each rater is present; missing raters have no array
    #: Roles of the images that follow the raters; a number stands for the mask of that rater's
    #: masked array.
    keys: tuple[ImageKey | int, ...]
    chunks: tuple[tuple[int, ...], ...]

    def block(self, arrays: Sequence[Array], place: Sequence[int], depth: Depth) -> Block:
        """Assemble the block at a position in the grid of chunks from its arrays, which include a
        halo.
        """
        following = iter(arrays)
        raters = [next(following) if here else None for here in self.present]
        images: dict[ImageKey, Array] = {}
        for key, image in zip(self.keys, following, strict=True):
            if isinstance(key, int):
                raters[key] = np.ma.masked_array(raters[key], image)
            else:
                images[key] = image
        core, box = [], []
        for at, sizes, reach in zip(place, self.chunks, depth, strict=True):
            first = sum(sizes[:at])
            start = min(reach, first)
            core.append(slice(start, start + sizes[at]))
            box.append(slice(first, first + sizes[at]))
        return Block(tuple(raters), images, tuple(core), tuple(box))


class ChunkedInputs(Protocol):
    """Raters and other images of one volume."""

    @property
    def layout(self) -> Layout:
        """The roles and the chunks of the arrays."""

    def with_halo(self, number: int, depth: Depth) -> list[Any]:
        """Return one dask array per image for pass `number`; the blocks of each array include a
        halo.
        """


@dataclass(frozen=True)
class ArrayInputs:
    """Dask arrays of equal shape and chunks, each read only once.

    If two passes of a graph read the same chunk, dask would keep it in memory between them.
    Therefore, chunks that several passes need are kept compressed (label chunks take a few per cent
    of their size), and each pass decompresses them.
    """

    layout: Layout
    arrays: tuple[Any, ...]  #: Raters first; chunks are compressed if `types` is not empty
    types: tuple[np.dtype[Any], ...] = ()

    @classmethod
    def make(
        cls, raters: Sequence[Any], images: Mapping[ImageKey, Any], work: ChunkedWork
    ) -> ArrayInputs:
        """Rechunk all arrays like the first one, with no chunk thinner than the halo."""
        first = next(array for array in raters if array is not None)
        deepest = [max(depths) for depths in zip(*work.depths, strict=True)]
        chunks = tuple(
            da.overlap.ensure_minimum_chunksize(min(depth, sum(sizes)), sizes) if depth else sizes
            for depth, sizes in zip(deepest, first.chunks, strict=True)
        )

        def alike(array: Any) -> Any:
            lazy = array if isinstance(array, da.Array) else da.from_array(array, chunks=chunks)
            return lazy.rechunk(chunks).map_blocks(_plain, dtype=lazy.dtype, meta=lazy._meta)

        # Masked arrays are split into data and mask first, since dask loses the mask when it joins
        # chunks.
        gaps = {j: da.ma.getmaskarray(array) for j, array in enumerate(raters) if _is_masked(array)}
        data = [array if j not in gaps else da.ma.getdata(array) for j, array in enumerate(raters)]
        others: dict[ImageKey | int, Any] = dict(images) | gaps
        arrays = [alike(array) for array in (*data, *others.values()) if array is not None]
        layout = Layout(tuple(array is not None for array in raters), tuple(others), chunks)
        if work.reads_once:
            return cls(layout, tuple(arrays))
        packed = (one_each(_pack, array.numblocks, array) for array in arrays)
        return cls(layout, tuple(packed), tuple(array.dtype for array in arrays))

    def with_halo(self, number: int, depth: Depth) -> list[Any]:
        if not self.types:
            return list(self.arrays)
        chunks = self.layout.chunks
        # An axis with a single chunk needs no halo.
        reach = {axis: side * (len(chunks[axis]) > 1) for axis, side in enumerate(depth)}
        # The pass number keeps two passes from sharing a key, whose value dask would keep in
        # memory.
        whole = [
            mapped(_unpack, dtype, chunks, packed, number=number)
            for packed, dtype in zip(self.arrays, self.types, strict=True)
        ]
        return [da.overlap.overlap(array, reach, "none", allow_rechunk=False) for array in whole]


# -- the passes -----------------------------------------------------------------------------------


def gathered(
    work: ChunkedWork,
    inputs: ChunkedInputs,
    number: int,
    context: Any,
    note: Callable[[Block], Any] | None = None,
) -> Any:
    """Return an object array with the result of a pass for each chunk; if `note` is given, each
    result also contains what it returns for the chunk.
    """
    arrays = inputs.with_halo(number, work.depths[number])
    blocks = tuple(map(len, inputs.layout.chunks))
    layout = inputs.layout
    known = {"work": work, "number": number, "layout": layout, "context": context, "note": note}
    return one_each(_gather, blocks, *arrays, **known)


def each(found: Any, name: str) -> list[Any]:
    """Return one field of each chunk's result, without transferring the other fields."""
    part = dask.delayed(_part, pure=True)
    return [part(one, name) for one in found.to_delayed().ravel()]


def merged(work: ChunkedWork, number: int, summaries: Sequence[Any]) -> Any:
    """Merge the summaries of all chunks."""
    merge = dask.delayed(work.merge, pure=True)
    level = list(summaries)
    while len(level) > 1:
        level = [
            merge(number, level[at : at + _BRANCHES]) for at in range(0, len(level), _BRANCHES)
        ]
    return level[0]


def written(
    work: ChunkedWork, inputs: ChunkedInputs, found: Any, answer: Any, dtype: DTypeLike
) -> Any:
    """Return an output array. If the work reads its input only once, the output is computed from
    `found`, the results of the last gathering pass, instead of from the input.
    """
    layout, last = inputs.layout, len(work.depths) - 1
    arrays = [found] if work.reads_once else inputs.with_halo(last, work.depths[last])
    known = {"work": work, "layout": layout, "answer": answer}
    return mapped(_write, dtype, layout.chunks, *arrays, **known)


def lazy_output(work: ChunkedWork, inputs: ChunkedInputs, request: Request) -> Any:
    """Return an output as a dask array with the inputs' chunks."""
    work = work.for_output(request)
    found, context = _passed(work, inputs)
    answer = dask.delayed(work.answer, pure=True)(context, request)
    return written(work, inputs, found, answer, request.dtype)


def estimated(work: ChunkedWork, inputs: ChunkedInputs) -> Estimated:
    """Compute the measurements of a filter, but not its outputs."""
    _, context = _passed(work, inputs)
    found: Estimated = dask.delayed(work.estimated, pure=True)(context).compute()
    return found


def _passed(work: ChunkedWork, inputs: ChunkedInputs) -> tuple[Any, Any]:
    """Return the results of the last gathering pass for each chunk, and its context."""
    found = context = None
    for number in range(len(work.depths) - 1):
        found = gathered(work, inputs, number, context)
        summary = merged(work, number, each(found, "summary"))
        context = dask.delayed(work.conclude, pure=True)(number, summary, context)
    return found, context


# -- functions that dask calls with the arrays of a block -----------------------------------------


def one_each(function: Any, blocks: Sequence[int], *arrays: Any, **keywords: Any) -> Any:
    """Return an object array with the return value of a function for each block."""
    chunks = tuple((1,) * number for number in blocks)
    return mapped(partial(_wrapped, function), object, chunks, *arrays, **keywords)


def mapped(function: Any, dtype: DTypeLike, chunks: Any, *arrays: Any, **keywords: Any) -> Any:
    """Return an array with these chunks, computed by a function from the chunks of any number of
    arrays.
    """
    meta = np.empty((0,) * len(chunks), dtype)
    return da.map_blocks(function, *arrays, **keywords, dtype=meta.dtype, chunks=chunks, meta=meta)


def _wrapped(
    function: Any, *arrays: Array, block_id: tuple[int, ...] = (), **keywords: Any
) -> Array:
    wrapped = np.empty((1,) * len(block_id), object)
    wrapped.flat[0] = function(*arrays, place=block_id, **keywords)
    return wrapped


@working(threads=1)  # chunks are processed in parallel
def _gather(
    *arrays: Array,
    place: Any,
    work: ChunkedWork,
    number: int,
    layout: Layout,
    context: Any,
    note: Callable[[Block], Any] | None,
) -> Gathered:
    block = layout.block(arrays, place, work.depths[number])
    found = work.gather(number, block, context)
    return found if note is None else found._replace(notes=note(block))


def _part(found: Array, name: str) -> Any:
    return getattr(found.flat[0], name)


@working(threads=1)
def _write(
    *arrays: Array, work: ChunkedWork, layout: Layout, answer: Any, block_id: Any = ()
) -> Array:
    if work.reads_once:
        return work.write(arrays[0].flat[0], answer)
    return work.write(layout.block(arrays, block_id, work.depths[-1]), answer)


def _is_masked(array: Any) -> bool:
    """Whether an array declares that its chunks are masked arrays."""
    return isinstance(getattr(array, "_meta", array), np.ma.MaskedArray)


def _plain(chunk: Array) -> Array:
    if _is_masked(chunk):
        raise InputError(
            "a chunk is a masked array, but its dask array does not declare it: create it with "
            "da.ma, or pass a masked meta to map_blocks"
        )
    return chunk


def _pack(chunk: Array, place: Any) -> PackedArray:
    return PackedArray.of(chunk)


def _unpack(packed: Array, number: int) -> Array:
    array: Array = packed.flat[0].unpacked()
    return array
