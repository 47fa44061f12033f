"""Fusion of label volumes larger than memory, from disk to disk: zarr stores, or image files read
in slabs.

Volumes are read as dask arrays whose blocks are whole chunks. The graph built by `chunked/graph.py`
is computed by the caller's dask client if there is one, otherwise by threads. Finished blocks are
recorded, so that repeating a call resumes an interrupted run.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import zarr
from dask.callbacks import Callback

import itk_consensus
from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.input_notes import InputNotes
from itk_consensus.chunked.chunked_result import table_result, work_of
from itk_consensus.chunked.graph import Layout, each, gathered, mapped, merged, one_each, written
from itk_consensus.chunked.passes import Array, Block, ChunkedWork, Depth, Gathered, Request
from itk_consensus.chunked.run_record import Place, RunRecord
from itk_consensus.chunked.volumes import (
    VolumeFile,
    create_volume,
    description_hash,
    holds_store,
    is_upright,
    open_volume,
)
from itk_consensus.core.errors import FileError
from itk_consensus.core.parameters import measurements_of
from itk_consensus.fusing.fusion_result import label_type
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.geometry import check_same_space
from itk_consensus.space.boxes import Box
from itk_consensus.storage.locking import exclusive_lock

#: Approximate number of voxels per block: enough to make the overhead of a task negligible.
BLOCK_VOXELS = 1 << 24

#: Called with the fraction of the work that is done and a description of the current task.
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class VolumeInputs:
    """Volumes on disk as dask arrays; each pass reads the blocks and their halo anew."""

    raters: tuple[VolumeFile, ...]
    masks: tuple[VolumeFile, ...]  #: At most one mask
    block: tuple[int, ...]  #: Block size per array axis

    @cached_property
    def layout(self) -> Layout:
        chunks = da.core.normalize_chunks(self.block, self.raters[0].shape)
        return Layout((True,) * len(self.raters), (("MaskImage", None),) * len(self.masks), chunks)

    def with_halo(self, number: int, depth: Depth) -> list[Any]:
        axes = [_spans(*axis) for axis in zip(self.layout.chunks, depth, strict=True)]
        sizes = tuple(tuple(span.stop - span.start for span in spans) for spans in axes)
        return [
            mapped(_read, volume.dtype, sizes, volume=volume, axes=axes)
            for volume in (*self.raters, *self.masks)
        ]

    def box(self, place: Place) -> Box:
        """Return the position of a block in the volume."""
        return tuple(
            _spans(sizes, 0)[at] for sizes, at in zip(self.layout.chunks, place, strict=True)
        )


def _spans(sizes: Sequence[int], reach: int) -> list[slice]:
    """Return the ranges of blocks with these sizes along an axis, extended by `reach` on both
    sides.
    """
    ends = zip(sizes, accumulate(sizes), strict=True)
    return [slice(max(end - n - reach, 0), min(end + reach, sum(sizes))) for n, end in ends]


def _read(volume: VolumeFile, axes: Sequence[Sequence[slice]], block_id: Any = ()) -> Array:
    return volume.read(tuple(spans[at] for spans, at in zip(axes, block_id, strict=True)))


def block_size(volume: VolumeFile, wanted: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the block size: a multiple of the chunk size, so that no two blocks write to the same
    chunk.
    """
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


