"""Work on chunks as a graph of dask: nothing runs before somebody computes it.

dask is imported here only, and this module only once a caller has brought a dask array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import numpy as np

from itk_consensus.chunked.packed_array import PackedArray
from itk_consensus.chunked.work import BRANCHES, Array, Block, ChunkedWork, Depth, Request
from itk_consensus.errors import InputError

Chunks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ChunkedInputs:
    """Dask arrays of one shape and one chunking, each read once.

    Every pass needs every chunk, and a graph that reads a chunk for two passes would hold it in
    memory from one to the other. So chunks are kept compressed, which for labels is a few per cent
    of their size, and each pass unpacks them for itself.
    """

    present: tuple[bool, ...]  #: Which raters are not missing
    #: Of the images that come after the raters; a number is the mask of this rater's array.
    names: tuple[str | int, ...]
    chunks: Chunks
    packed: tuple[Any, ...]  #: One compressed chunk per element; raters first
    types: tuple[np.dtype[Any], ...]

    @classmethod
    def make(
        cls, raters: Sequence[Any], images: Mapping[str, Any], deepest: Depth
    ) -> ChunkedInputs:
        """Give all arrays the chunks of the first, none of them thinner than the halo."""
        first = next(array for array in raters if array is not None)
        chunks = tuple(
            da.overlap.ensure_minimum_chunksize(min(depth, sum(sizes)), sizes) if depth else sizes
            for depth, sizes in zip(deepest, first.chunks, strict=True)
        )

        def alike(array: Any) -> Any:
            lazy = array if isinstance(array, da.Array) else da.from_array(array, chunks=chunks)
            return lazy.rechunk(chunks)

        # Chunks are taken apart into data and mask before anything of dask's joins them.
        gaps = {j: da.ma.getmaskarray(array) for j, array in enumerate(raters) if _is_masked(array)}
        data = [array if j not in gaps else da.ma.getdata(array) for j, array in enumerate(raters)]
        others: dict[str | int, Any] = dict(images) | gaps
        arrays = [alike(array) for array in (*data, *others.values()) if array is not None]
        return cls(
            tuple(array is not None for array in raters),
            tuple(others),
            chunks,
            tuple(_one_each(_pack, array) for array in arrays),
            tuple(array.dtype for array in arrays),
        )

    def unpacked(self, number: int) -> list[Any]:
        """All arrays, for one pass."""
        return [
            da.map_blocks(
                _unpack,
                packed,
                number=number,  # the same key for two passes would outlive the first
                dtype=dtype,
                chunks=self.chunks,
                meta=np.empty((0,) * len(self.chunks), dtype),
            )
            for packed, dtype in zip(self.packed, self.types, strict=True)
        ]


def lazy_output(work: ChunkedWork, inputs: ChunkedInputs, request: Request) -> Any:
    """An output as a dask array with the inputs' chunks."""
    answer = dask.delayed(work.answer, pure=True)(_context(work, inputs), request)
    arrays, common = _passed(work, inputs, len(work.depths) - 1, answer)
    return da.map_blocks(
        _written,
        *arrays,
        **common,
        dtype=np.dtype(request.dtype),
        chunks=inputs.chunks,
        meta=np.empty((0,) * len(inputs.chunks), request.dtype),
    )


def measured(work: ChunkedWork, inputs: ChunkedInputs) -> dict[str, Any]:
    """Compute what a filter measures; the outputs stay uncomputed."""
    measurements = dask.delayed(work.measurements, pure=True)(_context(work, inputs))
    found: dict[str, Any] = measurements.compute()
    return found


def _context(work: ChunkedWork, inputs: ChunkedInputs) -> Any:
    """What all gathering passes came to."""
    context = None
    for number in range(len(work.depths) - 1):
        arrays, common = _passed(work, inputs, number, context)
        blocks = _one_each(_gathered, *arrays, **common)
        level = list(blocks.to_delayed().ravel())
        while len(level) > 1:
            level = [
                dask.delayed(_merged, pure=True)(work, number, level[at : at + BRANCHES])
                for at in range(0, len(level), BRANCHES)
            ]
        conclude = dask.delayed(_concluded, pure=True)
        context = conclude(work, number, level[0], context)
    return context


