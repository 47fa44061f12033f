"""Label volumes on disk that are larger than memory: zarr and OME-Zarr stores, and image files read
in slabs.

OME-Zarr metadata (versions 0.4 and 0.5) is read and written here.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.core.sync import sync

from itk_consensus.core.errors import FileError
from itk_consensus.images.content import image_hashes
from itk_consensus.images.geometry import ArrayGeometry, ImageGeometry
from itk_consensus.images.slabs import ImageSlabs
from itk_consensus.space.boxes import Box, space_axes
from itk_consensus.storage.hashes import file_hash, files_below, folder_hash

#: Side length of an output's chunks if the first input is not chunked.
DEFAULT_CHUNK = 128

#: Prefix of the names of waiting tasks, so that threads that fail at the same time do not wait for
#: each other.
_WAITING = "waiting for other chunks"
_LONGEST_WAIT = 60.0

#: Number of voxels from which indices would overflow.
_MOST_VOXELS = 2**63

#: Lengths in mm of OME-Zarr's spatial units; other and missing units count as mm.
_MILLIMETRES = {
    "nanometer": 1e-6,
    "micrometer": 1e-3,
    "centimeter": 10.0,
    "meter": 1e3,
}

_AXIS_NAMES = ("t", "c", "z", "y", "x")

#: Names of the metadata files of zarr stores, versions 3 and 2.
_METADATA = {"zarr.json", ".zarray", ".zgroup", ".zattrs"}

#: Our own attribute for the direction matrix, which OME-Zarr cannot store.
DIRECTION = "itk_consensus:direction"


@dataclass(frozen=True)
class VolumeFile:
    """A label volume on disk, whose voxels are read one box at a time."""

    path: Path
    #: Path, within the store, of the full-resolution level; empty for a plain array or an image
    #: file.
    level: str
    chunks: tuple[int, ...]
    dtype: np.dtype[Any]
    geometry: ImageGeometry  #: Lengths in mm
    scale: tuple[float, ...]  #: Voxel size per array axis, in the unit of the store's metadata
    translation: tuple[float, ...]
    multiscales: Mapping[str, Any]  #: The OME-Zarr ``multiscales`` entry; empty if there is none
    #: Downsampling factors of each pyramid level relative to the previous one, per axis.
    factors: tuple[tuple[int, ...], ...]
    zarr_format: int  #: 0 for a file that is not a zarr store

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of voxels per array axis."""
        return self.geometry.shape

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size in mm, per array axis."""
        return self.geometry.array_spacing

    def content(self) -> list[str]:
        """Hashes of all files of the volume."""
        if self.zarr_format:
            return [folder_hash(self.path)]
        return list(image_hashes(self.path).values())

    def read(self, box: Box) -> NDArray[Any]:
        """Read the voxels of a box."""
        if not self.zarr_format:
            return ImageSlabs.of(self.path).read(box)
        try:
            return np.asarray(self._array("r")[box])
        except Exception as error:  # codecs can fail in many ways on a damaged chunk
            _wait_for_other_chunks()
            raise FileError(f"a chunk cannot be read: {error}", path=self.path) from error

    def write(self, box: Box, voxels: NDArray[Any]) -> None:
        """Write the voxels of a box into a store."""
        try:
            self._array("r+")[box] = voxels
        except Exception as error:  # the file system failed, or the store was deleted
            _wait_for_other_chunks()
            raise FileError(f"a chunk cannot be written: {error}", path=self.path) from error

    def _array(self, mode: str) -> Any:
        # The array is opened every time, since a cached one might belong to a store that was
        # replaced.
        return zarr.open_array(str(self.path), path=self.level or None, mode=mode)


def _wait_for_other_chunks() -> None:
    """Wait for zarr's other tasks after a failed chunk, since Python warns of unfinished ones."""

    async def wait() -> None:
        cast("asyncio.Task[None]", asyncio.current_task()).set_name(_WAITING)
        others = [task for task in asyncio.all_tasks() if task.get_name() != _WAITING]
        if others:
            await asyncio.wait(others, timeout=_LONGEST_WAIT)

    sync(wait())


