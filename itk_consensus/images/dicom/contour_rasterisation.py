"""Contours drawn on slices, as voxels: exact in area, faithful in volume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from itk_consensus.images.dicom.slice_contours import Points, SliceContours

#: Lines across each row of pixels along which covered lengths are measured.
_LINES_PER_ROW = 16
#: Voxels covered less or more than this are outside or inside, whatever the volume says: contours
#: traced around whole voxels cut up to a quarter off them, and must give these voxels back.
_LEAST, _MOST = 0.26, 0.74
#: Contours are moved by this part of a voxel, more than their digits are uncertain, so that where
#: they run through the centres of voxels one side is inside and the opposite side is not.
_SHIFT = np.array([1e-3, 2e-3])


def rasterised(slices: Mapping[int, SliceContours], shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Voxels that contours enclose.

    A voxel is inside if three quarters of it are enclosed and outside if no more than a quarter
    is; of those between, the most enclosed are inside, as many as give the structure the volume
    of its contours. Testing the centres of voxels instead gives bodies a few voxels
    wide volumes that are 5 to 20 % off, this way or that, depending on where they lie.

    Lines and points enclose nothing; the voxels they pass through are marked. A
    contour about as large as one voxel inverts the voxel in which its middle lies.

    Parameters
    ----------
    slices : mapping of slice number to contours
        Continuous indices (x, y); voxel 0 reaches from -0.5 to 0.5.
    shape : (slices, rows, columns)
    """
    covered = np.zeros(shape)
    passed, inverted = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for height, drawn in slices.items():
        for line in drawn.lines:
            for piece in range(max(1, len(line) - 1)):
                passed[height] |= _passed(line[piece : piece + 2], *shape[1:])
        areas = []
        for points in drawn.areas:
            if _is_one_voxel(points):
                middle = (points.min(axis=0) + points.max(axis=0)) / 2
                inverted[height] ^= _passed(middle[None], *shape[1:])
            else:
                areas.append(points - _SHIFT)
        covered[height] = coverage(areas, *shape[1:])
    return ((_most_covered(covered) ^ inverted) | passed).astype(np.uint8)


def coverage(contours: Sequence[Points], rows: int, columns: int) -> Points:
    """How much of each pixel lies within an odd number of contours, shape (rows, columns).

    Along each line across a row the covered lengths are exact.
    """
    lines, x = _crossings(contours, rows)
    order = np.lexsort((x, lines))
    lines, x = lines[order], x[order]
    # A closed contour crosses a line an even number of times: enter, leave, enter, leave ...
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
    """Where lines cross contours: the number of the line, and x, for every crossing."""
    start = np.concatenate([np.empty((0, 2)), *contours])
    end = np.concatenate([np.empty((0, 2)), *(np.roll(one, -1, axis=0) for one in contours)])
    # In units of lines, of which line 0 lies half a unit below the upper edge of row 0.
    from_y = (start[:, 1] + 0.5) * _LINES_PER_ROW - 0.5
    to_y = (end[:, 1] + 0.5) * _LINES_PER_ROW - 0.5
    # Half open, so that a line through a corner meets one of its two edges.
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
    """Voxels that are inside, as many as their coverage amounts to where that is in doubt."""
    inside = covered >= _MOST
    doubtful = np.flatnonzero((covered > _LEAST) & ~inside)
    wanted = max(0, round(covered.sum()) - np.count_nonzero(inside))
    order = np.argsort(-covered.flat[doubtful], kind="stable")
    inside.flat[doubtful[order[:wanted]]] = True
    return inside


def _is_one_voxel(points: Points) -> bool:
    """Whether a contour has the extent of a voxel, and half its area, as a diamond has."""
    x, y = points.T
    area = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    return bool(np.ptp(points, axis=0).max() < 1.01 and area > 0.49)


def _passed(points: Points, rows: int, columns: int) -> NDArray[np.bool_]:
    """The pixels that a line between points passes through."""
    passed = np.zeros((rows, columns), np.bool_)
    inside = _within(points[0], points[-1], np.array([columns, rows], np.float64))
    if inside is None:
        return passed
    first, last = inside
    steps = 2 * int(np.ceil(np.abs(last - first).max())) + 1
    nearest = np.rint(first + np.linspace(0, 1, steps + 1)[:, None] * (last - first)).astype(int)
    is_on = ((nearest >= 0) & (nearest < (columns, rows))).all(axis=1)
    passed[nearest[is_on, 1], nearest[is_on, 0]] = True
    return passed


def _within(first: Points, last: Points, size: Points) -> tuple[Points, Points] | None:
    """The part of a line that lies in a box from -1 to `size`, however long the line is."""
    along = last - first
    with np.errstate(divide="ignore", invalid="ignore"):
        edges = np.stack([-1 - first, size - first]) / along
    # Where a line does not move along an axis it never enters or leaves, or is never inside.
    still = along == 0
    if (still & ((first < -1) | (first > size))).any():
        return None
    enters = max(0.0, edges.min(axis=0)[~still].max(initial=0.0))
    leaves = min(1.0, edges.max(axis=0)[~still].min(initial=1.0))
    return None if enters > leaves else (first + enters * along, first + leaves * along)
