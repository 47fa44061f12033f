"""Where an image lies in space: a frozen description without voxels, compared once per Execute."""

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
    """The grid an image is sampled on."""

    #: In ITK order (x, y, z); `origin` is the position of the first voxel in memory.
    size: tuple[int, ...]
    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: tuple[float, ...]  #: Direction cosines, row-major
    axes: tuple[str, ...] = ()  #: Names of the axes, of libraries that name them

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
        """Where the voxel with this array index (z, y, x) lies, in mm and ITK's order (x, y, z)."""
        steps = np.multiply(index[::-1], self.spacing)
        turned = np.reshape(self.direction, (self.dimension, self.dimension)) @ steps
        return tuple((self.origin + turned).tolist())

    def of_first_axes(self, most: int) -> ImageGeometry:
        """The grid of the first axes (x, y, z), at most so many."""
        first, axes = slice(most), self.axes[:most]
        turned = np.reshape(self.direction, (self.dimension, self.dimension))[first, first]
        direction = tuple(turned.ravel().tolist())
        placed = self.size[first], self.spacing[first], self.origin[first]
        return ImageGeometry(*placed, direction, axes)

    @property
    def craniocaudal_axis(self) -> int:
        """The array axis that runs most nearly along the patient, physical z; in 2D the first."""
        if self.dimension < 3:
            return 0
        along = np.reshape(self.direction, (self.dimension, self.dimension))[2]
        return self.dimension - 1 - int(np.abs(along).argmax())

    @property
    def extent(self) -> str:
        """The size, named as the owner of the image knows it."""
        return f"{self.extent_name} {getattr(self, self.extent_name)}"

    def differences(
        self, other: ImageGeometry, coordinate_tolerance: float, direction_tolerance: float
    ) -> list[str]:
        """Fields in which `other` lies elsewhere, each with its value and the one here.

        ITK's rule: origin and spacing may differ by `coordinate_tolerance` times the first
        spacing of this image, the direction cosines by `direction_tolerance`.
        """
        # Most grids are equal to the last digit, which is quickly seen.
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
        """Whether spacing, origin and direction are numbers."""
        return bool(np.isfinite([*self.spacing, *self.origin, *self.direction]).all())

    def distance(self, other: ImageGeometry) -> float:
        """How far apart the voxels of two grids of one size lie at most, in the shortest spacing.

        A spacing that differs by little moves the last voxels by much.
        """
        ends = [(0, extent - 1) for extent in self.shape]
        corners = list(product(*ends))
        here, there = (np.array([one.position(at) for at in corners]) for one in (self, other))
        apart = there - here
        return float(np.linalg.norm(apart, axis=1).max() / np.abs(self.spacing).min())

    def gaps(self, other: ImageGeometry) -> tuple[float, float]:
        """How far apart two of one dimension lie, in first spacings, and their directions."""
        apart = [
            _largest_difference(getattr(self, field), getattr(other, field))
            for field in ("origin", "spacing", "direction")
        ]
        return max(apart[:2]) / abs(self.spacing[0]), apart[2]

    def lost(self, other: ImageGeometry) -> bool:
        """Whether spacing, origin and direction are those of nothing, unlike another's."""
        fields = ("spacing", "origin", "direction")
        nothing = ArrayGeometry.of_shape(self.shape)
        differing = [name for name in fields if getattr(self, name) != getattr(other, name)]
        return self.size == other.size and all(
            getattr(self, name) == getattr(nothing, name) for name in differing
        )

    def is_flipped_or_permuted(self, other: ImageGeometry) -> bool:
        """Whether `other` runs along the same axes, but in another order or sense."""
        if self.dimension != other.dimension:
            return False
        square = (self.dimension, self.dimension)
        relative = np.reshape(self.direction, square).T @ np.reshape(other.direction, square)
        nearest = np.rint(relative)
        # An oblique pair is not a flip: 0.1 is about six degrees.
        is_signed_permutation = np.allclose(relative, nearest, atol=0.1) and np.array_equal(
            np.abs(nearest) @ np.abs(nearest).T, np.eye(self.dimension)
        )
        return bool(is_signed_permutation and not np.array_equal(nearest, np.eye(self.dimension)))


