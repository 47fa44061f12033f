"""Distances between contours, in mm.

A surface consists of the mask's voxels with a face neighbour outside the mask; everything beyond
the image border counts as outside. Distances are measured between voxel centres, from each surface
voxel of one mask to the nearest surface voxel of the other. These are MONAI's definitions, and
tests compare the results with MONAI's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.space.boxes import in_space, space_axes
from itk_consensus.space.distance import signed_distance

#: Slack in mm for floating-point errors of distances equal to the tolerance.
ROUNDING = 1e-9
#: Cost of the distance transform per voxel, as a multiple of the cost of an offset, and the maximum
#: number of offsets that are enumerated. They determine which of two algorithms with the same
#: result is used, namely the faster one.
_VOXELS_OF_A_DISTANCE, _MOST_OFFSETS = 16, 1 << 15


@dataclass(frozen=True)
class Surface:
    """The surface of a mask."""

    shape: tuple[int, ...]  #: Shape of the mask's array
    places: NDArray[Any]  #: (N,) flat indices of the surface's voxels

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> Surface:
        """Return the surface of a mask; in 4D the first axis holds independent volumes."""
        places = np.flatnonzero(mask & ~_inner(mask))
        return cls(mask.shape, places.astype(np.uint32) if mask.size < 2**32 else places)

    def distance(self, spacing: Sequence[float]) -> Floats:
        """Return the distance of every voxel to the surface in mm, flattened."""
        edge = np.zeros(self.shape, bool)
        edge.reshape(-1)[self.places] = True
        # Surface voxels have a negative signed distance; clip it to 0.
        signed = signed_distance(edge, spacing)
        return np.asarray(np.maximum(signed, 0, out=signed).reshape(-1))


@dataclass(frozen=True)
class OneWay:
    """Summary of the distances from the voxels of one surface to another; neither is empty."""

    number: int
    largest: float
    percentile95: float
    total: float
    within: int  #: Number of distances that do not exceed the tolerance

    @classmethod
    def of(cls, distances: Floats, tolerance: float) -> OneWay:
        """Summarise (N,) distances, which are reordered in place."""
        largest, total = float(distances.max()), float(distances.sum())
        within = int(np.count_nonzero(distances <= tolerance))
        return cls(distances.size, largest, _percentile95(distances), total, within)


def _percentile95(values: Floats) -> float:
    """Return the 95th percentile as np.percentile does, but faster since it works in place."""
    low, share = divmod(0.95 * (values.size - 1), 1)
    first, second = int(low), min(int(low) + 1, values.size - 1)
    values.partition((first, second))
    below, above = float(values[first]), float(values[second])
    # Interpolate from the nearer value, which gives the same rounding as np.percentile.
    return below + (above - below) * share if share < 0.5 else above - (above - below) * (1 - share)


class SurfaceDistances(NamedTuple):
    """Distances between two contours; NaN if both masks are empty, infinite if one is."""

    hausdorff: float = np.nan
    hausdorff95: float = np.nan
    mean: float = np.nan
    surface_dice: float = np.nan


BOTH_EMPTY = SurfaceDistances()
ONE_EMPTY = SurfaceDistances(np.inf, np.inf, np.inf, 0.0)


def surface_distances(there: OneWay, back: OneWay) -> SurfaceDistances:
    """Compare two surfaces by the distances from each to the other."""
    number = there.number + back.number
    return SurfaceDistances(
        hausdorff=max(there.largest, back.largest),
        hausdorff95=max(there.percentile95, back.percentile95),
        mean=(there.total + back.total) / number,
        surface_dice=(there.within + back.within) / number,
    )


def distances_between(
    surfaces: Sequence[Surface], spacing: Sequence[float], tolerance: float
) -> dict[tuple[int, int], SurfaceDistances]:
    """Compare all pairs of surfaces; keys are pairs of indices in increasing order.

    Only one distance map is held in memory at a time.

    Parameters
    ----------
    surfaces : sequence of Surface
        Surfaces in arrays of equal shape.
    spacing : sequence of float
        Voxel size per array axis.
    tolerance : float
        Distance in mm up to which surfaces are considered to agree, for the surface Dice.
    """
    one_way: dict[tuple[int, int], OneWay] = {}
    drawn = [index for index, surface in enumerate(surfaces) if surface.places.size]
    for target in drawn:
        distance = surfaces[target].distance(spacing)
        for index in drawn:
            one_way[index, target] = OneWay.of(distance[surfaces[index].places], tolerance)
    found = {}
    for pair in combinations(range(len(surfaces)), 2):
        empty = [index not in drawn for index in pair]
        if any(empty):
            found[pair] = BOTH_EMPTY if all(empty) else ONE_EMPTY
        else:
            found[pair] = surface_distances(one_way[pair], one_way[pair[::-1]])
    return found


def surface_dices(
    surfaces: Sequence[Surface], spacing: Sequence[float], tolerance: float
) -> Floats:
    """Return the (J, J) surface Dice of all pairs of surfaces.

    The result equals that of `distances_between`, but is faster for small tolerances: each surface
    is dilated by all offsets up to the tolerance instead of computing a distance map.
    """
    sizes = np.array([surface.places.size for surface in surfaces])
    reach = [
        # Offsets beyond the extent of the box are never needed.
        int(min(tolerance / side + ROUNDING, extent - 1))
        for side, extent in zip(spacing, surfaces[0].shape, strict=True)
    ]
    reach = list(in_space(reach, 0))
    offsets = math.prod(2 * most + 1 for most in reach)
    of_distances = _VOXELS_OF_A_DISTANCE * math.prod(surfaces[0].shape)
    if offsets > _MOST_OFFSETS or offsets * sizes.max() > of_distances:
        within = _within_by_distance(surfaces, spacing, tolerance)
    else:
        within = _within_by_offsets(surfaces, reach, spacing, tolerance)
    total = (sizes[:, None] + sizes[None, :]).astype(float)
    unknown = np.full(total.shape, np.nan)
    return np.asarray(np.divide(within + within.T, total, out=unknown, where=total > 0))


def _within_by_distance(
    surfaces: Sequence[Surface], spacing: Sequence[float], tolerance: float
) -> Floats:
    """Return (J, J) counts of the voxels of each surface within the tolerance of another."""
    within = np.zeros((len(surfaces),) * 2)
    for target, its in enumerate(surfaces):
        if its.places.size:
            near = its.distance(spacing) <= tolerance + ROUNDING
            within[:, target] = [np.count_nonzero(near[mine.places]) for mine in surfaces]
    return within


def _within_by_offsets(
    surfaces: Sequence[Surface], reach: Sequence[int], spacing: Sequence[float], tolerance: float
) -> Floats:
    """Return the counts of `_within_by_distance`, by dilation up to the tolerance."""
    shape = [side + 2 * more for side, more in zip(surfaces[0].shape, reach, strict=True)]
    places = [_padded_places(surface, reach, shape) for surface in surfaces]
    offsets = _offsets(reach, spacing, tolerance, shape)
    within = np.zeros((len(surfaces),) * 2)
    near = np.empty(math.prod(shape), bool)
    for target, its in enumerate(places):
        near[:] = False
        for offset in offsets:
            near[its + offset] = True
        for index, mine in enumerate(places):
            within[index, target] = np.count_nonzero(near[mine])
    return within


def _padded_places(
    surface: Surface, margin: Sequence[int], shape: Sequence[int]
) -> NDArray[np.intp]:
    """Flat indices of a surface's voxels in an array padded by a margin."""
    index = np.unravel_index(surface.places, surface.shape)
    moved = tuple(part + more for part, more in zip(index, margin, strict=True))
    return np.asarray(np.ravel_multi_index(moved, tuple(shape)))


def _offsets(
    reach: Sequence[int], spacing: Sequence[float], tolerance: float, shape: Sequence[int]
) -> NDArray[np.intp]:
    """Flat index offsets of all voxels within the tolerance."""
    steps = np.array(list(product(*(range(-most, most + 1) for most in reach))))
    lengths = np.sqrt(np.square(steps * np.asarray(spacing)).sum(axis=1))
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    return np.asarray(steps[lengths <= tolerance + ROUNDING] @ strides)


def _inner(mask: NDArray[Any]) -> NDArray[np.bool_]:
    """Return the voxels of a mask whose face neighbours all lie in the mask."""
    inner = mask.copy()
    for axis in space_axes(mask.ndim):
        steps = slice(None, -1), slice(1, None), slice(None, None, max(1, mask.shape[axis] - 1))
        before, after, ends = ((*(slice(None),) * axis, step) for step in steps)
        inner[after] &= mask[before]
        inner[before] &= mask[after]
        inner[ends] = False
    return inner
