"""Grid of an image: size, spacing, origin and direction, and checks that grids agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from itk_consensus.core.array_types import VoxelSteps
from itk_consensus.core.errors import GeometryError


@dataclass(frozen=True)
class ImageGeometry:
    """The grid on which an image is sampled."""

    #: In ITK order (x, y, z); `origin` is the position of the first voxel in memory.
    size: tuple[int, ...]
    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: tuple[float, ...]  #: Direction cosines, row-major
    axes: tuple[str, ...] = ()  #: Names of the axes, if the library supports them

    extent_name: ClassVar[str] = "size"

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return len(self.size)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the voxel array: the size with its axes reversed (z, y, x)."""
        return self.size[::-1]

    @property
    def array_spacing(self) -> tuple[float, ...]:
        """Spacing in the axis order of the voxel array (z, y, x)."""
        return self.spacing[::-1]

    def position(self, index: Sequence[int]) -> tuple[float, ...]:
        """Return the position (x, y, z) in mm of the voxel with a given array index (z, y, x)."""
        steps = np.multiply(index[::-1], self.spacing)
        rotated = np.reshape(self.direction, (self.dimension, self.dimension)) @ steps
        return tuple((self.origin + rotated).tolist())

    def first_axes(self, most: int) -> ImageGeometry:
        """Return the geometry restricted to at most the given number of first axes (x, y, z)."""
        first, axes = slice(most), self.axes[:most]
        block = np.reshape(self.direction, (self.dimension, self.dimension))[first, first]
        direction = tuple(block.ravel().tolist())
        grid = self.size[first], self.spacing[first], self.origin[first]
        return ImageGeometry(*grid, direction, axes)

    @property
    def craniocaudal_axis(self) -> int:
        """The array axis closest to the patient's longitudinal axis (z); in 2D, the first axis."""
        if self.dimension < 3:
            return 0
        along = np.reshape(self.direction, (self.dimension, self.dimension))[2]
        return self.dimension - 1 - int(np.abs(along).argmax())

    @property
    def extent(self) -> str:
        """The size (for images) or shape (for arrays) with this word, for messages."""
        return f"{self.extent_name} {getattr(self, self.extent_name)}"

    def differences(
        self, other: ImageGeometry, coordinate_tolerance: float, direction_tolerance: float
    ) -> list[str]:
        """Return the fields in which `other` differs by more than the tolerances, with both values.

        As in ITK, origin and spacing may differ by `coordinate_tolerance` times the first
        spacing of this image, the direction cosines by `direction_tolerance`.
        """
        # Most grids are exactly equal, which can be checked quickly.
        if self == other and self.is_finite:
            return []
        if self.dimension != other.dimension:
            return [f"dimension {other.dimension} instead of {self.dimension}"]
        if self.axes and other.axes and self.axes != other.axes:
            return [f"axes {other.axes} instead of {self.axes}"]
        coordinate_limit = abs(coordinate_tolerance * self.spacing[0])
        limits = {
            self.extent_name: 0.0,
            "spacing": coordinate_limit,
            "origin": coordinate_limit,
            "direction": direction_tolerance,
        }
        return [
            f"{field} {getattr(other, field)} instead of {getattr(self, field)}"
            for field, limit in limits.items()
            if not _largest_difference(getattr(self, field), getattr(other, field)) <= limit
        ]

    @property
    def is_finite(self) -> bool:
        """Whether spacing, origin and direction are finite."""
        return bool(np.isfinite([*self.spacing, *self.origin, *self.direction]).all())

    def distance(self, other: ImageGeometry) -> float:
        """Return the largest distance between corresponding voxels of two equally large grids.

        The distance is in units of the smallest spacing. Small differences in spacing accumulate
        towards the last voxels.
        """
        ends = [(0, extent - 1) for extent in self.shape]
        corners = list(product(*ends))
        here, there = (np.array([one.position(at) for at in corners]) for one in (self, other))
        apart = there - here
        return float(np.linalg.norm(apart, axis=1).max() / np.abs(self.spacing).min())

    def gaps(self, other: ImageGeometry) -> tuple[float, float]:
        """Return the largest difference of origin and spacing (in spacings), and of direction."""
        apart = [
            _largest_difference(getattr(self, field), getattr(other, field))
            for field in ("origin", "spacing", "direction")
        ]
        return max(apart[:2]) / abs(self.spacing[0]), apart[2]

    def has_lost(self, other: ImageGeometry) -> bool:
        """Whether the geometry is `other` with some of its fields reset to their defaults."""
        fields = ("spacing", "origin", "direction")
        default = ArrayGeometry.of_shape(self.shape)
        differing = [name for name in fields if getattr(self, name) != getattr(other, name)]
        return self.size == other.size and all(
            getattr(self, name) == getattr(default, name) for name in differing
        )

    def is_flipped_or_permuted(self, other: ImageGeometry) -> bool:
        """Whether `other` has the same axes, but in another order or with opposite directions."""
        if self.dimension != other.dimension:
            return False
        square = (self.dimension, self.dimension)
        relative = np.reshape(self.direction, square).T @ np.reshape(other.direction, square)
        nearest = np.rint(relative)
        # If a component deviates by more than 0.1 (about six degrees), the axes are oblique, not
        # flipped.
        is_signed_permutation = np.allclose(relative, nearest, atol=0.1) and np.array_equal(
            np.abs(nearest) @ np.abs(nearest).T, np.eye(self.dimension)
        )
        return bool(is_signed_permutation and not np.array_equal(nearest, np.eye(self.dimension)))