@dataclass(frozen=True)
class ArrayGeometry(ImageGeometry):
    """Geometry of a plain array, whose owner thinks in shapes and never sees an ITK size."""

    extent_name: ClassVar[str] = "shape"

    @property
    def array_spacing(self) -> tuple[float, ...]:
        """1 along each axis: lengths are in voxels, as the size of a voxel is not known."""
        return VoxelSteps(self.spacing[::-1])

    @classmethod
    def of_shape(cls, shape: Sequence[int]) -> ArrayGeometry:
        """Unit spacing, zero origin and identity direction for an array of this shape."""
        dimension = len(shape)
        return cls(
            size=tuple(int(extent) for extent in reversed(shape)),
            spacing=(1.0,) * dimension,
            origin=(0.0,) * dimension,
            direction=tuple(np.eye(dimension).ravel().tolist()),
        )


DEFAULT_TOLERANCE = 1e-6

#: How far apart, in voxels, headers of one and the same grid may write its place.
LARGEST_HEADER_NOISE = 0.5


#: Of more files, which of them agree is looked for among the first.
_MOST_COMPARED = 20


def odd_ones_out(
    geometries: Sequence[ImageGeometry], coordinate_tolerance: float, direction_tolerance: float
) -> tuple[int, dict[int, list[str]]]:
    """The first image of the grid that most have, and how each image elsewhere differs from it.

    Where no majority agrees, the first image is what others are compared with.
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
    """Raise one `GeometryError` unless every image occupies the space of the first.

    Parameters
    ----------
    names : sequence of str
        What to call each image in the message, e.g. ``"input 2"``.
    owner : str
        The filter that asks, for the message.
    coordinate_tolerance, direction_tolerance : float
        ITK's: relative to the first image's first spacing, and absolute.
    """
    tolerances = coordinate_tolerance, direction_tolerance
    for name, one in zip(names, geometries, strict=True):
        if not one.is_finite:
            raise GeometryError(
                f"{name} lies nowhere: spacing {one.spacing}, origin {one.origin}, direction "
                f"{one.direction} must be finite numbers",
                owner=owner,
            )
    if not any(geometries[0].differences(one, *tolerances) for one in geometries[1:]):
        return
    at, strays = odd_ones_out(geometries, *tolerances)
    (stray, differences), *others = strays.items()
    name, of = names[stray], names[at]
    lines = [
        f"{name} does not occupy the same space as {of}: " + "; ".join(differences),
        *([f"The same holds for {_listed([names[i] for i, _ in others])}."] if others else []),
        *_advice(geometries[at], geometries[stray], *tolerances, name, of),
    ]
    raise GeometryError(
        "\n".join(lines), owner=owner, mentions=("CoordinateTolerance", "DirectionTolerance")
    )


#: What gives an image the place of another.
_COPY = "copy it, e.g. image.CopyInformation(first_image)"


def _listed(names: Sequence[str]) -> str:
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
        if other.lost(first):
            return [f"If only the header of {name} lost its place, {_COPY}; otherwise {resample}"]
        return [f"They lie {apart:.3g} voxels apart, which is no header noise: {resample}"]
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
        f"If that is header noise, set {{{tolerance}}} to {enough}, or call "
        f"itk_consensus.ProcessObject.SetGlobalDefault{tolerance}({enough}) for every filter."
    )


def _largest_difference(a: Sequence[float], b: Sequence[float]) -> float:
    """Largest |a_i - b_i|; NaN, which no tolerance accepts, if any coordinate is NaN."""
    apart = [abs(x - y) for x, y in zip(a, b, strict=True)]  # so short that NumPy takes longer
    return float("nan") if any(one != one for one in apart) else float(max(apart, default=0.0))
