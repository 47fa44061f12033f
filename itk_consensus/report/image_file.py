"""Describe image files: grid, pixel type, labels, and whether they share one physical space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import InputError
from itk_consensus.images import convert
from itk_consensus.images.geometry import ImageGeometry, odd_ones_out
from itk_consensus.images.kept_metadata import Keep
from itk_consensus.images.own_outputs import is_marked
from itk_consensus.report.text import format_extents, format_value, pluralize, section
from itk_consensus.votes.intensities import intensity_reason
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.voting import StackVote

_MOST_LABELS_LISTED = 12


@dataclass(frozen=True)
class ImageFile:
    """An image that was read from a file."""

    path: Path
    image: Any
    components: tuple[NDArray[Any], ...]  #: One read-only view per component
    geometry: ImageGeometry

    @classmethod
    def of(cls, path: Path, image: Any) -> ImageFile:
        """Create the description of an image that was read from `path`."""
        loaded = convert.load(image, owner=str(path), keep=Keep.NOTHING)
        components = tuple(array for array in loaded.arrays if array is not None)
        return cls(path, image, components, loaded.geometry)

    @property
    def is_own_output(self) -> bool:
        """Whether the file's metadata state that it was written by this package."""
        return hasattr(self.image, "GetMetaDataKeys") and is_marked(self.image)

    def without_voxels(self) -> ImageFile:
        """Return a copy without voxels, to free memory."""
        return replace(self, image=None, components=())

    def label_counts(self) -> list[dict[int, int]]:
        """Return voxel counts by label for each component; raise `InputError` if not a
        label image.
        """
        return [label_counts(array, str(self.path)) for array in self.components]

    def intensity_reason(self) -> str:
        """Return the reason why it looks like an intensity image; empty if it may be a
        label image.
        """
        return next(filter(None, map(intensity_reason, self.components)), "")

    def description(self) -> str:
        """Return a short block of text for ``itk-consensus info``."""
        grid, number = self.geometry, len(self.components)
        lines = [
            f"size {format_extents(grid.size)}, spacing {format_extents(grid.spacing)} mm, "
            f"origin {format_value(grid.origin)}, {_direction(grid)}",
            f"{self.components[0].dtype}, {pluralize(number, 'component')}",
        ]
        for index, array in enumerate(self.components):
            prefix = f"component {index}: " if number > 1 else ""
            lines.append(prefix + _contents(array, str(self.path)))
        return section(str(self.path), lines)


def label_counts(array: NDArray[Any], owner: str) -> dict[int, int]:
    """Return the number of voxels of each label that occurs in an array."""
    stack = LabelStack.multilabel([array], owner=owner)
    (counts,) = StackVote(stack).counts
    return {int(label): int(n) for label, n in zip(stack.labels, counts, strict=True) if n}


def label_sizes(counts: dict[int, int], geometry: ImageGeometry) -> list[dict[str, Any]]:
    """Return the number of voxels of each label and, for 2D and 3D images, its area or volume."""
    voxel = prod(geometry.spacing)
    rows: list[dict[str, Any]] = []
    for label, voxels in counts.items():
        row: dict[str, Any] = {"label": label, "voxels": voxels}
        if geometry.dimension == 3:
            row |= {"volume_mm3": voxels * voxel, "volume_ml": voxels * voxel / 1000}
        elif geometry.dimension == 2:
            row["area_mm2"] = voxels * voxel
        rows.append(row)
    return rows


def differences_in_space(
    files: Sequence[ImageFile], coordinate_tolerance: float, direction_tolerance: float
) -> list[tuple[ImageFile, str]]:
    """Return the files that are not on the most common grid, each with the reason as a sentence."""
    return usual_and_odd_files(files, coordinate_tolerance, direction_tolerance)[1]


def usual_and_odd_files(
    files: Sequence[ImageFile], coordinate_tolerance: float, direction_tolerance: float
) -> tuple[ImageFile, list[tuple[ImageFile, str]]]:
    """Return one file on the most common grid, and all files not on it, each with a reason."""
    at, strays = odd_ones_out(
        [file.geometry for file in files], coordinate_tolerance, direction_tolerance
    )
    usual = files[at]
    return usual, [
        (
            files[i],
            f"{files[i].path} does not occupy the same space as {usual.path}: {'; '.join(fields)}",
        )
        for i, fields in strays.items()
    ]


def _direction(geometry: ImageGeometry) -> str:
    if np.array_equal(geometry.direction, np.eye(geometry.dimension).ravel()):
        return "direction identity"
    return f"direction {format_value(geometry.direction)}"


def _contents(array: NDArray[Any], owner: str) -> str:
    why = intensity_reason(array)
    if why:
        return f"an image, no labels: {why}"
    try:
        counts = label_counts(array, owner)
    except InputError:
        low, high = np.nanmin(array), np.nanmax(array)
        return f"no label image: values from {low:g} to {high:g}"
    listed = [f"{label} ({n})" for label, n in list(counts.items())[:_MOST_LABELS_LISTED]]
    more = len(counts) - len(listed)
    tail = f" and {more} more up to {max(counts)}" if more else ""
    return f"labels (voxels): {', '.join(listed)}{tail}"
