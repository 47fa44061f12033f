"""Stores that a run writes: where they may lie, and their OME-Zarr metadata."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from itk_consensus.errors import FileError
from itk_consensus.images.content import file_hash, files_below
from itk_consensus.images.file_claims import Claim, reading, require_no_overlap
from itk_consensus.images.geometry import ArrayGeometry, ImageGeometry
from itk_consensus.neighbourhood.boxes import space_axes
from itk_consensus.pipeline.scratch import Scratch
from itk_consensus.pipeline.volumes import DIRECTION, VolumeFile, holds_store

_AXIS_NAMES = ("t", "c", "z", "y", "x")


def require_place(output: Path, inputs: Sequence[Path]) -> Path:
    """Where a store is to be, links followed; raise if no store can be there without harm."""
    place = Path(os.path.realpath(output))
    if not place.parent.is_dir():
        raise FileError(f"{output}: the folder {place.parent} does not exist")
    writes = [Claim(str(output), place), Claim(str(output), Scratch.beside(place))]
    require_no_overlap([claim for path in inputs for claim in reading(path)], writes)
    return place


def require_replaceable(place: Path, overwrite: bool) -> None:
    """Raise if something is there already that may not be replaced."""
    if os.path.lexists(place) and not overwrite:
        raise FileError(f"{place}: exists already")
    if os.path.lexists(place) and not holds_store(place):
        raise FileError(f"{place}: is no zarr store, and will not be replaced by one")


def create_output(path: Path, like: VolumeFile, dtype: np.dtype[Any]) -> None:
    """Make an empty store with the chunks, space and pyramid of another volume."""
    form = like.zarr_format or 3
    if not like.multiscales and like.zarr_format:
        _create_level(str(path), "", like.shape, like.chunks, dtype, form)
        return
    group = zarr.create_group(str(path), zarr_format=form, overwrite=True)
    shapes = level_shapes(like)
    for number, shape in enumerate(shapes):
        _create_level(str(path), str(number), shape, like.chunks, dtype, form)
    group.attrs.update(_attributes(like, len(shapes), form))
    if not is_upright(like.geometry):
        group.attrs[DIRECTION] = list(like.geometry.direction)


def description_hash(path: Path) -> bytes:
    """SHA-256 of all that a store says about itself, without its voxels."""
    files = [file for file in files_below(path) if file.name == "zarr.json" or _is_old(file.name)]
    content = [(str(file.relative_to(path)), file_hash(file)) for file in files]
    return hashlib.sha256(repr(content).encode()).digest()


def _is_old(name: str) -> bool:
    """Whether version 2 of the format calls its metadata so."""
    return name in (".zarray", ".zgroup", ".zattrs")


def is_upright(geometry: ImageGeometry) -> bool:
    """Whether axes run along those of the scanner, which is all that OME-Zarr can say."""
    return geometry.direction == ArrayGeometry.of_shape(geometry.shape).direction


def level_shapes(like: VolumeFile) -> list[tuple[int, ...]]:
    """The shape of each level of the pyramid, finest first."""
    shapes = [like.shape]
    for factors in like.factors:
        shapes.append(tuple(-(-n // f) for n, f in zip(shapes[-1], factors, strict=True)))
    return shapes


def _create_level(
    path: str, level: str, shape: Any, chunks: Any, dtype: np.dtype[Any], form: int
) -> None:
    zarr.create_array(
        store=path,
        name=level or None,
        shape=shape,
        chunks=tuple(min(c, n) for c, n in zip(chunks, shape, strict=True)),
        dtype=dtype,
        zarr_format=form,
        fill_value=0,
        overwrite=True,
    )


def _attributes(like: VolumeFile, levels: int, form: int) -> dict[str, Any]:
    """OME-Zarr metadata with the axes of the input; every second voxel is kept, where it lies."""
    dimension = len(like.shape)
    axes = like.multiscales.get("axes") or [
        {"name": name, "type": "space", "unit": "millimeter"}
        if at in space_axes(dimension)
        else {"name": name, "type": "time" if name == "t" else "channel"}
        for at, name in enumerate(_AXIS_NAMES[-dimension:])
    ]
    datasets, scale = [], np.array(like.scale)
    for number in range(levels):
        transforms = [{"type": "scale", "scale": scale.tolist()}]
        if any(like.translation):
            transforms.append({"type": "translation", "translation": list(like.translation)})
        datasets.append({"path": str(number), "coordinateTransformations": transforms})
        if number < len(like.factors):
            scale = scale * like.factors[number]
    entry = {"axes": axes, "datasets": datasets, "name": "consensus"}
    if form == 2:
        return {"multiscales": [{"version": "0.4", **entry}], "image-label": {"version": "0.4"}}
    return {"ome": {"version": "0.5", "multiscales": [entry], "image-label": {}}}
