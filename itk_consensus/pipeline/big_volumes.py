"""Label volumes larger than memory, fused from disk to disk: zarr stores, or image files by slabs.

Work is done in blocks of whole chunks, by the dask client of the caller if there is one, else by
threads. A run that was stopped, however, is taken up again by the same call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zarr

import itk_consensus
from itk_consensus.chunked.work import Block, ChunkedWork, Request, merged
from itk_consensus.filters.chunked_images import work_of
from itk_consensus.filters.fused_images import label_type
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.pattern_chunks import PatternWork
from itk_consensus.images.geometry import check_same_space
from itk_consensus.images.locking import locked
from itk_consensus.neighbourhood.boxes import grown
from itk_consensus.pipeline.blocks import (
    Report,
    block_size,
    grid_box,
    grid_places,
    missing_of,
    run_each,
)
from itk_consensus.pipeline.input_notes import InputNotes
from itk_consensus.pipeline.output_stores import (
    create_output,
    description_hash,
    is_upright,
    level_shapes,
    require_place,
    require_replaceable,
)
from itk_consensus.pipeline.scratch import (
    DESCRIBED,
    WRITTEN,
    Place,
    Scratch,
    code_arrays,
    encoded_block,
    note_arrays,
    notes_of,
    summary_arrays,
    summary_of,
    voxel_hash,
)
from itk_consensus.pipeline.volumes import VolumeFile, open_volume


@dataclass(frozen=True)
class BlockJob:
    """What a worker has to know to work on a block; it opens the stores itself."""

    work: ChunkedWork
    volumes: tuple[VolumeFile, ...]
    mask: VolumeFile | None
    block: tuple[int, ...]  #: Size of a block
    scratch: Scratch

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the volume."""
        return self.volumes[0].shape

    def places(self) -> Iterator[Place]:
        """Every block, by its place among the others."""
        return grid_places(self.shape, self.block)

    def gather(self, number: int, place: Place, context: Any) -> None:
        """Gather what a pass needs of a block, and keep it on disk."""
        block = self._read(place, number)
        if isinstance(self.work, PatternWork):
            # Codes are much smaller than the raters; the last pass need not read these again.
            case = self.work.encoded(block)
            arrays = summary_arrays(self.work.summary(case)) | code_arrays(case.patterns)
        else:
            arrays = summary_arrays(self.work.gather(number, block, context))
        if number == 0:
            arrays |= note_arrays(self._noted(block))
        self.scratch.save(f"pass-{number}", place, arrays)

    def _noted(self, block: Block) -> InputNotes:
        filter_ = self.work.filter_
        raters = [rater for rater in block.raters if rater is not None]
        return InputNotes.of(
            raters, filter_.GetName(), with_labels=hasattr(filter_, "ForegroundValue")
        )

    def write(self, place: Place, answer: Any, level: str) -> None:
        """Write a block of the output."""
        box = grid_box(self.shape, self.block, place)
        if isinstance(self.work, PatternWork):
            with self.scratch.load("pass-0", place) as arrays:
                output = self.work.looked_up(encoded_block(arrays), answer)
        else:
            output = self.work.write(self._read(place, len(self.work.depths) - 1), answer)
        zarr.open_array(str(self.scratch.store), path=level or None, mode="r+")[box] = output
        self.scratch.keep(WRITTEN, place, voxel_hash(output))

    def is_written(self, place: Place, level: str) -> bool:
        """Whether a block of the output holds what was written."""
        kept = self.scratch.content(WRITTEN, place)
        if kept is None:
            return False
        box = grid_box(self.shape, self.block, place)
        try:
            store = zarr.open_array(str(self.scratch.store), path=level or None, mode="r")
            return kept == voxel_hash(np.asarray(store[box]))
        except Exception:  # a damaged chunk may fail anywhere in its codec
            return False

    def _read(self, place: Place, number: int) -> Block:
        box = grid_box(self.shape, self.block, place)
        wide = grown(box, self.work.depths[number], self.shape)
        core = tuple(
            slice(part.start - around.start, part.stop - around.start)
            for part, around in zip(box, wide, strict=True)
        )
        images = {} if self.mask is None else {"MaskImage": self.mask.read(wide)}
        return Block(tuple(volume.read(wide) for volume in self.volumes), images, core)


def fuse_volumes(
    inputs: Sequence[Path],
    output: Path,
    filter_: LabelFusionFilter,
    *,
    mask: Path | None = None,
    block: Sequence[int] | None = None,
    overwrite: bool = False,
    report: Report | None = None,
    after_reading: Callable[[InputNotes], None] | None = None,
) -> dict[str, Any]:
    """Fuse label volumes on disk into a zarr store with the first one's chunks and space.

    Parameters
    ----------
    inputs : sequence of Path
        Zarr arrays, OME-Zarr images or image files on one grid, a rater each.
    output : Path
        The store; until it is finished, a folder beside it holds what a next run takes up.
    filter_ : LabelFusionFilter
        Without images among its parameters.
    mask : Path, optional
        Voxels to fuse, as of MaskImage.
    block : sequence of int, optional
        Voxels worked on at once, rounded up to whole chunks.
    overwrite : bool
        Whether a store that is there already may be replaced.
    report : callable, optional
        Told of the progress.
    after_reading : callable, optional
        Told what is odd about the raters.

    Returns
    -------
    dict
        What the filter measured, by name, and its ``Labels``.

    Raises
    ------
    FileError, GeometryError, InputError
        A volume cannot be read or lies elsewhere, or the filter cannot work in chunks.
    """
    place = require_place(output, [path for path in (*inputs, mask) if path is not None])
    with locked(place, wait=1.0):
        Scratch.put_back(place)
        require_replaceable(place, overwrite)
        job, dtype = _job(inputs, place, filter_, mask, block)
        measured = _run(job, dtype, report or (lambda share, doing: None), after_reading)
        job.scratch.hand_over(place)
    return measured


