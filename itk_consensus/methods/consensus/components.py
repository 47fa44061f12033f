"""Connected components that a fused label lost, or gained, against its raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.space.pieces import finders_of, label_pieces
from itk_consensus.space.rater_field import pack_bits

#: Single voxels are contour noise, not components.
LEAST_VOXELS = 2


class Component(NamedTuple):
    """Where a component is and how large."""

    voxels: int
    millilitres: float  #: Of the voxel sides in mm; in 2D the slice counts as 1 mm thick
    place: tuple[int, ...]  #: Array index of the component's voxel nearest to its middle


class ChangedComponents(NamedTuple):
    """Components that most raters marked and the result lacks, and those that no rater marked."""

    lost: list[Component]
    gained: list[Component]


def changed_components(
    chosen: Mask, share: NDArray[np.floating[Any]], spacing: Sequence[float]
) -> ChangedComponents:
    """Components of two or more voxels that were lost or gained.

    Parameters
    ----------
    chosen : (\\*shape) ndarray of bool
        The answer for one label.
    share : (\\*shape) ndarray
        Share of the raters that mark the label.
    spacing : sequence of float
        Voxel sides in mm. The first of four axes is time, and connects nothing.
    """
    majority = share > 0.5 + 1e-9
    lost = lost_components(majority, chosen)
    gained = lost_components(chosen, share > 0)
    return ChangedComponents(
        describe_components(lost, spacing), describe_components(gained, spacing)
    )


def lost_components(mask: Mask, kept: Mask) -> Mask:
    """Voxels of components of `mask`, two or more voxels large, of which nothing is kept.

    A component is lost if none of it is kept, whether voxels connect by faces only or by corners
    too: pieces lost side by side, or hanging on a kept one by a corner, all count.
    """
    if not (mask & ~kept).any():
        return np.zeros(mask.shape, bool)
    faces = label_pieces(mask, corners=False)
    gone = faces.without(kept)
    if not gone.any():
        return np.zeros(mask.shape, bool)
    pieces = label_pieces(faces.any_of(gone))
    return pieces.any_of(pieces.sizes >= LEAST_VOXELS)


def count_lone_components(raters: Mask) -> tuple[int, int]:
    """Pieces of what any rater marked, two or more voxels large: marked by one rater only, and all.

    Parameters
    ----------
    raters : (J, \\*shape) ndarray of bool
    """
    pieces = label_pieces(np.asarray(raters.any(axis=0)))
    large = pieces.sizes >= LEAST_VOXELS
    found, _ = finders_of(pieces, pack_bits(raters), len(raters))
    lone = found.sum(axis=0) == 1
    return int(np.count_nonzero(lone & large)), int(np.count_nonzero(large))


def describe_components(mask: Mask, spacing: Sequence[float]) -> list[Component]:
    """Components of a mask, connected by faces, edges or corners, the largest first."""
    pieces = label_pieces(mask)
    millilitres = float(np.prod(spacing[-3:])) / 1000
    found = []
    for number in range(1, pieces.number + 1):
        box = pieces.box(number)
        voxels = np.argwhere(pieces.places[box] == number)
        middle = np.square(voxels - voxels.mean(axis=0)).sum(axis=1).argmin()
        place = tuple(int(v) + part.start for v, part in zip(voxels[middle], box, strict=True))
        found.append(Component(len(voxels), len(voxels) * millilitres, place))
    return sorted(found, key=lambda component: (-component.voxels, component.place))
