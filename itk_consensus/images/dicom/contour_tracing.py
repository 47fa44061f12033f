"""Contours around voxels, along their edges: what they enclose is exactly these voxels.

A hole is joined to the contour around it by a channel without width, the "keyhole" of the DICOM
standard, so every reader sees it, whether overlapping contours of a slice are added or inverted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
#: A corner of voxels, (row, column); that of the first voxel towards the origin is (1, 1).
_Corner = tuple[int, int]
_Ring = list[_Corner]

#: Steps east, south, west and north, of which each is a turn to the right from the one before.
_STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


def outlines(plane: NDArray[np.bool_]) -> list[Points]:
    """Closed contours around the voxels of a slice, one for each part of it.

    Voxels that share an edge are one part; those that share a corner are two.

    Returns
    -------
    list of (n, 2) ndarray
        Continuous indices (x, y) of corners; voxel 0 reaches from -0.5 to 0.5.
    """
    rings = list(_rings(plane))
    is_hole = [_is_hole(ring) for ring in rings]
    parts = [ring for ring, hole in zip(rings, is_hole, strict=True) if not hole]
    owner = {corner: number for number, ring in enumerate(parts) for corner in ring}
    holes = [ring for ring, hole in zip(rings, is_hole, strict=True) if hole]
    # From the left, so that what lies left of a hole, a part or another hole, is there already.
    for hole in sorted(holes, key=lambda ring: min(column for _, column in ring)):
        row, column = start = min(hole, key=lambda corner: corner[::-1])
        while (row, column) not in owner:
            column -= 1
        part = owner[row, column]
        _join(parts[part], (row, column), hole, start)
        owner |= dict.fromkeys(hole, part)
    return [_turns(ring)[:, ::-1] - 1.5 for ring in parts]


def _rings(plane: NDArray[np.bool_]) -> Iterator[_Ring]:
    """Every corner on a walk along edges with voxels on the right."""
    inside = np.pad(np.asarray(plane, np.bool_), 1)
    here, above = inside[1:, 1:], inside[:-1, 1:]
    left, across = inside[1:, :-1], inside[:-1, :-1]
    starts = (here & ~above, left & ~here, across & ~left, above & ~across)
    ahead: set[tuple[int, int, int]] = {
        (heading, int(row) + 1, int(column) + 1)
        for heading, edges in enumerate(starts)
        for row, column in np.argwhere(edges)
    }
    while ahead:
        start = way = ahead.pop()
        ring: _Ring = []
        while not ring or way != start:
            ahead.discard(way)
            heading, row, column = way
            ring.append((row, column))
            row, column = row + _STEPS[heading][0], column + _STEPS[heading][1]
            # Right first: where voxels meet at a corner, one stays with the same voxel.
            ways = [((heading + turn) % 4, row, column) for turn in (1, 0, 3)]
            way = next(way for way in ways if way == start or way in ahead)
        yield ring


def _is_hole(ring: _Ring) -> bool:
    """Whether the walk goes around it to the left."""
    rows, columns = np.array(ring).T
    return bool(np.dot(rows, np.roll(columns, 1) - np.roll(columns, -1)) < 0)


def _join(ring: _Ring, at: _Corner, hole: _Ring, start: _Corner) -> None:
    """Make a hole part of a ring by going there from a corner, around it, and back."""
    first, where = hole.index(start), ring.index(at)
    ring[where:where] = [at, *hole[first:], *hole[:first], start]


def _turns(ring: _Ring) -> NDArray[Any]:
    """The corners of a ring at which the direction changes."""
    corners = np.array(ring)
    step = np.sign(np.roll(corners, -1, axis=0) - corners)
    turns: NDArray[Any] = corners[(step != np.roll(step, 1, axis=0)).any(axis=1)]
    return turns
