"""Division of shells around structures into parts that a reviewer would decide separately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.review.thickness import thickness_at
from itk_consensus.space.pieces import label_pieces

#: Places at least this many times as thick as the median disputed voxel form separate parts.
_THICK = 3.0
#: A region longer than this many times its thickness may surround a structure.
_LONG = 8.0
#: Maximum number of voxels whose neighbours are examined.
_ASKED = 200_000
#: Regions with fewer voxels than this are not divided.
_LARGE = 300
#: Parts below this share of their region, or below this number of voxels, join a neighbouring part.
_LEAST_SHARE, _LEAST_VOXELS = 0.05, 20


def cut_shells(
    volume: NDArray[np.uint32], consensus: NDArray[Any], spacing: Sequence[float]
) -> NDArray[np.int64]:
    """Number the parts of regions: thick places are separate, and shells are divided by side.

    Parameters
    ----------
    volume : (\\*shape) ndarray
        The number of each voxel's region; 0 where there is no dispute.
    consensus : (\\*shape) ndarray
        The consensus; shells surround its connected components.
    spacing : sequence of float
        Voxel size in ITK's order, the last array axis first.

    Returns
    -------
    (N,) ndarray
        The number of each disputed voxel's part, in C order; parts are numbered from 1 in the order
        of their first voxels. A part is connected, and lies within one region.
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
    # Specks are assigned the kind of most of their neighbours within the region.
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
    """Return the (N,) connected components of equal kinds, from 0."""
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
    """Return the (N,) side (of six) of the structure on which a voxel lies; 0 if undivided."""
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
    boxes = structures.bounds.reshape(-1, 4, 2)[:, 1:]  # the last three axes only
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
    """Return six (N,) arrays of face neighbours as flat indices; the voxel itself at a border."""
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
    """Return the (N,) consensus component that a voxel's region is in or mostly touches; 0
    if none.
    """
    flat = structures.reshape(-1)
    step = max(1, places.size // _ASKED)  # a sample suffices for large regions
    some = places[::step]
    pairs = np.concatenate(
        [np.stack([region[::step], flat[one]]) for one in (some, *_neighbours(some, shape))], axis=1
    )
    pairs = pairs[:, pairs[1] > 0]
    most = np.zeros(int(region.max()) + 1, np.int64)
    if pairs.size:
        span = int(pairs[1].max()) + 1
        found, counts = np.unique(pairs[0] * span + pairs[1], return_counts=True)
        # the largest count is last and overwrites the others
        order = np.argsort(counts, kind="stable")
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
    """Return the kinds after each speck was assigned the most frequent kind of adjacent
    voxels in its region.
    """
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