def _job(
    inputs: Sequence[Path],
    output: Path,
    filter_: LabelFusionFilter,
    mask: Path | None,
    block: Sequence[int] | None,
) -> tuple[BlockJob, np.dtype[Any]]:
    """What is to be done, taken up where it was stopped; and the type of the output."""
    # Workers of a cluster need not start where we did.
    volumes = tuple(open_volume(path.absolute()) for path in inputs)
    masks = [] if mask is None else [open_volume(mask.absolute())]
    first = volumes[0]
    check_same_space(
        [volume.geometry for volume in (*volumes, *masks)],
        coordinate_tolerance=filter_.CoordinateTolerance,
        direction_tolerance=filter_.DirectionTolerance,
        owner=filter_.GetName(),
        names=[str(path) for path in (*inputs, mask) if path is not None],
    )
    if not is_upright(first.geometry):
        filter_._warn(
            f"{inputs[0]} is turned against the axes of the scanner, for which OME-Zarr has no "
            "place: other programs will see the output unturned"
        )
    types = [volume.dtype for volume in volumes]
    work = work_of(filter_, first.shape, first.spacing, types, volumes)
    size = block_size(first, block)
    # Everything a result depends on, by content and role; equal plans give equal blocks.
    plan = {
        "filter": repr(filter_),
        "version": itk_consensus.__version__,
        "block": list(size),
        "raters": [[volume.level, *volume.content()] for volume in volumes],
        "mask": [[volume.level, *volume.content()] for volume in masks],
    }
    scratch = Scratch.take_up(output, plan)
    job = BlockJob(work, volumes, masks[0] if masks else None, size, scratch)
    return job, label_type(types)


def _run(
    job: BlockJob,
    dtype: np.dtype[Any],
    report: Report,
    after_reading: Callable[[InputNotes], None] | None,
) -> dict[str, Any]:
    work, places = job.work, list(job.places())
    passes = len(work.depths)
    context = None
    for number in range(passes - 1):
        stage = f"pass-{number}"
        missing = missing_of(places, partial(job.scratch.has, stage))
        gather = partial(job.gather, number)
        run_each(gather, missing, (context,), _part(report, number, passes, "counting votes"))
        if number == 0 and after_reading is not None:
            after_reading(_notes(job, stage, places))
        context = work.conclude(number, _gathered(job, stage, places, number), context)
    answer = work.answer(context, Request("label_image", (), dtype))
    report((passes - 1) / passes, "writing")
    _write(job, dtype, answer, places, _part(report, passes - 1, passes, "writing"))
    return work.measurements(context)


def _write(
    job: BlockJob, dtype: np.dtype[Any], answer: Any, places: Sequence[Place], report: Report
) -> None:
    """Write every block that is not written, or was lost since."""
    first, scratch = job.volumes[0], job.scratch
    level = "0" if first.multiscales or not first.zarr_format else ""
    described = scratch.content(DESCRIBED, ())
    missing = list(places)
    if described is not None and described == description_hash(scratch.store):
        missing = missing_of(places, partial(job.is_written, level=level))
    else:
        create_output(scratch.store, first, dtype)
        scratch.keep(DESCRIBED, (), description_hash(scratch.store))
    run_each(job.write, missing, (answer, level), report)
    for number in range(1, len(level_shapes(first))):
        _coarsen(job, number)


def _gathered(job: BlockJob, stage: str, places: Sequence[Place], number: int) -> Any:
    def summary(place: Place) -> Any:
        with job.scratch.load(stage, place) as arrays:
            return summary_of(arrays, len(job.volumes))

    return merged(job.work, number, [summary(place) for place in places])


def _notes(job: BlockJob, stage: str, places: Sequence[Place]) -> InputNotes:
    notes = []
    for place in places:
        with job.scratch.load(stage, place) as arrays:
            notes.append(notes_of(arrays))
    return InputNotes.merged(notes)


def _coarsen(job: BlockJob, number: int) -> None:
    """Write a level of the pyramid: every so many voxels of the one below, where they lie."""
    factors = job.volumes[0].factors[number - 1]
    store = str(job.scratch.store)
    fine = zarr.open_array(store, path=str(number - 1), mode="r")
    coarse = zarr.open_array(store, path=str(number), mode="r+")
    for place in grid_places(coarse.shape, job.block):
        box = grid_box(coarse.shape, job.block, place)
        below = tuple(
            slice(part.start * f, (part.stop - 1) * f + 1, f)
            for part, f in zip(box, factors, strict=True)
        )
        coarse[box] = fine[below]


def _part(report: Report, number: int, passes: int, doing: str) -> Report:
    """The report of one of several passes."""
    return lambda share, _: report((number + share) / passes, doing)
