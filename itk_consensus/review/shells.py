"""Shells around structures, cut into parts that one would decide at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.review.thickness import thickness_at
from itk_consensus.space.pieces import label_pieces

#: What is this many times as thick as half of all that is disputed is decided by itself.
_THICK = 3.0
#: A region that is longer than so many times its thickness may go around a structure.
_LONG = 8.0
#: So many voxels are asked what lies beside them.
_ASKED = 200_000
#: A region of fewer voxels is decided at a glance.
_LARGE = 300
#: Smaller parts, of the region they would be cut from, stay with their neighbours.
_LEAST_SHARE, _LEAST_VOXELS = 0.05, 20


def cut_shells(
    volume: NDArray[np.uint32], consensus: NDArray[Any], spacing: Sequence[float]
) -> NDArray[np.int64]:
    """Number the parts of regions: thick places by themselves, and what goes around by its sides.

    Parameters
    ----------
    volume : (\\*shape) ndarray
        The number of each voxel's region, 0 where nothing is disputed.
    consensus : (\\*shape) ndarray
        Around the connected pieces of whose labels shells lie.
    spacing : sequence of float
        In the order of ITK: of the last axis first.

    Returns
    -------
    (N,) ndarray
        Of each disputed voxel in C order the number of its part, from 1 in the order of their
        first voxels. A part is connected, and lies within one region.
    """
    places = np.flatnonzero(volume)
    region = volume.reshape(-1)[places].astype(np.int64) - 1
    shape = (1, 1, 1, *volume.shape)[-3:]
    if volume.ndim > 3 or not places.size:
        return np.asarray(region + 1)
    thickness = thickness_at(places, region, shape, spacing)
    large = (np.bincount(region) >= _LARGE)[region]
    thick = thickness >= _THICK * np.median(thickness)
    side = _sides(places, region, thickness, consensus.reshape(shape), spacing)
    kind = large * (2 * side + thick)
    number = _connected(volume, places, region * 14 + kind)
    # Specks go to the kind that most of their neighbours within the region have.
    sizes = np.bincount(number)
    whole = np.bincount(region)[region]
    speck = large & (sizes[number] < np.maximum(_LEAST_VOXELS, _LEAST_SHARE * whole))
    if speck.any():
        kind = _joined(places, region, kind, number, speck, shape)
        number = _connected(volume, places, region * 14 + kind)
    return np.asarray(number + 1)


def _connected(
    volume: NDArray[np.uint32], places: NDArray[np.intp], kinds: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return (N,) pieces of equal kinds that touch, from 0."""
    _, kinds = np.unique(kinds, return_inverse=True)
    marked = np.zeros(volume.shape, np.uint32)
    marked.reshape(-1)[places] = kinds + 1
    return label_pieces(marked).places.reshape(-1)[places].astype(np.int64) - 1


def _sides(
    places: NDArray[np.intp],
    region: NDArray[np.int64],
    thickness: NDArray[np.float64],
    consensus: NDArray[Any],
    spacing: Sequence[float],
) -> NDArray[np.int64]:
    """(N,) which of six sides of its structure a voxel is on; 0 where a region has one side."""
    side = np.zeros(places.size, np.int64)
    where = np.stack(np.unravel_index(places, consensus.shape))
    number = int(region.max()) + 1
    order = np.argsort(region, kind="stable")
    begins = np.searchsorted(region[order], np.arange(number))
    low = np.minimum.reduceat(where[:, order], begins, axis=1)
    high = np.maximum.reduceat(where[:, order], begins, axis=1)
    steps = np.asarray(spacing[:3][::-1], float).reshape(-1, 1)
    steps = np.concatenate([np.ones((3 - len(steps), 1)), steps])
    length = np.linalg.norm((high - low + 1) * steps, axis=0)
    mean = np.bincount(region, thickness) / np.bincount(region)
    around = (length > _LONG * mean)[region]
    structures = label_pieces(consensus)
    beside = _structure_beside(places, region, structures.places, consensus.shape)
    boxes = structures.bounds.reshape(-1, 4, 2)[:, 1:]  # of the last three axes
    chosen = np.flatnonzero(around & (beside > 0))
    if chosen.size:
        box = boxes[beside[chosen] - 1]
        middle, half = box.mean(axis=2), np.maximum((box[..., 1] - box[..., 0]) / 2, 0.5)
        direction = (where[:, chosen].T + 0.5 - middle) / half
        axis = np.abs(direction).argmax(axis=1)
        is_far = direction[np.arange(chosen.size), axis] > 0
        side[chosen] = 1 + 2 * axis + is_far
    return side


def _neighbours(places: NDArray[np.intp], shape: Sequence[int]) -> list[NDArray[np.intp]]:
    """Six (N,) flat indices, of the voxels beside each; its own at the volume's edge."""
    found, stride = [], 1
    for length in reversed(shape):
        at = places // stride % length
        found.append(np.where(at > 0, places - stride, places))
        found.append(np.where(at + 1 < length, places + stride, places))
        stride *= length
    return found


def _structure_beside(
    places: NDArray[np.intp],
    region: NDArray[np.int64],
    structures: NDArray[np.int32],
    shape: Sequence[int],
) -> NDArray[np.int64]:
    """(N,) the piece of the consensus that a voxel's region is of, or touches most; 0 if none."""
    flat = structures.reshape(-1)
    step = max(1, places.size // _ASKED)  # of many, some say the same
    some = places[::step]
    pairs = np.concatenate(
        [np.stack([region[::step], flat[one]]) for one in (some, *_neighbours(some, shape))], axis=1
    )
    pairs = pairs[:, pairs[1] > 0]
    most = np.zeros(int(region.max()) + 1, np.int64)
    if pairs.size:
        span = int(pairs[1].max()) + 1
        found, counts = np.unique(pairs[0] * span + pairs[1], return_counts=True)
        order = np.argsort(counts, kind="stable")  # the largest last, which stays
        most[found[order] // span] = found[order] % span
    return most[region]


def _joined(
    places: NDArray[np.intp],
    region: NDArray[np.int64],
    kind: NDArray[np.int64],
    number: NDArray[np.int64],
    speck: NDArray[np.bool_],
    shape: Sequence[int],
) -> NDArray[np.int64]:
    """Return the kinds after each speck took that of most voxels of its region that touch it."""
    pairs = []
    small = np.flatnonzero(speck)
    for beside in _neighbours(places[small], shape):
        at = np.minimum(np.searchsorted(places, beside), places.size - 1)
        valid = (places[at] == beside) & ~speck[at] & (region[at] == region[small])
        pairs.append(np.stack([number[small[valid]], kind[at[valid]]]))
    touching = np.concatenate(pairs, axis=1)
    kind = kind.copy()
    if touching.size:
        found, counts = np.unique(touching[0] * 14 + touching[1], return_counts=True)
        order = np.argsort(counts, kind="stable")
        new = np.full(int(number.max()) + 1, -1)
        new[found[order] // 14] = found[order] % 14
        taken = small[new[number[small]] >= 0]
        kind[taken] = new[number[taken]]
    return kind
