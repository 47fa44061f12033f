"""Rasterise contours on slices with exact pixel coverage, preserving the contours' volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from itk_consensus.images.dicom.slice_contours import Points, SliceContours

#: Number of scan lines per row of pixels along which covered lengths are measured.
_LINES_PER_ROW = 16
#: Voxels with a coverage below the first or above the second value are always outside or inside,
#: regardless of the volume: smoothed contours around whole voxels cut off up to a quarter of a
#: voxel, and reading them must restore the same voxels.
_LEAST, _MOST = 0.26, 0.74
#: Shift of contours (x, y) in voxels. It is larger than the rounding of coordinates, so that for a
#: contour through voxel centres, one side is always inside and the opposite side outside.
_SHIFT = np.array([1e-3, 2e-3])


def rasterise(slices: Mapping[int, SliceContours], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Convert contours to a mask of the voxels they enclose.

    A voxel is inside if at least three quarters of it are enclosed, and outside if at most a
    quarter is. Of the voxels in between, the most enclosed ones are inside, as many as are needed
    to preserve the volume of the contours. Testing voxel centres instead would give structures a
    few voxels wide volumes that are wrong by 5 to 20 %, depending on their position on the grid.

    Lines and points enclose no area; the voxels through which they pass are marked. A contour about
    as large as one voxel inverts the voxel that contains its centre.

    Parameters
    ----------
    slices : mapping of slice number to contours
        Continuous indices (x, y); voxel 0 extends from -0.5 to 0.5.
    shape : (slices, rows, columns)
    """
    covered = np.zeros(shape)
    passed, inverted = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for height, drawn in slices.items():
        for line in drawn.lines:
            for piece in range(max(1, len(line) - 1)):
                passed[height] |= _pixels_on_line(line[piece : piece + 2], *shape[1:])
        areas = []
        for points in drawn.areas:
            if _is_one_voxel(points):
                middle = (points.min(axis=0) + points.max(axis=0)) / 2
                inverted[height] ^= _pixels_on_line(middle[None], *shape[1:])
            else:
                areas.append(points - _SHIFT)
        covered[height] = coverage(areas, *shape[1:])
    return ((_most_covered(covered) ^ inverted) | passed).astype(np.uint8)


def coverage(contours: Sequence[Points], rows: int, columns: int) -> Points:
    """Return the (rows, columns) fraction of each pixel inside an odd number of contours.

    Covered lengths are exact along each scan line.
    """
    lines, x = _crossings(contours, rows)
    order = np.lexsort((x, lines))
    lines, x = lines[order], x[order]
    # A closed contour crosses a line an even number of times, alternately entering and leaving.
    sign = np.where(np.arange(len(x)) % 2, -1.0, 1.0) / _LINES_PER_ROW
    edge = np.clip(x + 0.5, 0, columns)
    first = np.minimum(edge.astype(np.int64), columns)
    share = edge - first
    width = columns + 2
    place = (lines // _LINES_PER_ROW) * width + first
    steps = np.bincount(place, sign * (1 - share), rows * width)
    steps += np.bincount(place + 1, sign * share, rows * width)
    covered: Points = np.cumsum(steps.reshape(rows, width), axis=1, dtype=np.float64)
    return covered[:, :columns]


def _crossings(
    contours: Sequence[Points], rows: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the scan line number and x of every crossing of a scan line and a contour."""
    start = np.concatenate([np.empty((0, 2)), *contours])
    end = np.concatenate([np.empty((0, 2)), *(np.roll(one, -1, axis=0) for one in contours)])
    # In units of scan lines; line 0 lies half a unit below the upper edge of row 0.
    from_y = (start[:, 1] + 0.5) * _LINES_PER_ROW - 0.5
    to_y = (end[:, 1] + 0.5) * _LINES_PER_ROW - 0.5
    # Intervals are half-open, so a scan line through a vertex meets only one of its two edges.
    low, high = (
        np.clip(np.ceil(y), 0, rows * _LINES_PER_ROW).astype(np.int64)
        for y in (np.minimum(from_y, to_y), np.maximum(from_y, to_y))
    )
    met = high - low
    edge = np.repeat(np.arange(len(met)), met)
    line = np.arange(met.sum()) - np.repeat(np.cumsum(met) - met, met) + low[edge]
    along = (line - from_y[edge]) / (to_y[edge] - from_y[edge])
    return line, start[edge, 0] + along * (end[edge, 0] - start[edge, 0])


def _most_covered(covered: Points) -> NDArray[np.bool_]:
    """Return the voxels that are inside: as many partly covered ones as the total coverage."""
    inside = covered >= _MOST
    doubtful = np.flatnonzero((covered > _LEAST) & ~inside)
    wanted = max(0, round(covered.sum()) - np.count_nonzero(inside))
    order = np.argsort(-covered.flat[doubtful], kind="stable")
    inside.flat[doubtful[order[:wanted]]] = True
    return inside


def _is_one_voxel(points: Points) -> bool:
    """Whether a contour has the extent of one voxel and at least half its area (a diamond's)."""
    x, y = points.T
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    return bool(np.ptp(points, axis=0).max() < 1.01 and area > 0.49)


def _pixels_on_line(points: Points, rows: int, columns: int) -> NDArray[np.bool_]:
    """Return a mask of the pixels through which a line from the first to the last point passes."""
    passed = np.zeros((rows, columns), np.bool_)
    inside = _clip_line(points[0], points[-1], np.array([columns, rows], np.float64))
    if inside is None:
        return passed
    first, last = inside
    steps = 2 * int(np.ceil(np.abs(last - first).max())) + 1
    nearest = np.rint(first + np.linspace(0, 1, steps + 1)[:, None] * (last - first)).astype(int)
    is_on = ((nearest >= 0) & (nearest < (columns, rows))).all(axis=1)
    passed[nearest[is_on, 1], nearest[is_on, 0]] = True
    return passed


def _clip_line(first: Points, last: Points, size: Points) -> tuple[Points, Points] | None:
    """Clip a line to the box from -1 to `size`; return None if it lies outside."""
    along = last - first
    with np.errstate(divide="ignore", invalid="ignore"):
        edges = np.stack([-1 - first, size - first]) / along
    # Along an axis perpendicular to the line, it is either always inside or always outside.
    still = along == 0
    if (still & ((first < -1) | (first > size))).any():
        return None
    enters = max(0.0, edges.min(axis=0)[~still].max(initial=0.0))
    leaves = min(1.0, edges.max(axis=0)[~still].min(initial=1.0))
    return None if enters > leaves else (first + enters * along, first + leaves * along)
