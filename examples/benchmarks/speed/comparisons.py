"""Compare run times of STAPLE: with SimpleITK's, with twenty starts, and with reading images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from examples.benchmarks.speed.operations import FLOOR, OPERATIONS, STAPLE_ARRAYS, STARTS
from examples.benchmarks.speed.peak_memory import peak_bytes, save_raters
from examples.benchmarks.speed.timing import Effort, best_seconds
from examples.benchmarks.speed.volumes import (
    CONTOUR_ERROR,
    NOISY,
    ORGANS,
    json_stack,
    number_of_patterns,
    raters,
)

Row = dict[str, Any]


class Comparison(NamedTuple):
    """Two operations, and the requirement for their run times.

    `wanted` is "at least" (times faster than the reference) or "at most" (times its cost). The
    limits are requirements set, for two cores, before the first measurement.
    """

    ours: str
    reference: str
    wanted: str
    limit: float
    goal: float | None = None


SMALL_BINARY = (
    Comparison("STAPLE, SimpleITK images", "sitk.STAPLE", "at least", 30),
    Comparison("STAPLE, itk images", "sitk.STAPLE", "at least", 100),
    Comparison(STAPLE_ARRAYS, "sitk.STAPLE", "at least", 100),
    Comparison(f"STAPLE, arrays, {STARTS} starts", STAPLE_ARRAYS, "at most", 1.15),
)
SMALL_MULTILABEL = (
    Comparison("MultiLabelSTAPLE, SimpleITK images", "sitk.MultiLabelSTAPLE", "at least", 40),
    Comparison(
        f"MultiLabelSTAPLE, SimpleITK images, {STARTS} starts",
        "sitk.MultiLabelSTAPLE",
        "at least",
        40,
    ),
    Comparison("LabelVoting, SimpleITK images", "sitk.LabelVoting", "at least", 4),
)
LARGE_BINARY = (Comparison(STAPLE_ARRAYS, FLOOR, "at most", 2.5, goal=1.5),)

MEMORY_STACKS = ((CONTOUR_ERROR, 5), (NOISY, 16), (NOISY, 20))
MOST_NARROW_PATTERNS = 65_536


def small_volume(shape: tuple[int, ...], effort: Effort) -> Iterator[Row]:
    """Measure operations that SimpleITK also offers."""
    yield from compare(CONTOUR_ERROR, shape, 5, SMALL_BINARY, effort)
    yield from compare(ORGANS, shape, 5, SMALL_MULTILABEL, effort)


def large_volume(shape: tuple[int, ...], effort: Effort) -> Iterator[Row]:
    """Compare STAPLE with the minimum work that any fusion must do."""
    yield from compare(CONTOUR_ERROR, shape, 5, LARGE_BINARY, effort)


def compare(
    kind: str,
    shape: tuple[int, ...],
    number: int,
    comparisons: Sequence[Comparison],
    effort: Effort,
) -> Iterator[Row]:
    """Run the operations of several comparisons on one stack, alternating between them."""
    stack = raters(kind, shape, number)
    names = dict.fromkeys(name for c in comparisons for name in (c.ours, c.reference))
    calls = {name: partial(OPERATIONS[name].run, OPERATIONS[name].images(stack)) for name in names}
    outputs = {name: call() for name, call in calls.items()}
    differences = [_largest_difference(comparison, outputs) for comparison in comparisons]
    del outputs
    seconds = best_seconds(calls, effort)
    peaks = _peaks(list(names), kind, shape, number)
    for comparison, difference in zip(comparisons, differences, strict=True):
        ours, reference = seconds[comparison.ours], seconds[comparison.reference]
        faster = comparison.wanted == "at least"
        ratio = reference / ours if faster else ours / reference
        yield {
            **json_stack(kind, shape, number),
            **comparison._asdict(),
            "ours_seconds": ours,
            "reference_seconds": reference,
            "ratio": ratio,
            "met": ratio >= comparison.limit if faster else ratio <= comparison.limit,
            "ours_peak_bytes": peaks[comparison.ours],
            "reference_peak_bytes": peaks[comparison.reference],
            "largest_difference": difference,
        }


def extra_memory(shape: tuple[int, ...]) -> Iterator[Row]:
    """Measure STAPLE's memory on arrays beyond inputs and output, for few and for many patterns."""
    for kind, number in MEMORY_STACKS:
        # The raters of a shorter stack are the first ones of a longer stack, so noise is drawn
        # only once.
        longest = max(n for k, n in MEMORY_STACKS if k == kind)
        stack = raters(kind, shape, longest)[:number]
        patterns = number_of_patterns(stack)
        peak = _peaks([STAPLE_ARRAYS], kind, shape, longest, number)[STAPLE_ARRAYS]
        output = np.dtype(np.float64).itemsize * stack[0].size
        per_voxel = None if peak is None else (peak - output) / stack[0].size
        # There is one code per voxel, of 16 bits or, with more patterns, of 32 bits.
        limit = 2 if patterns <= MOST_NARROW_PATTERNS else 4
        yield {
            **json_stack(kind, shape, number),
            "ours": STAPLE_ARRAYS,
            "patterns": patterns,
            "bytes_per_voxel": per_voxel,
            "wanted": "at most",
            "limit": limit,
            "met": None if per_voxel is None else per_voxel <= limit,
        }


def _peaks(
    names: Sequence[str], kind: str, shape: tuple[int, ...], drawn: int, used: int | None = None
) -> dict[str, int | None]:
    with TemporaryDirectory() as folder:
        files = save_raters(raters(kind, shape, drawn)[:used], Path(folder))
        return {name: peak_bytes(name, kind, files) for name in names}


def _largest_difference(comparison: Comparison, outputs: dict[str, Any]) -> float | None:
    """Return the largest difference between two results; None if they need not be equal."""
    if not comparison.reference.startswith("sitk."):
        return None
    ours, reference = (
        OPERATIONS[name].as_array(outputs[name]).astype(np.float64)
        for name in (comparison.ours, comparison.reference)
    )
    return float(np.abs(ours - reference).max())
