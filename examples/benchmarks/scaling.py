"""How the time of STAPLE on arrays grows with voxels and with raters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.operations import OPERATIONS, STAPLE_ARRAYS
from benchmarks.timing import Effort, best_seconds
from benchmarks.volumes import CONTOUR_ERROR, NOISY, Raters, json_stack, number_of_patterns, raters

Row = dict[str, Any]

RATERS = 5
SIMPLEITK_STAPLE = "sitk.STAPLE"


def voxel_scaling(
    shapes: Sequence[tuple[int, ...]], simpleitk_up_to: int, effort: Effort
) -> Iterator[Row]:
    """Five raters on growing volumes; SimpleITK too, up to a number of voxels."""
    for shape in shapes:
        for kind in (CONTOUR_ERROR, NOISY):
            stack = raters(kind, shape, RATERS)
            operations = [STAPLE_ARRAYS]
            if kind == CONTOUR_ERROR and stack[0].size <= simpleitk_up_to:
                operations.append(SIMPLEITK_STAPLE)
            for operation in operations:
                yield {
                    **json_stack(kind, shape, RATERS),
                    "operation": operation,
                    "seconds": _seconds(operation, stack, effort),
                }


def rater_scaling(shape: tuple[int, ...], numbers: Sequence[int], effort: Effort) -> Iterator[Row]:
    """Growing numbers of raters on one volume; the first raters are always the same."""
    for kind in (CONTOUR_ERROR, NOISY):
        stack = raters(kind, shape, max(numbers))
        for number in numbers:
            yield {
                **json_stack(kind, shape, number),
                "operation": STAPLE_ARRAYS,
                "patterns": number_of_patterns(stack[:number]),
                "seconds": _seconds(STAPLE_ARRAYS, stack[:number], effort),
            }


def _seconds(operation: str, stack: Raters, effort: Effort) -> float:
    tool = OPERATIONS[operation]
    call = partial(tool.run, tool.images(stack))
    return best_seconds({operation: call}, effort)[operation]