@dataclass(frozen=True)
class ArrayGeometry(ImageGeometry):
    """Geometry of a plain array; messages contain its shape instead of ITK's size."""

    extent_name: ClassVar[str] = "shape"

    @property
    def array_spacing(self) -> tuple[float, ...]:
        """1 along each axis: the voxel size is unknown, so lengths are measured in voxels."""
        return VoxelSteps(self.spacing[::-1])

    @classmethod
    def of_shape(cls, shape: Sequence[int]) -> ArrayGeometry:
        """Make a geometry with unit spacing, zero origin and identity direction."""
        dimension = len(shape)
        return cls(
            size=tuple(int(extent) for extent in reversed(shape)),
            spacing=(1.0,) * dimension,
            origin=(0.0,) * dimension,
            direction=tuple(np.eye(dimension).ravel().tolist()),
        )


DEFAULT_TOLERANCE = 1e-6

#: Maximum distance, in voxels, between two headers of the same grid that rounding can explain.
LARGEST_HEADER_NOISE = 0.5


#: Maximum number of files, from the first, among which the majority is determined.
_MOST_COMPARED = 20


def odd_ones_out(
    geometries: Sequence[ImageGeometry], coordinate_tolerance: float, direction_tolerance: float
) -> tuple[int, dict[int, list[str]]]:
    """Find the images whose grid differs from that of the majority.

    Returns
    -------
    reference : int
        Index of the first image on the majority's grid; 0 if there is no majority.
    differences : dict of int to list of str
        For each image on another grid, its differences from the reference.
    """
    best: tuple[int, dict[int, list[str]]] = (0, {})
    for at, one in enumerate(geometries):
        found = {
            i: differences
            for i, other in enumerate(geometries)
            if (differences := one.differences(other, coordinate_tolerance, direction_tolerance))
        }
        is_usual = 2 * len(found) < len(geometries)
        if at == 0 or (is_usual and found):
            best = (at, found)
        if is_usual or at > _MOST_COMPARED:
            break
    return best


