"""Components that a fusion lost or gained against its raters, each with its place in mm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.fusion.coherence.rater_masks import RaterMasks
from itk_consensus.fusion.components import (
    ChangedComponents,
    Component,
    changed_components,
    count_lone_components,
)
from itk_consensus.images.geometry import ImageGeometry


class ListedComponent(NamedTuple):
    """A connected piece of a label, two or more voxels large.

    Attributes
    ----------
    label : int
    voxels : int
    millilitres : float
        In 2D the slice counts as 1 mm thick.
    position : tuple of float
        Of the voxel nearest to its middle, in mm and ITK's order (x, y, z).
    """

    label: int
    voxels: int
    millilitres: float
    position: tuple[float, ...]

    def __str__(self) -> str:
        place = ", ".join(f"{value:.4g}" for value in self.position)
        size = f"{self.voxels} voxels ({self.millilitres:.3g} ml)"
        return f"{size} of label {self.label} at ({place})"


class ListedComponents(NamedTuple):
    """What more than half of the raters mark and the answer lost; what nobody marks and it has."""

    lost: tuple[ListedComponent, ...]
    gained: tuple[ListedComponent, ...]


def listed_components(
    raters: RaterMasks, decision: NDArray[Any], labels: Sequence[int], geometry: ImageGeometry
) -> ListedComponents:
    """Components of all foreground labels, label by label, the largest first."""
    spacing = geometry.array_spacing
    changed: dict[int, ChangedComponents] = {
        index: changed_components(decision == index, raters.share(index), spacing)
        for index in range(1, len(labels))
    }

    def listed(index: int, found: list[Component]) -> Iterator[ListedComponent]:
        for voxels, millilitres, place in found:
            yield ListedComponent(labels[index], voxels, millilitres, geometry.position(place))

    return ListedComponents(
        tuple(row for index, found in changed.items() for row in listed(index, found.lost)),
        tuple(row for index, found in changed.items() for row in listed(index, found.gained)),
    )


def lone_components(raters: RaterMasks) -> tuple[int, int]:
    """Components of all foreground labels that one rater only marked, and all of them."""
    counts = [
        count_lone_components(np.asarray(raters.read(index) > 0.5), len(raters.shape) > 3)
        for index in range(1, raters.number_of_labels)
    ]
    return sum(lone for lone, _ in counts), sum(number for _, number in counts)