def is_store(path: Path) -> bool:
    """Return whether a path names a zarr store, which need not exist yet."""
    return path.suffix.lower() == ".zarr" or holds_store(path)


def holds_store(path: Path) -> bool:
    """Return whether a folder is a zarr store."""
    return any((path / name).is_file() for name in ("zarr.json", ".zarray", ".zgroup"))


def open_volume(path: Path) -> VolumeFile:
    """Open a store or an image file without reading its voxels.

    Raises
    ------
    FileError
        The path is not a zarr array, an OME-Zarr image, or an image file.
    """
    if not is_store(path):
        return _open_file(path)
    _require_regular_files(path)
    try:
        volume = _open_store(path)
    except FileError:
        raise
    except Exception as error:  # the parser can fail in many ways on damaged metadata
        reason = f"{type(error).__name__}: {error}"
        raise FileError(f"cannot be read as a zarr store: {reason}", path=path) from error
    _require_sound(volume)
    return volume


def _require_regular_files(folder: Path) -> None:
    """Raise if a store contains pipes or devices, since reading from them could block forever."""
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        raise FileError(f"cannot be read as a zarr store: {error.strerror}", path=folder) from error
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            _require_regular_files(Path(entry.path))
        elif not (entry.is_file() or entry.is_dir()):
            raise FileError(f"{entry.path}: is not a regular file, and must not be in a store")


def _open_store(path: Path) -> VolumeFile:
    node = zarr.open(str(path), mode="r")
    if isinstance(node, zarr.Array):
        return _described(path, "", node, {}, (), {})
    entry = _multiscales(node.attrs)
    if not entry:
        raise FileError("must hold an array or an OME-Zarr image, but is a plain group", path=path)
    levels = [node[dataset["path"]] for dataset in entry["datasets"]]
    factors = tuple(
        tuple(max(1, round(a / b)) for a, b in zip(fine.shape, coarse.shape, strict=True))
        for fine, coarse in pairwise(levels)
    )
    return _described(path, entry["datasets"][0]["path"], levels[0], entry, factors, node.attrs)


def _require_sound(volume: VolumeFile) -> None:
    """Raise if sizes, scales or translations are not plausible."""
    if not volume.shape or not 0 < math.prod(volume.shape) < _MOST_VOXELS:
        raise FileError(f"{volume.path}: must be a volume, got the shape {volume.shape}")
    steps, places = np.array(volume.spacing), np.array(volume.translation)
    if not (np.isfinite(steps).all() and (steps > 0).all() and np.isfinite(places).all()):
        raise FileError(
            f"{volume.path}: scales must be positive and translations finite, "
            f"got {volume.spacing} and {volume.translation}"
        )


