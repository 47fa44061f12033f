"""Connected components that a fused label lost or gained relative to the raters' masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.space.blocks import Blocked, none_of
from itk_consensus.space.pieces import block_pieces, label_pieces, raters_by_piece
from itk_consensus.space.rater_field import pack_bits

#: Minimum size of a component; single voxels are attributed to contour noise.
LEAST_VOXELS = 2


class Component(NamedTuple):
    """Number of voxels, volume and position of a connected component."""

    voxels: int
    millilitres: float  #: Volume in ml; in 2D the slice is assumed to be 1 mm thick
    place: tuple[int, ...]  #: Array index of the component's voxel nearest to its centroid


class ChangedComponents(NamedTuple):
    """Lost components that most raters marked, and gained components that no rater marked."""

    lost: list[Component]
    gained: list[Component]


def changed_components(
    chosen: Mask, share: NDArray[np.floating[Any]], spacing: Sequence[float]
) -> ChangedComponents:
    """Return components of two or more voxels that were lost or gained.

    Parameters
    ----------
    chosen : (\\*shape) ndarray of bool
        Fused mask of one label.
    share : (\\*shape) ndarray
        Proportion of raters who marked the label.
    spacing : sequence of float
        Voxel size in mm. The first of four axes is time; voxels are not connected along it.
    """
    majority = share > 0.5 + 1e-9
    lost = lost_components(majority, chosen)
    gained = lost_components(chosen, share > 0)
    return ChangedComponents(
        describe_components(lost, spacing), describe_components(gained, spacing)
    )


def lost_components(mask: Mask, kept: Mask) -> Mask:
    """Apply `lost_pieces` to arrays."""
    return np.asarray(lost_pieces(Blocked.whole(mask), Blocked.whole(kept)).array())


def lost_pieces(mask: Blocked, kept: Blocked) -> Blocked:
    """Return the voxels of components of `mask` that are entirely lost and have at least two
    voxels.

    A face-connected component is lost if none of its voxels is kept; lost components that touch at
    edges or corners are joined before their size is checked.
    """
    if not mask.map(lambda here, there: here & ~there, kept).any():
        return none_of(mask.blocks)
    faces = block_pieces(mask, corners=False)
    gone = faces.without(kept)
    if not gone.any():
        return none_of(mask.blocks)
    pieces = block_pieces(faces.any_of(gone))
    return pieces.any_of(pieces.sizes >= LEAST_VOXELS)


def count_lone_components(raters: Mask) -> tuple[int, int]:
    """Count the components of the union of the raters' masks: those marked by one rater only, and
    all.

    Only components of at least two voxels are counted.

    Parameters
    ----------
    raters : (J, \\*shape) ndarray of bool
    """
    pieces = label_pieces(np.asarray(raters.any(axis=0)))
    large = pieces.sizes >= LEAST_VOXELS
    found, _ = raters_by_piece(pieces, pack_bits(raters), len(raters))
    lone = found.sum(axis=0) == 1
    return int(np.count_nonzero(lone & large)), int(np.count_nonzero(large))


def describe_components(mask: Mask, spacing: Sequence[float]) -> list[Component]:
    """Return the connected components of a mask (full connectivity), the largest first."""
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