def fuse_volumes(
    inputs: Sequence[Path],
    output: Path,
    filter_: LabelFusionFilter,
    *,
    mask: Path | None = None,
    block: Sequence[int] | None = None,
    overwrite: bool = False,
    report: Report = lambda share, doing: None,
    after_reading: Callable[[InputNotes], None] = lambda notes: None,
) -> dict[str, Any]:
    """Fuse label volumes on disk into a zarr store with the chunks and space of the first one.

    Parameters
    ----------
    inputs : sequence of Path
        Zarr arrays, OME-Zarr images or image files on the same grid, one per rater.
    output : Path
        The store. Until it is finished, the state of the run is kept in a folder next to it.
    filter_ : LabelFusionFilter
        The filter; its parameters must not contain images.
    mask : Path, optional
        Mask of the voxels to fuse, as for MaskImage.
    block : sequence of int, optional
        Block size per axis, rounded up to whole chunks.
    overwrite : bool
        Whether an existing store may be replaced.
    report : callable
        Called with the fraction of the work that is done and a description of the current task.
    after_reading : callable
        Called with remarks about the raters after the first pass.

    Returns
    -------
    dict
        The filter's measurements by name, ``Labels`` and, if vote patterns were counted, an
        ``Assessment`` by all rules that do not need voxels.

    Raises
    ------
    FileError, GeometryError, InputError
        A volume cannot be read or is on another grid, or the filter cannot work in chunks.
    """
    masks = [] if mask is None else [mask]
    place = RunRecord.place_of(output, [*inputs, *masks])
    with exclusive_lock(place, wait=1.0):
        RunRecord.restore_backup(place)
        if os.path.lexists(place) and not overwrite:
            raise FileError(f"{place}: exists already; choose another output, or allow overwriting")
        if os.path.lexists(place) and not holds_store(place):
            raise FileError(
                f"{place}: is not a zarr store, so it is not replaced; choose another output"
            )
        volumes = _opened(inputs, masks, filter_, block)
        first = volumes.raters[0]
        types = [volume.dtype for volume in volumes.raters]
        work = work_of(filter_, first.shape, first.spacing, types, volumes.raters)
        # The plan identifies everything that determines the result, by content and role: runs with
        # equal plans have equal blocks.
        plan = {
            "filter": repr(filter_),
            "version": itk_consensus.__version__,
            "block": list(volumes.block),
            "raters": [[volume.level, *volume.content()] for volume in volumes.raters],
            "mask": [[volume.level, *volume.content()] for volume in volumes.masks],
        }
        run = VolumeRun(work, volumes, RunRecord.resume(place, plan), report)
        context = run.gather(partial(_noted, filter_), after_reading)
        run.write(context, label_type(types))
        estimated = work.estimated(context)
        run.record.publish(place)
    known = (one for one in measurements_of(type(filter_)) if isinstance(one.read, str))
    told = {one.name: one.value_in(estimated) for one in known} | {"Labels": estimated.labels}
    if estimated.table is not None:
        told["Assessment"] = assess(table_result(filter_, estimated, first.geometry))
    return told


def _opened(
    inputs: Sequence[Path], masks: Sequence[Path], filter_: LabelFusionFilter, block: Any
) -> VolumeInputs:
    # Absolute paths are used, since the workers of a cluster may have another working directory.
    volumes = [open_volume(path.absolute()) for path in (*inputs, *masks)]
    check_same_space(
        [volume.geometry for volume in volumes],
        coordinate_tolerance=filter_.CoordinateTolerance,
        direction_tolerance=filter_.DirectionTolerance,
        owner=filter_.GetName(),
        names=[str(path) for path in (*inputs, *masks)],
    )
    if not is_upright(volumes[0].geometry):
        filter_._warn(
            f"{inputs[0]} has axes that are not parallel to the scanner's, which OME-Zarr cannot "
            "store: other programs will show the output unrotated"
        )
    raters = tuple(volumes[: len(inputs)])
    return VolumeInputs(raters, tuple(volumes[len(inputs) :]), block_size(raters[0], block))


def _noted(filter_: LabelFusionFilter, block: Block) -> InputNotes:
    raters = [rater for rater in block.raters if rater is not None]
    is_binary = filter_.foreground is not None
    return InputNotes.of(raters, filter_.GetName(), with_labels=is_binary)