def _multiscales(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a group's first image; version 0.5 nests it one level deeper."""
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
    """Raise unless the last three axes are spatial, and all before them time or channels."""
    axes = entry.get("axes", [])
    kinds = [axis.get("type", "space") == "space" for axis in axes]
    if axes and kinds != [at in space_axes(dimension) for at in range(dimension)]:
        raise FileError(
            "the last three axes must be spatial, and those before them time or channels, "
            f"got {' '.join(str(axis.get('name')) for axis in axes)}",
            path=path,
        )


def _geometry_of(
    shape: tuple[int, ...],
    scale: NDArray[Any],
    translation: NDArray[Any],
    entry: Mapping[str, Any],
    attributes: Mapping[str, Any],
) -> ImageGeometry:
    """Return the geometry of a store in mm, with the names of its axes if the metadata contain
    them.
    """
    plain = ArrayGeometry.of_shape(shape)
    if not entry:
        return plain
    axes = entry.get("axes", [])
    units = [_MILLIMETRES.get(axis.get("unit"), 1.0) for axis in axes] or [1.0] * len(shape)
    return ImageGeometry(
        plain.size,
        tuple((scale * units)[::-1].tolist()),
        tuple((translation * units)[::-1].tolist()),
        tuple(attributes.get(DIRECTION, plain.direction)),
        tuple(str(axis.get("name")) for axis in reversed(axes)),
    )


def _open_file(path: Path) -> VolumeFile:
    slabs = ImageSlabs.of(path)
    geometry = slabs.geometry
    chunks = tuple(min(size, DEFAULT_CHUNK) for size in geometry.shape)
    origin = tuple(reversed(geometry.origin))
    return VolumeFile(
        path, "", chunks, slabs.dtype, geometry, geometry.array_spacing, origin, {}, (), 0
    )


# -- writing --------------------------------------------------------------------------------------


def create_volume(path: Path, like: VolumeFile, dtype: np.dtype[Any]) -> None:
    """Create an empty store with the chunks, geometry and pyramid of another volume."""
    form = like.zarr_format or 3
    if not like.multiscales and like.zarr_format:
        _create_level(path, None, like.shape, like.chunks, dtype, form)
        return
    group = zarr.create_group(str(path), zarr_format=form, overwrite=True)
    shape = like.shape
    for number, factors in enumerate([(1,) * len(shape), *like.factors]):
        shape = tuple(-(-n // factor) for n, factor in zip(shape, factors, strict=True))
        _create_level(path, str(number), shape, like.chunks, dtype, form)
    group.attrs.update(_attributes(like, form))
    if not is_upright(like.geometry):
        group.attrs[DIRECTION] = list(like.geometry.direction)


def description_hash(path: Path) -> str:
    """Return the SHA-256 hash of a store's metadata files, without its voxels."""
    files = [file for file in files_below(path) if file.name in _METADATA]
    content = [(str(file.relative_to(path)), file_hash(file)) for file in files]
    return hashlib.sha256(repr(content).encode()).hexdigest()


def is_upright(geometry: ImageGeometry) -> bool:
    """Return whether the image axes are parallel to the scanner's; OME-Zarr cannot store other
    directions.
    """
    return geometry.direction == ArrayGeometry.of_shape(geometry.shape).direction


def _create_level(
    path: Path, level: str | None, shape: Any, chunks: Any, dtype: np.dtype[Any], form: int
) -> None:
    zarr.create_array(
        store=str(path),
        name=level,
        shape=shape,
        chunks=tuple(min(c, n) for c, n in zip(chunks, shape, strict=True)),
        dtype=dtype,
        zarr_format=form,
        fill_value=0,
        overwrite=True,
    )


def _attributes(like: VolumeFile, form: int) -> dict[str, Any]:
    """Return OME-Zarr metadata with the axes of the input; pyramid levels keep voxel positions."""
    dimension = len(like.shape)
    axes = like.multiscales.get("axes") or [
        {"name": name, "type": "space", "unit": "millimeter"}
        if at in space_axes(dimension)
        else {"name": name, "type": "time" if name == "t" else "channel"}
        for at, name in enumerate(_AXIS_NAMES[-dimension:])
    ]
    datasets, scale = [], np.array(like.scale)
    for number, factors in enumerate([(1,) * dimension, *like.factors]):
        scale = scale * factors
        transforms = [{"type": "scale", "scale": scale.tolist()}]
        if any(like.translation):
            transforms.append({"type": "translation", "translation": list(like.translation)})
        datasets.append({"path": str(number), "coordinateTransformations": transforms})
    entry = {"axes": axes, "datasets": datasets, "name": "consensus"}
    if form == 2:
        return {"multiscales": [{"version": "0.4", **entry}], "image-label": {"version": "0.4"}}
    return {"ome": {"version": "0.5", "multiscales": [entry], "image-label": {}}}
