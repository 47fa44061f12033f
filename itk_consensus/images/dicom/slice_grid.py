"""The grid on which the slices of a DICOM series lie, and that every one of them does.

A grid has one origin, three directions at right angles and one step along each of them. Slices
whose positions say otherwise (a tilted gantry, a table that drifts, steps that differ) have none,
and what was drawn on them would be put beside where it was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.images.dicom.identity import without_values
from itk_consensus.images.geometry import ImageGeometry

#: How far direction cosines may be from unit length, from right angles, and from each other.
DIRECTION_NOISE = 1e-3
#: How far from its place on the grid, in voxels, a slice or a frame may lie anywhere.
PLACE_NOISE = 0.1
#: Steps between slices that differ by this share show a slice that is missing, or there twice.
_STEP_NOISE = 0.05

Points = NDArray[np.float64]


@dataclass(frozen=True)
class Plane:
    """Where the pixels of one slice or frame lie."""

    position: Points  #: Of the first pixel, in mm
    axes: Points  #: Directions along rows, along columns and across, as columns
    spacing: tuple[float, float]  #: Along rows and along columns
    size: tuple[int, int]  #: Columns and rows

    @classmethod
    def of(
        cls, position: Any, orientation: Any, spacing: Any, size: tuple[int, int], owner: str
    ) -> Plane:
        """What DICOM says of a plane: ImagePositionPatient, ImageOrientationPatient, PixelSpacing.

        Raises TypeError or ValueError of what are no numbers, or not as many as there must be.
        """
        where = np.asarray(position, np.float64).reshape(3)
        apart = np.asarray(spacing, np.float64).reshape(2)
        if not np.isfinite(where).all():
            raise GeometryError("ImagePositionPatient must be three finite numbers", owner=owner)
        if not (np.isfinite(apart) & (apart > 0)).all():
            raise GeometryError(
                f"PixelSpacing must be two positive numbers, got {apart[0]:g} and {apart[1]:g}",
                owner=owner,
            )
        axes = _plane_axes(np.asarray(orientation, np.float64).reshape(2, 3), owner)
        return cls(where, axes, (float(apart[1]), float(apart[0])), size)

    @property
    def ends(self) -> Points:
        """The middles of the first and of the last pixel, in mm."""
        steps = (np.array(self.size) - 1) * self.spacing
        return np.stack([self.position, self.position + self.axes[:, :2] @ steps])

    def has_pixels_of(self, other: Plane) -> bool:
        """Whether another plane has pixels of the same size in the same directions."""
        return bool(
            np.allclose(self.axes, other.axes, atol=DIRECTION_NOISE)
            and np.allclose(self.spacing, other.spacing, rtol=1e-3)
        )


def first_plane(geometry: ImageGeometry) -> Plane:
    """The slice with which a grid begins."""
    columns, rows, _ = geometry.size
    axes = np.reshape(geometry.direction, (3, 3))
    spacing = (geometry.spacing[0], geometry.spacing[1])
    return Plane(np.array(geometry.origin), axes, spacing, (columns, rows))


def places_on(geometry: ImageGeometry, points: Points) -> Points:
    """Positions in mm, shape (n, 3), as continuous indices (x, y, z) of a grid."""
    away = np.asarray(points, np.float64) - geometry.origin
    return np.asarray(np.linalg.solve(voxel_axes(geometry), away.T).T, np.float64)


def voxel_axes(geometry: ImageGeometry) -> Points:
    """Steps from voxel to voxel in mm, as columns."""
    return np.asarray(np.reshape(geometry.direction, (3, 3)) * geometry.spacing, np.float64)


def grid_of(slices: Sequence[Any], owner: str) -> tuple[ImageGeometry, list[int]]:
    """The grid of the slices of a series, and the order in which they lie on it."""
    planes = [_plane_of(one, owner) for one in slices]
    first = planes[0]
    if not all(one.has_pixels_of(first) and one.size == first.size for one in planes):
        raise GeometryError("slices differ in size, pixel spacing or orientation", owner=owner)
    heights = np.array([one.position for one in planes]) @ first.axes[:, 2]
    order = np.argsort(heights, kind="stable").tolist()
    step = _step(heights[order], slices[0], owner)
    geometry = ImageGeometry(
        (*first.size, len(slices)),
        (*first.spacing, step),
        tuple(planes[order[0]].position.tolist()),
        tuple(first.axes.ravel().tolist()),
    )
    _require_on_grid([planes[place] for place in order], geometry, owner)
    return geometry, order


def _plane_of(one: Any, owner: str) -> Plane:
    try:
        size = (int(one.Columns), int(one.Rows))
        return Plane.of(
            one.ImagePositionPatient, one.ImageOrientationPatient, one.PixelSpacing, size, owner
        )
    except (AttributeError, TypeError, ValueError) as error:
        if isinstance(error, GeometryError):
            raise
        raise InputError(
            f"a slice does not say where it lies: {without_values(error)}", owner=owner
        ) from None


def _plane_axes(directions: Points, owner: str) -> Points:
    lengths = np.linalg.norm(directions, axis=1)
    cosine = float(directions[0] @ directions[1])
    # Written so that what is not a number fails too.
    is_upright = (np.abs(lengths - 1) <= DIRECTION_NOISE).all() and abs(cosine) <= DIRECTION_NOISE
    if not is_upright:
        raise GeometryError(
            "ImageOrientationPatient must be two directions of length 1 at right angles, got "
            f"lengths {lengths[0]:g} and {lengths[1]:g} with a cosine of {cosine:g} between them",
            owner=owner,
        )
    along_rows = directions[0] / lengths[0]
    across = np.cross(along_rows, directions[1])
    across /= np.linalg.norm(across)
    return np.column_stack([along_rows, np.cross(across, along_rows), across])


def _step(heights: Points, first: Any, owner: str) -> float:
    """From slice to slice, in mm."""
    if len(heights) == 1:
        thickness = float(first.get("SliceThickness") or 1.0)
        if not (np.isfinite(thickness) and thickness > 0):
            raise GeometryError(
                f"SliceThickness must be a positive number, got {thickness:g}", owner=owner
            )
        return thickness
    steps = np.diff(heights)
    usual = float(np.median(steps))
    if not np.allclose(steps, usual, atol=_STEP_NOISE * usual):
        raise GeometryError(
            f"slices lie {steps.min():g} to {steps.max():g} mm apart; a slice is missing, "
            "or there twice",
            owner=owner,
        )
    if usual <= 0:
        raise GeometryError(f"{len(heights)} slices lie at one position", owner=owner)
    return float(heights[-1] - heights[0]) / len(steps)


def _require_on_grid(planes: Sequence[Plane], geometry: ImageGeometry, owner: str) -> None:
    """Raise unless every slice, from its first pixel to its last, lies on the grid."""
    last = np.array([*planes[0].size, 1]) - 1
    wanted = np.array([[(0, 0, z), (*last[:2], z)] for z in range(len(planes))], np.float64)
    ends = np.concatenate([one.ends for one in planes])
    beside = places_on(geometry, ends).reshape(wanted.shape) - wanted
    if np.abs(beside).max() <= PLACE_NOISE:
        return
    worst = np.unravel_index(np.abs(beside).argmax(), beside.shape)
    where, voxels = "xyz"[worst[2]], float(np.abs(beside[worst]))
    mm = voxels * geometry.spacing[worst[2]]
    reason = _sideways(planes, geometry) or (
        f"{len(planes)} slices in steps of {geometry.spacing[2]:g} mm do not reach the position "
        f"of slice {worst[0] + 1}"
        if where == "z"
        else f"slice {worst[0] + 1} of {len(planes)} is moved or turned against the others"
    )
    raise GeometryError(
        f"its slices lie on no grid: {reason}, which puts voxels {mm:.3g} mm "
        f"({voxels:.2g} voxels along {where}) beside their place. Resample the images to evenly "
        "stacked slices (converters to NIfTI correct gantry tilt) and outline those",
        owner=owner,
    )


def _sideways(planes: Sequence[Plane], geometry: ImageGeometry) -> str:
    """Says by how much each slice lies beside the one before, if all do so alike."""
    moved = planes[-1].position - planes[0].position
    each = (planes[0].axes.T @ moved)[:2] / max(len(planes) - 1, 1)
    numbers = np.arange(len(planes))[:, None]
    along = np.array([one.position - planes[0].position for one in planes]) @ planes[0].axes[:, :2]
    off = np.abs(along - numbers * each) / planes[0].spacing
    drift = float(np.linalg.norm(each))
    if off.max() > PLACE_NOISE or (len(planes) * each / planes[0].spacing < PLACE_NOISE).all():
        return ""
    angle = np.degrees(np.arctan2(drift, geometry.spacing[2]))
    return (
        f"each lies {drift:.3g} mm beside the one before (a gantry tilted by {angle:.1f} degrees, "
        "or a table that drifts)"
    )