@dataclass(frozen=True)
class VolumeRun:
    """The passes over the volumes; each processes only the blocks that are not finished."""

    work: ChunkedWork
    inputs: VolumeInputs
    record: RunRecord
    report: Report

    def gather(
        self, note: Callable[[Block], InputNotes], after_reading: Callable[[InputNotes], None]
    ) -> Any:
        """Run all gathering passes; return the context of the last one."""
        context = None
        for number in range(len(self.work.depths) - 1):
            stage = _stage(number)
            known = dask.delayed(context, traverse=False)
            found = gathered(self.work, self.inputs, number, known, None if number else note)
            tasks = one_each(_save, found.numblocks, found, record=self.record, stage=stage)
            self._compute(tasks, number, partial(self._is_gathered, stage))
            kept = self._kept(number)
            notes = [] if number else dask.compute(*each(kept, "notes"))
            if notes:
                after_reading(InputNotes.merge(list(notes)))
            context = self._conclude(number, kept, context)
        return context

    def _conclude(self, number: int, kept: Any, context: Any) -> Any:
        """Merge the results of a pass over all blocks; return the context for the next pass."""
        stage = f"context-{number}"
        found = self.record.load(stage, ()) if self.work.concludes_at_length else None
        if found is None:
            (summary,) = dask.compute(merged(self.work, number, each(kept, "summary")))
            found = self.work.conclude(number, summary, context)
            if self.work.concludes_at_length:
                self.record.save(stage, (), found)
        return found

    def write(self, context: Any, dtype: np.dtype[Any]) -> None:
        """Write every missing or damaged block, then the coarser levels of the image pyramid."""
        store, like, last = self.record.store, self.inputs.raters[0], len(self.work.depths) - 1
        answer = dask.delayed(
            self.work.answer(context, Request("label_image", (), dtype)), traverse=False
        )
        self.report(last / (last + 1), "writing")
        if self.record.load("described", ()) != description_hash(store):
            create_volume(store, like, dtype)
            self.record.save("described", (), description_hash(store))
        output = open_volume(store)
        voxels = written(self.work, self.inputs, self._kept(0), answer, dtype)
        tasks = one_each(
            _store, voxels.numblocks, voxels, inputs=self.inputs, target=output, record=self.record
        )
        self._compute(tasks, last, partial(self._is_written, output))
        for number, factors in enumerate(like.factors, 1):
            fine = da.from_zarr(str(store), component=str(number - 1))
            coarse = zarr.open_array(str(store), path=str(number), mode="r+")
            sampled = fine[tuple(slice(None, None, factor) for factor in factors)]
            da.store(sampled.rechunk(coarse.chunks), coarse, lock=False)

    def _is_gathered(self, stage: str, place: Place) -> bool:
        return self.record.load(stage, place) is not None

    def _is_written(self, output: VolumeFile, place: Place) -> bool:
        kept = self.record.load("written", place)
        try:
            return kept is not None and kept == _hash(output.read(self.inputs.box(place)))
        except FileError:
            return False

    def _kept(self, number: int) -> Any:
        """Return the results of a pass for each block, read lazily from the record."""
        blocks = tuple(map(len, self.inputs.layout.chunks))
        return one_each(_load, blocks, record=self.record, stage=_stage(number))

    def _compute(self, tasks: Any, number: int, is_done: Callable[[Place], bool]) -> None:
        """Compute the unfinished blocks; the record of each block is checked for damage."""
        delayed, passes = tasks.to_delayed(), len(self.work.depths)
        doing = "writing" if number == passes - 1 else "counting votes"
        places = list(np.ndindex(delayed.shape))
        with ThreadPoolExecutor() as pool:
            done = list(pool.map(is_done, places))
        missing = [delayed[at] for at, known in zip(places, done, strict=True) if not known]

        def after(count: int) -> None:
            self.report((number + count / len(missing)) / passes, doing)

        client = _client()
        if client is None:
            with _Counting({task.key for task in missing}, after):
                dask.compute(*missing)
            return
        futures = client.compute(missing)
        for count, future in enumerate(sys.modules["distributed"].as_completed(futures), 1):
            future.result()
            after(count)


def _stage(number: int) -> str:
    return f"pass-{number}"


def _save(found: Array, place: Place, record: RunRecord, stage: str) -> None:
    record.save(stage, place, found.flat[0])


def _load(place: Place, record: RunRecord, stage: str) -> Gathered:
    found: Gathered | None = record.load(stage, place)
    if found is None:
        raise FileError(f"{record.folder}: was damaged during the run; run the command again")
    return found


def _store(
    voxels: Array, place: Place, inputs: VolumeInputs, target: VolumeFile, record: RunRecord
) -> None:
    target.write(inputs.box(place), voxels)
    record.save("written", place, _hash(voxels))


def _hash(voxels: Array) -> str:
    return hashlib.sha256(np.ascontiguousarray(voxels).data).hexdigest()


def _client() -> Any:
    """Return the caller's dask client; None if there is none."""
    distributed = sys.modules.get("distributed")
    try:
        return None if distributed is None else distributed.get_client()
    except ValueError:
        return None


class _Counting(Callback):  # type: ignore[misc]
    """Dask callback that reports how many of the given tasks are finished."""

    def __init__(self, keys: set[Any], after: Callable[[int], None]) -> None:
        self.keys, self.after, self.count = keys, after, 0
        super().__init__(posttask=self._posttask)

    def _posttask(self, key: Any, *_: Any) -> None:
        if key in self.keys:
            self.count += 1
            self.after(self.count)
