"""Label volumes on disk, larger than memory: zarr and OME-Zarr stores, and image files by slabs.

OME-Zarr metadata (versions 0.4 and 0.5) is read and written here: it is a few lines of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from itk_consensus.errors import FileError
from itk_consensus.images.geometry import ArrayGeometry, ImageGeometry
from itk_consensus.images.slabs import ImageSlabs
from itk_consensus.labels.boxes import Box, space_axes

#: Chunks of an output whose first input has none of its own.
DEFAULT_CHUNK = 128

_AXIS_NAMES = ("t", "c", "z", "y", "x")

#: Of the units that OME-Zarr gives axes of space; others, and none, are taken for millimetres.
_MILLIMETRES = {
    "nanometer": 1e-6,
    "micrometer": 1e-3,
    "centimeter": 10.0,
    "meter": 1e3,
}

#: The attribute of our own in which directions are kept, for which OME-Zarr has no place.
_DIRECTION = "itk_consensus:direction"


@dataclass(frozen=True)
class VolumeFile:
    """A label volume that is read box by box; the voxels stay on disk.

    Attributes
    ----------
    path : Path
    level : str
        Where in a store the full resolution lies; empty for an array, or a file that is none.
    shape, chunks : tuple of int
    dtype : numpy.dtype
    geometry : ImageGeometry
        Where it lies, in mm.
    scale, translation : tuple of float
        Per array axis, in the unit of its metadata.
    multiscales : mapping
        The OME-Zarr entry; empty if there is none.
    factors : tuple of tuple of int
        By how much each level of a pyramid is coarser than the one before it, per axis.
    zarr_format : int
        0 for a file that is no zarr store.
    """

    path: Path
    level: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: np.dtype[Any]
    geometry: ImageGeometry
    scale: tuple[float, ...]
    translation: tuple[float, ...]
    multiscales: Mapping[str, Any]
    factors: tuple[tuple[int, ...], ...]
    zarr_format: int

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size in mm, per array axis."""
        return self.geometry.array_spacing

    def read(self, box: Box) -> NDArray[Any]:
        """The voxels of a box."""
        if not self.zarr_format:
            return ImageSlabs.of(self.path).read(box)
        return np.asarray(_opened(str(self.path), self.level)[box])


@lru_cache(maxsize=256)
def _opened(path: str, level: str) -> Any:
    return zarr.open_array(path, path=level or None, mode="r")


def is_store(path: Path) -> bool:
    """Whether a path names a zarr store, there or still to be written."""
    return path.suffix.lower() == ".zarr" or holds_store(path)


def holds_store(path: Path) -> bool:
    """Whether a folder is a zarr store."""
    return any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))


def open_volume(path: Path) -> VolumeFile:
    """Look at a store or an image file, without its voxels.

    Raises
    ------
    FileError
        It is no zarr array, no OME-Zarr image, or no image file.
    """
    if not is_store(path):
        return _open_file(path)
    try:
        node = zarr.open(str(path), mode="r")
    except (FileNotFoundError, ValueError, KeyError, OSError) as error:
        raise FileError(f"{path}: cannot be read as a zarr store: {error}") from error
    if isinstance(node, zarr.Array):
        return _described(path, "", node, {}, (), {})
    entry = _multiscales(node.attrs)
    if not entry:
        raise FileError(f"{path}: must hold an array or an OME-Zarr image, it is a plain group")
    levels = [node[dataset["path"]] for dataset in entry["datasets"]]
    factors = tuple(
        tuple(max(1, round(a / b)) for a, b in zip(fine.shape, coarse.shape, strict=True))
        for fine, coarse in pairwise(levels)
    )
    return _described(path, entry["datasets"][0]["path"], levels[0], entry, factors, node.attrs)


def _multiscales(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The first image of a group; version 0.5 keeps it one level deeper."""
    ome: Any = attributes.get("ome", attributes)
    entries = ome.get("multiscales", [])
    return {"version": ome.get("version", "0.4"), **entries[0]} if entries else {}


def _described(
    path: Path,
    level: str,
    array: Any,
    entry: Mapping[str, Any],
    factors: tuple[Any, ...],
    attributes: Mapping[str, Any],
) -> VolumeFile:
    _require_space_last(path, entry, array.ndim)
    scale, translation = np.ones(array.ndim), np.zeros(array.ndim)
    for part in (entry["datasets"][0], entry) if entry else ():
        for transform in part.get("coordinateTransformations", []):
            if transform["type"] == "scale":
                scale, translation = scale * transform["scale"], translation * transform["scale"]
            elif transform["type"] == "translation":
                translation = translation + transform["translation"]
    return VolumeFile(
        path,
        level,
        tuple(array.shape),
        tuple(array.shards or array.chunks),
        np.dtype(array.dtype),
        _geometry_of(array.shape, scale, translation, entry, attributes),
        tuple(scale.tolist()),
        tuple(translation.tolist()),
        dict(entry),
        factors,
        int(array.metadata.zarr_format),
    )


def _require_space_last(path: Path, entry: Mapping[str, Any], dimension: int) -> None:
    """Axes before the last three are those of time and channels, and others are those of space."""
    axes = entry.get("axes", [])
    kinds = [axis.get("type", "space") == "space" for axis in axes]
    if axes and kinds != [at in space_axes(dimension) for at in range(dimension)]:
        raise FileError(
            f"{path}: axes before the last three must be those of time and channels, all others "
            f"those of space, got {' '.join(str(axis.get('name')) for axis in axes)}"
        )


def _geometry_of(
    shape: tuple[int, ...],
    scale: NDArray[Any],
    translation: NDArray[Any],
    entry: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> ImageGeometry:
    """The geometry of a store in mm; its axes have names if its metadata gives them."""
    plain = ArrayGeometry.of_shape(shape)
    if not entry:
        return plain
    axes = entry.get("axes", [])
    units = [_MILLIMETRES.get(axis.get("unit"), 1.0) for axis in axes] or [1.0] * len(shape)
    return ImageGeometry(
        plain.size,
        tuple((scale * units)[::-1].tolist()),
        tuple((translation * units)[::-1].tolist()),
        tuple(attributes.get(_DIRECTION, plain.direction)),
        tuple(str(axis.get("name")) for axis in reversed(axes)),
    )


def _open_file(path: Path) -> VolumeFile:
    slabs = ImageSlabs.of(path)
    geometry = slabs.geometry
    shape = geometry.shape
    chunks = tuple(min(size, DEFAULT_CHUNK) for size in shape)
    return VolumeFile(
        path,
        "",
        shape,
        chunks,
        slabs.dtype,
        geometry,
        geometry.array_spacing,
        tuple(reversed(geometry.origin)),
        {},
        (),
        0,
    )


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
        group.attrs[_DIRECTION] = list(like.geometry.direction)


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
