"""Boxes of voxels, and which array axes are space: growing them, cutting them, looking inside.

An image has at most three axes of space. Axes before them, in ITK the last ones, hold independent
volumes, so nothing is smoothed, measured or pooled along them.
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
    """The array axes that are space."""
    return range(max(number_of_axes - _AXES_OF_SPACE, 0), number_of_axes)


def in_space(values: Sequence[T], elsewhere: T) -> list[T]:
    """One value per array axis, `elsewhere` standing for those on axes that are no space."""
    first = space_axes(len(values)).start
    return [elsewhere] * first + list(values[first:])


def voxel_sides(spacing: Sequence[float]) -> Sequence[float]:
    """Voxel size along the axes of space only."""
    return spacing[-_AXES_OF_SPACE:]


def grown(box: Box, margin: Sequence[int], shape: Sequence[int]) -> Box:
    """A box widened by `margin` voxels per axis, as far as a volume of this shape goes."""
    return clipped(widened(box, margin), shape)


def intersection(first: Box, second: Box) -> Box:
    """What two boxes share; empty slices where they share nothing."""
    pairs = zip(first, second, strict=True)
    bounds = [(max(a.start, b.start), min(a.stop, b.stop)) for a, b in pairs]
    return tuple(slice(low, max(low, high)) for low, high in bounds)


def around(*boxes: Box | None) -> Box | None:
    """The smallest box around others, of which some may be none."""
    known = [box for box in boxes if box is not None]
    return (
        tuple(
            slice(min(side.start for side in sides), max(side.stop for side in sides))
            for sides in zip(*known, strict=True)
        )
        or None
    )


def relative_to(box: Box, around: Box) -> Box:
    """Where a box lies in an array cut out of the volume by a box around it."""
    pairs = zip(box, around, strict=True)
    return tuple(slice(b.start - a.start, b.stop - a.start) for b, a in pairs)


def moved(box: Box, around: Box) -> Box:
    """Where, in the volume, a box lies that was found in an array cut out by a box around it."""
    pairs = zip(box, around, strict=True)
    return tuple(slice(b.start + a.start, b.stop + a.start) for b, a in pairs)


def bounding_box(flagged: NDArray[np.bool_]) -> Box | None:
    """The smallest box around flagged voxels; None if there are none."""
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
    """The box around all rows' voxels from the first to the last, which is -1 if there are none."""
    if last.max() < 0:
        return None
    rows = np.argwhere((last >= 0).reshape(shape[:-1]))
    low = [*rows.min(axis=0), first.min()]
    high = [*rows.max(axis=0), last.max()]
    return tuple(slice(int(a), int(b) + 1) for a, b in zip(low, high, strict=True))


def clipped(box: Box, shape: Sequence[int]) -> Box:
    """The part of a box that lies in the volume."""
    return tuple(
        slice(max(part.start, 0), min(part.stop, side))
        for part, side in zip(box, shape, strict=True)
    )


def widened(box: Box, margin: Sequence[int]) -> Box:
    """A box with `margin` voxels more on each side of each axis; it may leave the volume."""
    return tuple(slice(p.start - m, p.stop + m) for p, m in zip(box, margin, strict=True))


def read_extended(volume: NDArray[Any], box: Box) -> NDArray[Any]:
    """Voxels of a box over the last axes; beyond the volume its border goes on."""
    leading = volume.ndim - len(box)
    shape = volume.shape[leading:]
    inner = clipped(box, shape)
    beyond = [(i.start - b.start, b.stop - i.stop) for i, b in zip(inner, box, strict=True)]
    part = volume[(slice(None),) * leading + inner]
    widths = [(0, 0)] * leading + beyond
    return np.pad(part, np.array(widths), mode="edge")


def slabs(box: Box, voxels: int) -> Iterator[Box]:
    """Parts of a box, some planes of the first axis each, of about so many voxels at most."""
    first, *others = box
    plane = math.prod(part.stop - part.start for part in others)
    step = max(1, voxels // max(1, plane))
    for start in range(first.start, first.stop, step):
        yield (slice(start, min(start + step, first.stop)), *others)


def voxel_volume(spacing: Sequence[float]) -> tuple[float, str]:
    """What one voxel holds, and the unit: ml, mm^2 of a 2D image, or voxels of an array."""
    if isinstance(spacing, VoxelSteps):
        return 1.0, "voxels"
    space = voxel_sides(spacing)
    unit = "ml" if len(space) == 3 else "mm^2"
    return float(np.prod(space)) / (_MM3_PER_ML if unit == "ml" else 1.0), unit


def shown_volume(spacing: Sequence[float], *voxels: float) -> str:
    """Volumes of so many voxels in ml, or in mm^2 of a 2D image: "23.7 to 45.9 ml"."""
    one, unit = voxel_volume(spacing)
    texts = [f"{n:.0f}" if n >= 100 else f"{n:.3g}" for n in (one * count for count in voxels)]
    return f"{' to '.join(texts)} {unit}"
