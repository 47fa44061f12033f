"""The regular grid of the slices of a DICOM series, and the check that all slices lie on it.

A grid has one origin, three orthogonal directions and one spacing along each of them. Slices that
do not fit on a grid (because of a tilted gantry, a drifting table, or unequal spacing) are
rejected, since contours drawn on them would be misplaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import GeometryError, InputError
from itk_consensus.images.dicom.identity import describe_without_values
from itk_consensus.images.geometry import ImageGeometry

#: Tolerance of direction cosines: for unit length, right angles, and equality between slices.
DIRECTION_NOISE = 1e-3
#: Maximum distance of any pixel of a slice or frame from its position on the grid, in voxels.
PLACE_NOISE = 0.1
#: Slice distances that differ by this fraction indicate a missing or duplicate slice.
_STEP_NOISE = 0.05

Points = NDArray[np.float64]


@dataclass(frozen=True)
class Plane:
    """Position, orientation, pixel spacing and size of one slice or frame."""

    position: Points  #: Position of the first pixel, in mm
    axes: Points  #: Directions along rows, along columns and across slices, as columns
    spacing: tuple[float, float]  #: Spacing along rows and along columns
    size: tuple[int, int]  #: Number of columns and rows

    @classmethod
    def of(
        cls, position: Any, orientation: Any, spacing: Any, size: tuple[int, int], owner: str
    ) -> Plane:
        """Create from ImagePositionPatient, ImageOrientationPatient and PixelSpacing.

        Raises TypeError or ValueError if these are not numbers, or not the right number of them.
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
        """Centres of the first and the last pixel, in mm."""
        steps = (np.array(self.size) - 1) * self.spacing
        return np.stack([self.position, self.position + self.axes[:, :2] @ steps])

    def has_pixels_of(self, other: Plane) -> bool:
        """Whether another plane has the same pixel spacing and orientation."""
        return bool(
            np.allclose(self.axes, other.axes, atol=DIRECTION_NOISE)
            and np.allclose(self.spacing, other.spacing, rtol=1e-3)
        )


def first_plane(geometry: ImageGeometry) -> Plane:
    """Return the first slice of a grid."""
    columns, rows, _ = geometry.size
    axes = np.reshape(geometry.direction, (3, 3))
    spacing = (geometry.spacing[0], geometry.spacing[1])
    return Plane(np.array(geometry.origin), axes, spacing, (columns, rows))


def indices_on(geometry: ImageGeometry, points: Points) -> Points:
    """Convert (n, 3) positions in mm to continuous indices (x, y, z) of a grid."""
    away = np.asarray(points, np.float64) - geometry.origin
    return np.asarray(np.linalg.solve(voxel_axes(geometry), away.T).T, np.float64)


def voxel_axes(geometry: ImageGeometry) -> Points:
    """Return the vectors from a voxel to its next neighbours along each axis in mm, as columns."""
    return np.asarray(np.reshape(geometry.direction, (3, 3)) * geometry.spacing, np.float64)


def grid_of(slices: Sequence[Any], owner: str) -> tuple[ImageGeometry, list[int]]:
    """Return the grid of a series' slices, and their order along it."""
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
            "a slice has no valid position, orientation or pixel spacing: "
            f"{describe_without_values(error)}",
            owner=owner,
        ) from None


def _plane_axes(directions: Points, owner: str) -> Points:
    lengths = np.linalg.norm(directions, axis=1)
    cosine = float(directions[0] @ directions[1])
    # This form also rejects NaN.
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
    """Return the distance between slices, in mm."""
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
            f"slices lie {steps.min():g} to {steps.max():g} mm apart; a slice is missing "
            "or duplicated",
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
    offsets = indices_on(geometry, ends).reshape(wanted.shape) - wanted
    if np.abs(offsets).max() <= PLACE_NOISE:
        return
    worst = np.unravel_index(np.abs(offsets).argmax(), offsets.shape)
    where, voxels = "xyz"[worst[2]], float(np.abs(offsets[worst]))
    mm = voxels * geometry.spacing[worst[2]]
    reason = _shear_description(planes, geometry) or (
        f"{len(planes)} slices in steps of {geometry.spacing[2]:g} mm do not reach the position "
        f"of slice {worst[0] + 1}"
        if where == "z"
        else f"slice {worst[0] + 1} of {len(planes)} is shifted or rotated against the others"
    )
    raise GeometryError(
        f"its slices lie on no regular grid: {reason}, which displaces voxels by {mm:.3g} mm "
        f"({voxels:.2g} voxels along {where}). Resample the images to evenly "
        "stacked slices (converters to NIfTI correct gantry tilt) and outline those",
        owner=owner,
    )


def _shear_description(planes: Sequence[Plane], geometry: ImageGeometry) -> str:
    """Describe the in-plane shift from slice to slice if it is constant; otherwise ""."""
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
        f"each is shifted by {drift:.3g} mm against the one before (a gantry tilted by "
        f"{angle:.1f} degrees, or a drifting table)"
    )
