"""Connected components that a fused label lost, or gained, against its raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Mask

#: Single voxels are contour noise, not components.
LEAST_VOXELS = 2

#: Voxels that are counted at a time.
VOXELS_AT_ONCE = 1 << 20


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
    time_axis = len(spacing) > 3
    majority = share > 0.5 + 1e-9
    lost = lost_components(majority, chosen, time_axis)
    gained = lost_components(chosen, share > 0, time_axis)
    return ChangedComponents(
        describe_components(lost, spacing), describe_components(gained, spacing)
    )


def lost_components(mask: Mask, kept: Mask, time_axis: bool = False) -> Mask:
    """Voxels of components of `mask`, two or more voxels large, of which nothing is kept.

    A component is lost if none of it is kept, whether voxels connect by faces only or by corners
    too: pieces lost side by side, or hanging on a kept one by a corner, all count.
    """
    lost = np.zeros(mask.shape, bool)
    if not (mask & ~kept).any():
        return lost
    faces, number = scipy.ndimage.label(mask, _structure(mask.ndim, 1, time_axis))
    gone = np.ones(number + 1, bool)
    gone[faces[kept & mask]] = False
    gone[0] = False
    if not gone.any():
        return lost
    pieces, number = scipy.ndimage.label(gone[faces], _structure(mask.ndim, mask.ndim, time_axis))
    large = piece_sizes(pieces, number) >= LEAST_VOXELS
    large[0] = False
    return np.asarray(large[pieces])


def piece_sizes(pieces: NDArray[Any], number: int) -> NDArray[np.int64]:
    """(number + 1,) voxels of each piece; some planes at a time, since counting widens indices."""
    sizes = np.zeros(number + 1, np.int64)
    flat = pieces.reshape(-1)
    for first in range(0, flat.size, VOXELS_AT_ONCE):
        part = flat[first : first + VOXELS_AT_ONCE]
        sizes += np.bincount(part, minlength=number + 1)
    return sizes


def count_lone_components(raters: Mask, time_axis: bool = False) -> tuple[int, int]:
    """Pieces of what any rater marked, two or more voxels large: marked by one rater only, and all.

    Parameters
    ----------
    raters : (J, \\*shape) ndarray of bool
    """
    union = raters.any(axis=0)
    pieces, number = scipy.ndimage.label(union, _structure(union.ndim, union.ndim, time_axis))
    large = np.bincount(pieces.ravel(), minlength=number + 1) >= LEAST_VOXELS
    large[0] = False
    # Where two raters meet they have both found it; of the few other pieces finders are counted.
    met = pieces[raters.sum(axis=0, dtype=np.uint16) > 1]
    apart = large & (np.bincount(met, minlength=number + 1) == 0)
    places = np.flatnonzero(apart[pieces])
    finders = np.zeros(number + 1, np.int64)
    for marked in raters.reshape(len(raters), -1)[:, places] if len(places) else ():
        found = pieces.reshape(-1)[places[marked]]
        finders += np.bincount(found, minlength=number + 1) > 0
    return int(np.count_nonzero(finders[apart] == 1)), int(np.count_nonzero(large))


def describe_components(mask: Mask, spacing: Sequence[float]) -> list[Component]:
    """Components of a mask, connected by faces, edges or corners, the largest first."""
    if not mask.any():
        return []
    pieces, _ = scipy.ndimage.label(mask, _structure(mask.ndim, mask.ndim, len(spacing) > 3))
    millilitres = float(np.prod(spacing[-3:])) / 1000
    found = []
    for number, box in enumerate(scipy.ndimage.find_objects(pieces), start=1):
        voxels = np.argwhere(pieces[box] == number)
        middle = np.square(voxels - voxels.mean(axis=0)).sum(axis=1).argmin()
        place = tuple(int(v) + part.start for v, part in zip(voxels[middle], box, strict=True))
        found.append(Component(len(voxels), len(voxels) * millilitres, place))
    return sorted(found, key=lambda component: (-component.voxels, component.place))


def connecting(dimension: int) -> Mask:
    """All neighbours of a voxel, by corners too; none in time, the first of four axes."""
    return _structure(dimension, dimension, dimension > 3)


def _structure(dimension: int, connectivity: int, time_axis: bool) -> Mask:
    """Neighbours of a voxel; none in time, the first axis."""
    structure = scipy.ndimage.generate_binary_structure(dimension, connectivity)
    if time_axis:
        structure[[0, -1]] = False
    return np.asarray(structure)
