"""Bounding boxes of voxels, and which array axes are spatial.

An image has at most three spatial axes. Array axes before these (the last ones in ITK's order)
index independent volumes: nothing is smoothed, measured or pooled along them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import VoxelSteps
from itk_consensus.core.work import current

_MM3_PER_ML = 1000.0

Box = tuple[slice, ...]

_AXES_OF_SPACE = 3

T = TypeVar("T")


def space_axes(number_of_axes: int) -> range:
    """Return the spatial array axes."""
    return range(max(number_of_axes - _AXES_OF_SPACE, 0), number_of_axes)


def in_space(values: Sequence[T], elsewhere: T) -> list[T]:
    """Replace the values of non-spatial array axes by `elsewhere`."""
    first = space_axes(len(values)).start
    return [elsewhere] * first + list(values[first:])


def voxel_sides(spacing: Sequence[float]) -> Sequence[float]:
    """Return the voxel size along the spatial axes only."""
    return spacing[-_AXES_OF_SPACE:]


def grow_box(box: Box, margin: Sequence[int], shape: Sequence[int]) -> Box:
    """Widen a box by `margin` voxels per axis and clip it to a volume of this shape."""
    return clip_box(widen_box(box, margin), shape)


def intersection(first: Box, second: Box) -> Box:
    """Return the intersection of two boxes; slices are empty where they do not overlap."""
    pairs = zip(first, second, strict=True)
    bounds = [(max(a.start, b.start), min(a.stop, b.stop)) for a, b in pairs]
    return tuple(slice(low, max(low, high)) for low, high in bounds)


def enclosing_box(*boxes: Box | None) -> Box | None:
    """Return the smallest box that contains all given boxes, ignoring None; None if all are."""
    known = [box for box in boxes if box is not None]
    return (
        tuple(
            slice(min(side.start for side in sides), max(side.stop for side in sides))
            for sides in zip(*known, strict=True)
        )
        or None
    )


def relative_to(box: Box, around: Box) -> Box:
    """Convert a box from volume coordinates to those of the array cut out by the box `around`."""
    pairs = zip(box, around, strict=True)
    return tuple(slice(b.start - a.start, b.stop - a.start) for b, a in pairs)


def to_volume(box: Box, around: Box) -> Box:
    """Convert a box from coordinates of the array cut out by `around` to those of the volume."""
    pairs = zip(box, around, strict=True)
    return tuple(slice(b.start + a.start, b.stop + a.start) for b, a in pairs)


def bounding_box(flagged: NDArray[np.bool_]) -> Box | None:
    """Return the smallest box around the flagged voxels; None if there are none."""
    if not flagged.size:
        return None
    flat = np.ascontiguousarray(flagged).view(np.uint8).reshape(-1)
    extents = _kernels.row_extents(
        flat, flagged.shape[-1], np.arange(2, dtype=np.uint8), current().threads
    )
    return box_of_rows(*extents, flagged.shape)


def box_of_rows(
    first: NDArray[np.int64], last: NDArray[np.int64], shape: tuple[int, ...]
) -> Box | None:
    """Return the bounding box, given first and last flagged voxel of each row; `last` may be -1."""
    if last.max() < 0:
        return None
    rows = np.argwhere((last >= 0).reshape(shape[:-1]))
    low = [*rows.min(axis=0), first.min()]
    high = [*rows.max(axis=0), last.max()]
    return tuple(slice(int(a), int(b) + 1) for a, b in zip(low, high, strict=True))


def clip_box(box: Box, shape: Sequence[int]) -> Box:
    """Clip a box to a volume of this shape."""
    return tuple(
        slice(max(part.start, 0), min(part.stop, side))
        for part, side in zip(box, shape, strict=True)
    )


def widen_box(box: Box, margin: Sequence[int]) -> Box:
    """Widen a box by `margin` voxels on both sides of each axis, possibly beyond the volume."""
    return tuple(slice(p.start - m, p.stop + m) for p, m in zip(box, margin, strict=True))


def read_extended(volume: NDArray[Any], box: Box) -> NDArray[Any]:
    """Return the voxels of a box over the last axes; edge voxels are repeated beyond the volume."""
    leading = volume.ndim - len(box)
    shape = volume.shape[leading:]
    inner = clip_box(box, shape)
    beyond = [(i.start - b.start, b.stop - i.stop) for i, b in zip(inner, box, strict=True)]
    part = volume[(slice(None),) * leading + inner]
    widths = [(0, 0)] * leading + beyond
    return np.pad(part, np.array(widths), mode="edge")


def slabs(box: Box, voxels: int) -> Iterator[Box]:
    """Split a box along its first axis into slabs of at most about `voxels` voxels."""
    first, *others = box
    plane = math.prod(part.stop - part.start for part in others)
    step = max(1, voxels // max(1, plane))
    for start in range(first.start, first.stop, step):
        yield (slice(start, min(start + step, first.stop)), *others)


def voxel_volume(spacing: Sequence[float]) -> tuple[float, str]:
    """Return the volume of a voxel and its unit: ml, mm^2 (2D images) or voxels (plain arrays)."""
    if isinstance(spacing, VoxelSteps):
        return 1.0, "voxels"
    space = voxel_sides(spacing)
    unit = "ml" if len(space) == 3 else "mm^2"
    return float(np.prod(space)) / (_MM3_PER_ML if unit == "ml" else 1.0), unit


def format_volume(spacing: Sequence[float], *voxels: float) -> str:
    """Format volumes given in voxels in ml, or in mm^2 for a 2D image: "23.7 to 45.9 ml"."""
    one, unit = voxel_volume(spacing)
    texts = [f"{n:.0f}" if n >= 100 else f"{n:.3g}" for n in (one * count for count in voxels)]
    return f"{' to '.join(texts)} {unit}"
