"""Work on chunks as a graph of dask: nothing runs before somebody computes it.

dask is imported here only, and this module only once a caller has brought a dask array or a store.
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

#: Summaries that are merged at once: a tree of so many branches.
_BRANCHES = 16


class Layout(NamedTuple):
    """What the arrays of a block are, in their order, and where blocks lie."""

    present: tuple[bool, ...]  #: Which raters are not missing; only these have an array
    #: Of the images that come after the raters; a number is the mask of this rater's array.
    keys: tuple[ImageKey | int, ...]
    chunks: tuple[tuple[int, ...], ...]

    def block(self, arrays: Sequence[Array], place: Sequence[int], depth: Depth) -> Block:
        """The block at a place, from arrays that reach beyond it where the volume goes on."""
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
        """What the arrays are."""

    def with_halo(self, number: int, depth: Depth) -> list[Any]:
        """A dask array of each image for pass `number`, whose blocks have a halo."""


@dataclass(frozen=True)
class ArrayInputs:
    """Dask arrays of one shape and one chunking, each read once.

    A graph that reads a chunk for two passes would hold it in memory from one to the other. So
    chunks that several passes need are kept compressed, which for labels is a few per cent of
    their size, and each pass unpacks them for itself.
    """

    layout: Layout
    arrays: tuple[Any, ...]  #: Raters first; of compressed chunks, if there are `types`
    types: tuple[np.dtype[Any], ...] = ()

    @classmethod
    def make(
        cls, raters: Sequence[Any], images: Mapping[ImageKey, Any], work: ChunkedWork
    ) -> ArrayInputs:
        """Give all arrays the chunks of the first, none of them thinner than the halo."""
        first = next(array for array in raters if array is not None)
        deepest = [max(depths) for depths in zip(*work.depths, strict=True)]
        chunks = tuple(
            da.overlap.ensure_minimum_chunksize(min(depth, sum(sizes)), sizes) if depth else sizes
            for depth, sizes in zip(deepest, first.chunks, strict=True)
        )

        def alike(array: Any) -> Any:
            lazy = array if isinstance(array, da.Array) else da.from_array(array, chunks=chunks)
            return lazy.rechunk(chunks).map_blocks(_plain, dtype=lazy.dtype, meta=lazy._meta)

        # Chunks are taken apart into data and mask before anything of dask's joins them.
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
        # An axis of one chunk has no neighbours to look at.
        reach = {axis: side * (len(chunks[axis]) > 1) for axis, side in enumerate(depth)}
        # Without the number two passes would have the same key, which would outlive the first.
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
    """An array of objects: what a pass finds in each chunk, and what `note` says of it."""
    arrays = inputs.with_halo(number, work.depths[number])
    blocks = tuple(map(len, inputs.layout.chunks))
    layout = inputs.layout
    known = {"work": work, "number": number, "layout": layout, "context": context, "note": note}
    return one_each(_gather, blocks, *arrays, **known)


def each(found: Any, name: str) -> list[Any]:
    """One part of what was gathered of each chunk; the others stay where they are."""
    part = dask.delayed(_part, pure=True)
    return [part(one, name) for one in found.to_delayed().ravel()]


def merged(work: ChunkedWork, number: int, summaries: Sequence[Any]) -> Any:
    """The summary of all chunks, from that of each."""
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
    """An output; `found` is what the first pass gathered, for work that reads once."""
    layout, last = inputs.layout, len(work.depths) - 1
    arrays = [found] if work.reads_once else inputs.with_halo(last, work.depths[last])
    known = {"work": work, "layout": layout, "answer": answer}
    return mapped(_write, dtype, layout.chunks, *arrays, **known)


def lazy_output(work: ChunkedWork, inputs: ChunkedInputs, request: Request) -> Any:
    """An output as a dask array with the inputs' chunks."""
    work = work.for_output(request)
    found, context = _passed(work, inputs)
    answer = dask.delayed(work.answer, pure=True)(context, request)
    return written(work, inputs, found, answer, request.dtype)


def estimated(work: ChunkedWork, inputs: ChunkedInputs) -> Estimated:
    """Compute what a filter measures; the outputs stay uncomputed."""
    _, context = _passed(work, inputs)
    found: Estimated = dask.delayed(work.estimated, pure=True)(context).compute()
    return found


def _passed(work: ChunkedWork, inputs: ChunkedInputs) -> tuple[Any, Any]:
    """What the last gathering pass found in each chunk, and what all of them came to."""
    found = context = None
    for number in range(len(work.depths) - 1):
        found = gathered(work, inputs, number, context)
        summary = merged(work, number, each(found, "summary"))
        context = dask.delayed(work.conclude, pure=True)(number, summary, context)
    return found, context


# -- what dask calls with the arrays of a block ---------------------------------------------------


def one_each(function: Any, blocks: Sequence[int], *arrays: Any, **keywords: Any) -> Any:
    """An array of objects, one for each block, from what a function makes of each."""
    chunks = tuple((1,) * number for number in blocks)
    return mapped(partial(_wrapped, function), object, chunks, *arrays, **keywords)


def mapped(function: Any, dtype: DTypeLike, chunks: Any, *arrays: Any, **keywords: Any) -> Any:
    """An array of these chunks, each made by a function, also of no arrays."""
    meta = np.empty((0,) * len(chunks), dtype)
    return da.map_blocks(function, *arrays, **keywords, dtype=meta.dtype, chunks=chunks, meta=meta)


def _wrapped(
    function: Any, *arrays: Array, block_id: tuple[int, ...] = (), **keywords: Any
) -> Array:
    wrapped = np.empty((1,) * len(block_id), object)
    wrapped.flat[0] = function(*arrays, place=block_id, **keywords)
    return wrapped


@working(threads=1)  # chunks are worked on at once
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
    """Whether chunks are masked arrays, as far as the array says."""
    return isinstance(getattr(array, "_meta", array), np.ma.MaskedArray)


def _plain(chunk: Array) -> Array:
    if _is_masked(chunk):
        raise InputError(
            "a chunk is a masked array, which its dask array does not say: make it by da.ma, or "
            "give map_blocks a meta that is masked"
        )
    return chunk


def _pack(chunk: Array, place: Any) -> PackedArray:
    return PackedArray.of(chunk)


def _unpack(packed: Array, number: int) -> Array:
    array: Array = packed.flat[0].unpacked()
    return array
