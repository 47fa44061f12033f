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
from dask.graph_manipulation import bind

from itk_consensus.chunked.work import (
    BRANCHES,
    Array,
    Block,
    ChunkedWork,
    Depth,
    Request,
)

Chunks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ChunkedInputs:
    """Dask arrays of one shape and one chunking.

    Attributes
    ----------
    raters : tuple of (dask array or None)
    images : dict of str to dask array
    """

    raters: tuple[Any, ...]
    images: Mapping[str, Any]

    @classmethod
    def make(cls, raters: Sequence[Any], images: Mapping[str, Any], deepest: Depth) -> ChunkedInputs:
        """Give all arrays the chunks of the first, none of them thinner than the halo."""
        first = next(array for array in raters if array is not None)
        chunks = tuple(
            da.overlap.ensure_minimum_chunksize(min(depth, sum(sizes)), sizes) if depth else sizes
            for depth, sizes in zip(deepest, first.chunks, strict=True)
        )

        def alike(array: Any) -> Any:
            lazy = array if isinstance(array, da.Array) else da.from_array(array, chunks=chunks)
            return lazy.rechunk(chunks)

        return cls(
            tuple(None if array is None else alike(array) for array in raters),
            {name: alike(image) for name, image in images.items()},
        )

    @property
    def present(self) -> tuple[bool, ...]:
        """Which raters are not missing."""
        return tuple(array is not None for array in self.raters)

    @property
    def arrays(self) -> list[Any]:
        """All arrays, raters first."""
        return [*(array for array in self.raters if array is not None), *self.images.values()]

    @property
    def chunks(self) -> Chunks:
        """Of every array."""
        chunks: Chunks = self.arrays[0].chunks
        return chunks


def lazy_output(work: ChunkedWork, inputs: ChunkedInputs, request: Request) -> Any:
    """An output as a dask array with the inputs' chunks."""
    answer = dask.delayed(work.answer, pure=True)(_context(work, inputs), request)
    return _mapped(
        _written, work, inputs, len(work.depths) - 1, answer, answer, dtype=np.dtype(request.dtype)
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
        blocks = _mapped(
            _gathered, work, inputs, number, context, context, dtype=object, one_each=True
        )
        level = list(blocks.to_delayed().ravel())
        while len(level) > 1:
            level = [
                dask.delayed(_merged, pure=True)(work, number, level[at : at + BRANCHES])
                for at in range(0, len(level), BRANCHES)
            ]
        conclude = dask.delayed(_concluded, pure=True)
        context = conclude(work, number, level[0], context)
    return context


def _mapped(
    function: Any,
    work: ChunkedWork,
    inputs: ChunkedInputs,
    number: int,
    known: Any,
    after: Any,
    *,
    dtype: Any,
    one_each: bool = False,
) -> Any:
    """A function of every block, which also gets to know what earlier passes found."""
    arrays = inputs.arrays
    if after is not None:
        # One key for both passes would keep every chunk in memory from one to the other: the
        # second reads its chunks anew, and not before the first is over.
        arrays = list(bind(arrays, after))
    depth = work.depths[number]
    if any(depth):
        reach = dict(enumerate(depth))
        arrays = [da.overlap.overlap(array, reach, "none", allow_rechunk=False) for array in arrays]
    return da.map_blocks(
        function,
        *arrays,
        work=work,
        number=number,
        layout=(inputs.present, tuple(inputs.images), inputs.chunks),
        known=known,
        dtype=dtype,
        chunks=tuple((1,) * len(sizes) for sizes in inputs.chunks) if one_each else inputs.chunks,
        meta=np.empty((0,) * len(depth), dtype),
    )


def _block(
    arrays: Sequence[Array], layout: tuple[Any, ...], block_id: Sequence[int], depth: Depth
) -> Block:
    present, names, chunks = layout
    following = iter(arrays)
    raters = tuple(next(following) if here else None for here in present)
    core = []
    for place, sizes, reach in zip(block_id, chunks, depth, strict=True):
        start = reach if place else 0
        core.append(slice(start, start + sizes[place]))
    return Block(raters, dict(zip(names, following, strict=True)), tuple(core))


def _gathered(
    *arrays: Array,
    work: ChunkedWork,
    number: int,
    layout: Any,
    known: Any,
    block_id: tuple[int, ...] | None = None,
) -> Array:
    block = _block(arrays, layout, block_id or (), work.depths[number])
    summary = np.empty((1,) * len(block.core), object)
    summary.flat[0] = work.gather(number, block, known)
    return summary


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
