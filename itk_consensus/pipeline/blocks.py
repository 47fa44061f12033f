"""Blocks of a volume, each of whole chunks, and dask to run something for every one of them."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import dask
from dask.callbacks import Callback

from itk_consensus.neighbourhood.boxes import Box
from itk_consensus.pipeline.scratch import Place
from itk_consensus.pipeline.volumes import VolumeFile

#: Blocks have about so many voxels: enough to make what a task costs by itself negligible.
BLOCK_VOXELS = 1 << 24

#: Called with the share of the work that is done, and what is being done.
Report = Callable[[float, str], None]


def block_size(volume: VolumeFile, wanted: Sequence[int] | None = None) -> tuple[int, ...]:
    """The size of a block: whole chunks, so that no two blocks write into one."""
    chunks = [min(c, n) for c, n in zip(volume.chunks, volume.shape, strict=True)]
    if wanted is not None:
        return tuple(
            min(-(-w // c) * c, -(-n // c) * c)
            for w, c, n in zip(wanted, chunks, volume.shape, strict=True)
        )
    size = list(chunks)
    while math.prod(size) < BLOCK_VOXELS:
        growing = [axis for axis, n in enumerate(volume.shape) if size[axis] < n]
        if not growing:
            break
        axis = min(growing, key=lambda axis: size[axis])
        size[axis] += chunks[axis]
    return tuple(size)


def grid_places(shape: Sequence[int], block: Sequence[int]) -> Iterator[Place]:
    """The places of all blocks of a volume."""
    return itertools.product(*(range(-(-n // size)) for n, size in zip(shape, block, strict=True)))


def grid_box(shape: Sequence[int], block: Sequence[int], place: Place) -> Box:
    """The voxels of a block."""
    return tuple(
        slice(at * size, min((at + 1) * size, n))
        for at, size, n in zip(place, block, shape, strict=True)
    )


def missing_of(places: Sequence[Place], is_there: Callable[[Place], bool]) -> list[Place]:
    """Blocks that are not there; each is looked at, since anything may have been lost."""
    with ThreadPoolExecutor() as pool:
        there = list(pool.map(is_there, places))
    return [place for place, known in zip(places, there, strict=True) if not known]


# -- running ------------------------------------------------------------------------------------


def run_each(
    function: Any, places: Sequence[Place], known: tuple[Any, ...], report: Report
) -> None:
    """Call a function with every place, wherever dask lets it run."""
    shared = [dask.delayed(value, traverse=False) for value in known]
    run = dask.delayed(function, traverse=False, pure=False)
    tasks = [run(place, *shared) for place in places]
    client = _client()
    if client is None:
        with _Counting(len(tasks), report):
            dask.compute(*tasks)
        return
    futures = client.compute(tasks)
    for done, future in enumerate(sys.modules["distributed"].as_completed(futures), 1):
        future.result()
        report(done / len(tasks), "")


def _client() -> Any:
    """The client of the caller, None if there is none."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


class _Counting(Callback):  # type: ignore[misc]
    """Reports how many tasks of a graph are done."""

    def __init__(self, tasks: int, report: Report) -> None:
        self.tasks, self.report, self.done = max(tasks, 1), report, 0
        super().__init__(posttask=self._after)

    def _after(self, key: Any, result: Any, *_: Any) -> None:
        self.done += result is None
        self.report(min(self.done / self.tasks, 1.0), "")