def _passed(
    work: ChunkedWork, inputs: ChunkedInputs, number: int, known: Any
) -> tuple[list[Any], dict[str, Any]]:
    """What a function of blocks gets in a pass: arrays with their halo, and what is known."""
    arrays, depth = inputs.unpacked(number), work.depths[number]
    if any(depth):
        # An axis of one chunk has no neighbours to look at.
        several = [len(sizes) > 1 for sizes in inputs.chunks]
        reach = {axis: side * several[axis] for axis, side in enumerate(depth)}
        arrays = [da.overlap.overlap(array, reach, "none", allow_rechunk=False) for array in arrays]
    layout = (inputs.present, inputs.names, inputs.chunks)
    return arrays, {"work": work, "number": number, "layout": layout, "known": known}


def _is_masked(array: Any) -> bool:
    """Whether chunks are masked arrays, as far as the array says."""
    return isinstance(getattr(array, "_meta", array), np.ma.MaskedArray)


def _one_each(function: Any, *arrays: Any, **keywords: Any) -> Any:
    """An array of objects, one for each block."""
    chunks = tuple((1,) * number for number in arrays[0].numblocks)
    meta = np.empty((0,) * arrays[0].ndim, object)
    return da.map_blocks(function, *arrays, **keywords, dtype=object, chunks=chunks, meta=meta)


def _pack(chunk: Array) -> Array:
    if _is_masked(chunk):
        raise InputError(
            "a chunk is a masked array, which its dask array does not say: make it by da.ma, or "
            "give map_blocks a meta that is masked"
        )
    return _wrapped(PackedArray.of(chunk), chunk.ndim)


def _unpack(packed: Array, number: int) -> Array:
    array: Array = packed.flat[0].unpacked()
    return array


def _wrapped(value: Any, dimension: int) -> Array:
    wrapped = np.empty((1,) * dimension, object)
    wrapped.flat[0] = value
    return wrapped


def _block(
    arrays: Sequence[Array], layout: tuple[Any, ...], block_id: Sequence[int], depth: Depth
) -> Block:
    present, names, chunks = layout
    following = iter(arrays)
    raters = [next(following) if here else None for here in present]
    images = dict(zip(names, following, strict=True))
    for number in [name for name in images if isinstance(name, int)]:
        raters[number] = np.ma.masked_array(raters[number], images.pop(number))
    core = []
    for place, sizes, reach in zip(block_id, chunks, depth, strict=True):
        start = reach if place else 0
        core.append(slice(start, start + sizes[place]))
    return Block(tuple(raters), images, tuple(core))


def _gathered(
    *arrays: Array,
    work: ChunkedWork,
    number: int,
    layout: Any,
    known: Any,
    block_id: tuple[int, ...] | None = None,
) -> Array:
    block = _block(arrays, layout, block_id or (), work.depths[number])
    return _wrapped(work.gather(number, block, known), len(block.core))


def _merged(work: ChunkedWork, number: int, summaries: Sequence[Any]) -> Any:
    return work.merge(number, [_unwrapped(summary) for summary in summaries])


def _concluded(work: ChunkedWork, number: int, summary: Any, context: Any) -> Any:
    return work.conclude(number, _unwrapped(summary), context)


def _unwrapped(summary: Any) -> Any:
    return summary.flat[0] if isinstance(summary, np.ndarray) else summary


def _written(
    *arrays: Array,
    work: ChunkedWork,
    number: int,
    layout: Any,
    known: Any,
    block_id: tuple[int, ...] | None = None,
) -> Array:
    return work.write(_block(arrays, layout, block_id or (), work.depths[number]), known)
