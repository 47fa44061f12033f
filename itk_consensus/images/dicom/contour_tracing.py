"""Trace contours along voxel edges, which enclose exactly the voxels of a mask.

A hole is joined to the contour around it by a channel of zero width, the "keyhole" of the DICOM
standard, so that it remains a hole whether a program adds or inverts overlapping contours of a
slice. Smoothed contours cut the corners of voxels and have fewer points, within a given tolerance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
#: A corner of voxels, (row, column); the first voxel's corner nearest the origin is (1, 1).
_Corner = tuple[int, int]
_Ring = list[_Corner]

#: Steps east, south, west and north; each is a right turn from the previous one.
_STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


def outlines(
    plane: NDArray[np.bool_], smoothing: Smoothing | None = None, *, keyholes: bool = True
) -> list[Points]:
    """Trace closed contours around the voxels of a slice, one per connected component.

    Components are connected by edges, not by corners (4-neighbourhood).

    Parameters
    ----------
    keyholes : bool
        Whether to join holes to the contours around them; otherwise they become separate contours,
        which invert the area inside them.

    Returns
    -------
    list of (n, 2) ndarray
        Continuous indices (x, y) of corners; voxel 0 extends from -0.5 to 0.5.
    """
    rings = list(_rings(plane))
    if smoothing is not None or not keyholes:
        drawn = [_smooth(ring, smoothing) if smoothing else _turns(ring) for ring in rings]
        if keyholes:
            drawn = _join_holes(drawn, [_is_hole(ring) for ring in rings], rings)
        return [points[:, ::-1] - 1.5 for points in drawn]
    parts, _ = _parts(rings)
    return [_turns(ring)[:, ::-1] - 1.5 for ring in parts]


def _parts(rings: Sequence[_Ring]) -> tuple[list[_Ring], list[int]]:
    """Return the rings around components with holes joined, and each hole's component."""
    is_hole = [_is_hole(ring) for ring in rings]
    parts = [list(ring) for ring, hole in zip(rings, is_hole, strict=True) if not hole]
    owner = {corner: number for number, ring in enumerate(parts) for corner in ring}
    holes = {n: ring for n, ring in enumerate(rings) if is_hole[n]}
    owners = dict.fromkeys(holes, 0)
    # Sorted from left to right, so that the ring to the left of a hole has already been joined.
    for number, hole in sorted(holes.items(), key=lambda item: min(c for _, c in item[1])):
        row, column = start = min(hole, key=lambda corner: corner[::-1])
        while (row, column) not in owner:
            column -= 1
        part = owners[number] = owner[row, column]
        _join(parts[part], (row, column), hole, start)
        owner |= dict.fromkeys(hole, part)
    return parts, list(owners.values())


@dataclass(frozen=True)
class Smoothing:
    """Maximum distance of smoothed contours from the edges of voxels."""

    tolerance: float  #: mm
    spacing: tuple[float, float]  #: Spacing of rows and columns, in mm

    @property
    def cut(self) -> float:
        """Distance in mm of a voxel's corner from the line through the midpoints of its edges."""
        rows, columns = self.spacing
        return 0.5 * rows * columns / float(np.hypot(rows, columns))


def _smooth(ring: _Ring, smoothing: Smoothing) -> Points:
    """Simplify a ring through midpoints of edges to the fewest points within the tolerance."""
    corners = np.array(ring, float)
    middles: Points = (corners + np.roll(corners, -1, axis=0)) / 2
    scaled = middles * smoothing.spacing
    kept = _few_points(scaled, smoothing.tolerance - smoothing.cut)
    return middles[kept] if len(kept) > 2 else middles


def _few_points(points: Points, tolerance: float) -> NDArray[np.intp]:
    """Return the indices of ring points that are kept by Douglas-Peucker simplification."""
    away = np.linalg.norm(points - points[0], axis=1)
    middle = int(away.argmax())
    closed = np.concatenate([points, points[:1]])
    kept = {0, middle}
    ahead = [(0, middle), (middle, len(points))]
    while ahead:
        first, last = ahead.pop()
        if last - first < 2:
            continue
        distances = _to_segment(closed[first + 1 : last], closed[first], closed[last])
        farthest = int(distances.argmax())
        if distances[farthest] > tolerance:
            between = first + 1 + farthest
            kept.add(between)
            ahead += [(first, between), (between, last)]
    return np.array(sorted(kept), np.intp)


def _to_segment(points: Points, start: Points, end: Points) -> Points:
    along = end - start
    length = float(along @ along)
    share = np.clip((points - start) @ along / length, 0, 1) if length else np.zeros(len(points))
    distances: Points = np.linalg.norm(points - start - share[:, None] * along, axis=1)
    return distances


def _join_holes(
    drawn: Sequence[Points], is_hole: Sequence[bool], rings: Sequence[_Ring]
) -> list[Points]:
    """Join each hole to the surrounding ring at the points where both are nearest."""
    _, owners = _parts(rings)
    parts = [points for points, hole in zip(drawn, is_hole, strict=True) if not hole]
    holes = [points for points, hole in zip(drawn, is_hole, strict=True) if hole]
    for hole, owner in zip(holes, owners, strict=True):
        part = parts[owner]
        apart = np.linalg.norm(part[:, None] - hole[None], axis=2)
        at, start = np.unravel_index(apart.argmin(), apart.shape)
        around = np.roll(hole, -int(start), axis=0)
        way = [part[: at + 1], around, around[:1], part[at:]]
        parts[owner] = np.concatenate(way)
    return parts


def _rings(plane: NDArray[np.bool_]) -> Iterator[_Ring]:
    """Yield the rings of corners, walked along edges with the voxels on the right."""
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
            # Try right turns first: if two voxels touch at a corner, the ring stays on its voxel.
            ways = [((heading + turn) % 4, row, column) for turn in (1, 0, 3)]
            way = next(way for way in ways if way == start or way in ahead)
        yield ring


def _is_hole(ring: _Ring) -> bool:
    """Whether a ring runs counterclockwise, as rings around holes do."""
    rows, columns = np.array(ring).T
    return bool(np.dot(rows, np.roll(columns, 1) - np.roll(columns, -1)) < 0)


def _join(ring: _Ring, at: _Corner, hole: _Ring, start: _Corner) -> None:
    """Insert a hole into a ring, by a path from a corner to the hole, around it and back."""
    first, where = hole.index(start), ring.index(at)
    ring[where:where] = [at, *hole[first:], *hole[:first], start]


def _turns(ring: _Ring) -> NDArray[Any]:
    """Return the corners at which a ring changes direction."""
    corners = np.array(ring)
    step = np.sign(np.roll(corners, -1, axis=0) - corners)
    turns: NDArray[Any] = corners[(step != np.roll(step, 1, axis=0)).any(axis=1)]
    return turns