def check_same_space(
    geometries: Sequence[ImageGeometry],
    names: Sequence[str],
    *,
    owner: str,
    coordinate_tolerance: float = DEFAULT_TOLERANCE,
    direction_tolerance: float = DEFAULT_TOLERANCE,
) -> None:
    """Raise one `GeometryError` unless every image occupies the same space as the first.

    Parameters
    ----------
    names : sequence of str
        Name of each image in messages, e.g. ``"input 2"``.
    owner : str
        Name of the filter, used in messages.
    coordinate_tolerance, direction_tolerance : float
        As in ITK: relative to the first image's first spacing, and absolute.
    """
    tolerances = coordinate_tolerance, direction_tolerance
    for name, one in zip(names, geometries, strict=True):
        if not one.is_finite:
            raise GeometryError(
                f"{name} has no valid position: spacing {one.spacing}, origin {one.origin}, "
                f"direction {one.direction} must be finite numbers",
                owner=owner,
            )
    if not any(geometries[0].differences(one, *tolerances) for one in geometries[1:]):
        return
    at, strays = odd_ones_out(geometries, *tolerances)
    (stray, differences), *others = strays.items()
    name, reference = names[stray], names[at]
    more = [
        *([f"Nor does {_join_names([names[i] for i, _ in others])}."] if others else []),
        *_advice(geometries[at], geometries[stray], *tolerances, name, reference),
    ]
    what = f"{name} does not occupy the same space as {reference}: " + "; ".join(differences)
    lines = [f"{what}." if more else what, *more]
    raise GeometryError(
        "\n".join(lines), owner=owner, mentions=("CoordinateTolerance", "DirectionTolerance")
    )


#: Advice for an image that should have the geometry of another.
_COPY = "copy it, e.g. image.CopyInformation(first_image)"


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return f"{', '.join(names[:2])}{more}"


def _advice(
    first: ImageGeometry,
    other: ImageGeometry,
    coordinate_tolerance: float,
    direction_tolerance: float,
    name: str,
    first_name: str,
) -> list[str]:
    if isinstance(first, ArrayGeometry) or first.dimension != other.dimension:
        return []
    resample = (
        f"resample {name} onto {first_name} first, e.g. sitk.Resample(image, first_image, "
        "sitk.Transform(), sitk.sitkNearestNeighbor)."
    )
    if first.is_flipped_or_permuted(other):
        return [f"Their axes are flipped or permuted: {resample}"]
    if first.size != other.size:
        return [f"To fuse different grids, {resample}"]
    relative_gap, direction_gap = first.gaps(other)
    if (apart := first.distance(other)) > LARGEST_HEADER_NOISE:
        if other.has_lost(first):
            return [f"If only the header of {name} was reset, {_COPY}; otherwise {resample}"]
        return [f"They are {apart:.3g} voxels apart, more than rounding of headers: {resample}"]
    lines = []
    if relative_gap > coordinate_tolerance:
        lines.append(
            f"The coordinate tolerance is {coordinate_tolerance:g} of the spacing of {first_name} "
            f"along x; they differ by {relative_gap:.3g} of it. "
            + _how_to_raise("CoordinateTolerance", relative_gap)
        )
    if direction_gap > direction_tolerance:
        lines.append(
            f"The direction tolerance is {direction_tolerance:g}; they differ by "
            f"{direction_gap:.3g}. " + _how_to_raise("DirectionTolerance", direction_gap)
        )
    return lines


def _how_to_raise(tolerance: str, needed: float) -> str:
    enough = f"{1.1 * needed:.2g}"
    return (
        f"If that is rounding of headers, set {{{tolerance}}} to {enough}, or call "
        f"itk_consensus.ProcessObject.SetGlobalDefault{tolerance}({enough}) for every filter."
    )


def _largest_difference(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the largest |a_i - b_i|; NaN (accepted by no tolerance) if any coordinate is NaN."""
    apart = [abs(x - y) for x, y in zip(a, b, strict=True)]  # faster than NumPy for so few values
    return float("nan") if any(one != one for one in apart) else float(max(apart, default=0.0))
