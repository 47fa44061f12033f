"""Boxes of voxels, and which array axes are space: growing them, cutting them, looking inside.

An image has at most three axes of space. Axes before them, in ITK the last ones, hold independent
volumes, so nothing is smoothed, measured or pooled along them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

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
    return tuple(
        slice(max(side.start - m, 0), min(side.stop + m, size))
        for side, m, size in zip(box, margin, shape, strict=True)
    )


def intersection(first: Box, second: Box) -> Box:
    """What two boxes share; empty slices where they share nothing."""
    pairs = zip(first, second, strict=True)
    bounds = [(max(a.start, b.start), min(a.stop, b.stop)) for a, b in pairs]
    return tuple(slice(low, max(low, high)) for low, high in bounds)


def relative_to(box: Box, around: Box) -> Box:
    """Where a box lies in an array cut out of the volume by a box around it."""
    pairs = zip(box, around, strict=True)
    return tuple(slice(b.start - a.start, b.stop - a.start) for b, a in pairs)
