"""Contours of one structure, grouped by slice for rasterisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.images.geometry import ImageGeometry

Points = NDArray[np.float64]

#: Values of ContourGeometricType for closed contours, which enclose an area.
_CLOSED = {"CLOSED_PLANAR", "CLOSEDPLANAR_XOR"}
_OPEN = {"OPEN_PLANAR", "OPEN_NONPLANAR"}
_POINTS = "POINT"

#: Maximum distance, in slices, of a contour's points from its slice.
_FARTHEST_FROM_SLICE = 0.4
#: Contours whose heights differ by more than this, in slices, were drawn on different slices.
_ONE_HEIGHT = 0.1
#: Contours whose points differ by at most this, in voxels, are duplicates.
_SAME_POINT = 1e-2
#: Contours that lie farther outside than this, in voxels, extend beyond the image; smaller
#: distances are attributed to rounding of the coordinates.
_BEYOND = 0.05


@dataclass(frozen=True)
class Contour:
    """One contour of an RTSTRUCT."""

    kind: str  #: ContourGeometricType
    points: Points  #: (n, 3) continuous indices (x, y, z)


@dataclass
class SliceContours:
    """Contours in one slice, as (n, 2) continuous indices (x, y)."""

    areas: list[Points] = field(default_factory=list)  #: Contours that enclose an area
    lines: list[Points] = field(default_factory=list)  #: Open contours or single points
    heights: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Clipping:
    """The extent of a structure's contours beyond the image."""

    slices: int  #: Number of slices with such contours
    mm: float  #: Largest distance beyond the image

    def __str__(self) -> str:
        where = "1 slice" if self.slices == 1 else f"{self.slices} slices"
        return f"contours reach up to {self.mm:.3g} mm beyond the image in {where}; cut there"


def group_by_slice(
    contours: Sequence[Contour], number_of_slices: int, owner: str
) -> dict[int, SliceContours]:
    """Group contours by slice, without duplicates.

    Each contour inverts the area inside it, so duplicates would cancel out. The same would happen
    to contours of different heights that fall into one slice, which is therefore an error.
    """
    slices: dict[int, SliceContours] = {}
    for contour in contours:
        height = _slice_of(contour, number_of_slices, owner)
        drawn = slices.setdefault(height, SliceContours())
        points = contour.points[:, :2]
        if contour.kind == _POINTS:
            drawn.lines.extend(points[:, None])
        elif contour.kind in _OPEN or len(points) < 3:
            drawn.lines.append(points)
        elif contour.kind in _CLOSED:
            drawn.areas.append(points)
        else:
            raise InputError(
                f"a contour has the ContourGeometricType {contour.kind!a}; known are "
                f"{', '.join(sorted({*_CLOSED, *_OPEN, _POINTS}))}",
                owner=owner,
            )
        drawn.heights.append(float(contour.points[:, 2].mean()))
    for height, drawn in slices.items():
        if np.ptp(drawn.heights) > _ONE_HEIGHT:
            raise GeometryError(
                f"contours at {len(set(np.round(drawn.heights, 3)))} heights, "
                f"{np.ptp(drawn.heights):.2g} slices apart, fall into slice {height} of the "
                "series; they were drawn on thinner slices: give the series of those",
                owner=owner,
            )
        drawn.areas = _without_duplicates(drawn.areas)
    return slices


def clipping_of(slices: dict[int, SliceContours], geometry: ImageGeometry) -> Clipping | None:
    """Measure how far contours extend beyond the image; None if they do not."""
    last = np.array(geometry.size[:2]) - 0.5  # Voxel 0 reaches from -0.5 to 0.5.
    beyond = []
    for drawn in slices.values():
        points = np.concatenate([*drawn.areas, *drawn.lines])
        outside = np.maximum(-0.5 - points, points - last).max(axis=0)
        if outside.max() > _BEYOND:
            beyond.append(float((outside * geometry.spacing[:2]).max()))
    return Clipping(len(beyond), max(beyond)) if beyond else None


def _slice_of(contour: Contour, slices: int, owner: str) -> int:
    heights = contour.points[:, 2]
    middle = np.rint(heights.mean())
    if np.abs(heights - middle).max() > _FARTHEST_FROM_SLICE:
        raise GeometryError(
            "a contour does not lie in a slice of the series; give the series it was drawn on",
            owner=owner,
        )
    if not 0 <= middle < slices:
        raise GeometryError(
            "a contour lies beyond the slices of the series; give the series it was drawn on",
            owner=owner,
        )
    return int(middle)


def _without_duplicates(contours: list[Points]) -> list[Points]:
    """Return the contours without those that have the same points as an earlier one."""
    if len(contours) < 2:
        return contours
    contours = [_without_repeats(one) for one in contours]
    # Duplicates have the same mean, so only contours with similar means are compared.
    across = np.array([one[:, 0].mean() for one in contours])
    kept: list[int] = []
    for place in np.argsort(across, kind="stable").tolist():
        near = []
        for other in reversed(kept):
            if across[place] - across[other] > _SAME_POINT:
                break
            near.append(other)
        if not any(_is_same(contours[other], contours[place]) for other in near):
            kept.append(place)
    return [contours[place] for place in sorted(kept)]


def _without_repeats(points: Points) -> Points:
    """Remove consecutive repeated points; some contours repeat their first point at the end."""
    follows = (points == np.roll(points, 1, axis=0)).all(axis=1)
    return points[~follows] if 0 < np.count_nonzero(~follows) < len(points) else points


def _is_same(one: Points, other: Points) -> bool:
    """Whether two contours have the same points, regardless of start and direction."""
    if len(one) != len(other):
        return False
    begins = int(np.abs(other - one[0]).max(axis=1).argmin())
    ways = (np.roll(other, -begins, axis=0), np.roll(other[::-1], begins + 1, axis=0))
    return any(np.abs(one - way).max() <= _SAME_POINT for way in ways)
