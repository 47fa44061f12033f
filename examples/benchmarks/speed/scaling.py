"""Measure how STAPLE's run time on arrays grows with the number of voxels and of raters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from examples.benchmarks.speed.operations import OPERATIONS, STAPLE_ARRAYS
from examples.benchmarks.speed.timing import Effort, best_seconds
from examples.benchmarks.speed.volumes import (
    CONTOUR_ERROR,
    NOISY,
    Raters,
    json_stack,
    number_of_patterns,
    raters,
)

Row = dict[str, Any]

RATERS = 5
SIMPLEITK_STAPLE = "sitk.STAPLE"


class Point(NamedTuple):
    """One point of a curve."""

    operation: str
    kind: str
    stack: Raters

    def row(self, seconds: float) -> Row:
        """Return the row of this point in the results."""
        return {
            **json_stack(self.kind, self.stack[0].shape, len(self.stack)),
            "operation": self.operation,
            "patterns": number_of_patterns(self.stack),
            "seconds": seconds,
        }


def voxel_scaling(
    shapes: Sequence[tuple[int, ...]], simpleitk_up_to: int, effort: Effort
) -> Iterator[Row]:
    """Time five raters on volumes of increasing size; SimpleITK only up to a number of voxels."""
    points = [
        Point(STAPLE_ARRAYS, kind, raters(kind, shape, RATERS))
        for kind in (CONTOUR_ERROR, NOISY)
        for shape in shapes
    ]
    points += [
        Point(SIMPLEITK_STAPLE, kind, stack)
        for _, kind, stack in points
        if kind == CONTOUR_ERROR and stack[0].size <= simpleitk_up_to
    ]
    yield from _timed(points, effort)


def rater_scaling(shape: tuple[int, ...], numbers: Sequence[int], effort: Effort) -> Iterator[Row]:
    """Time an increasing number of raters on one volume; each set of raters extends the
    previous one.
    """
    points = [
        Point(STAPLE_ARRAYS, kind, raters(kind, shape, max(numbers))[:number])
        for kind in (CONTOUR_ERROR, NOISY)
        for number in numbers
    ]
    yield from _timed(points, effort)


def _timed(points: Sequence[Point], effort: Effort) -> Iterator[Row]:
    """Interleave the measurements of all points, so that noise affects all of them equally."""
    calls = {}
    for index, point in enumerate(points):
        operation = OPERATIONS[point.operation]
        calls[index] = partial(operation.run, operation.images(point.stack))
    seconds = best_seconds(calls, effort)
    for index, point in enumerate(points):
        yield point.row(seconds[index])
