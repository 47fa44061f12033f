"""Measure how every fuser's run time grows with raters and labels, compared with limits.

Growth is the ratio of the processor times of two runs on atlas phantoms of the same size, one of
them with twice the raters or four times the labels. The number of patterns, which is at most the
number of disputed voxels, grows with both. If the number of EM iterations grows too, a note gives
the growth per iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, NamedTuple

from examples.benchmarks.speed.volumes import ATLAS_SEED, CONTOUR_ERROR, raters
from examples.benchmarks.speed.waiting import Row, Shape, Wait, least, row_of
from itk_consensus.methods.registry import FUSER_MODULES, load_filter, short_name
from itk_consensus.simulation.atlas_phantoms import AtlasCase, atlas_case

#: Filters that require images.
WITH_IMAGES = ("LocallyWeightedVoteFilter", "JointLabelFusionFilter")
#: Accepts two labels only.
BINARY = "STAPLEImageFilter"
MOST_GROWTH = {"raters": 2.5, "labels": 5.0}


class Numbers(NamedTuple):
    """Numbers of raters and labels in the smaller and in the larger run."""

    raters: tuple[int, int] = (20, 40)
    labels_of_raters: int = 100
    labels: tuple[int, int] = (50, 200)
    raters_of_labels: int = 15


def growth_of_fusers(shape: Shape, numbers: Numbers, rounds: int, named: str = "") -> Iterator[Row]:
    """Yield a row for every fuser and axis, or for those whose names contain a word."""
    for name in (*FUSER_MODULES, *WITH_IMAGES):
        if named not in name:
            continue
        few, many = ((numbers.labels_of_raters, number) for number in numbers.raters)
        yield _grown(name, "raters", shape, few, many, rounds)
        if name != BINARY:
            few, many = ((number, numbers.raters_of_labels) for number in numbers.labels)
            yield _grown(name, "labels", shape, few, many, rounds)


def _grown(
    name: str, axis: str, shape: Shape, few: tuple[int, int], many: tuple[int, int], rounds: int
) -> Row:
    """Return the growth of one fuser's run time from the smaller to the larger (labels, raters)."""
    fusers, seconds = [], []
    for labels, number in (few, many):
        fuser, maps = _fuser_and_maps(name, shape, labels, number)
        seconds.append(least(partial(fuser.Execute, maps), rounds))
        fusers.append(fuser)
    start, end = (sizes[axis == "raters"] for sizes in (few, many))
    what = f"{short_name(name)}, {axis} {start} to {end}"
    row = row_of(Wait(what, "times", MOST_GROWTH[axis], None), seconds[1], seconds[0])
    before, after = (getattr(fuser, "ElapsedIterations", None) for fuser in fusers)
    if not (before and after):
        return row
    each = row["ratio"] * before / after
    return {**row, "note": f"{before} to {after} iterations, {each:.2f} times for each"}


def _fuser_and_maps(name: str, shape: Shape, labels: int, number: int) -> tuple[Any, list[Any]]:
    if name == BINARY:
        return load_filter(name)(), list(raters(CONTOUR_ERROR, shape, number))
    case = _case(shape, labels, number)
    images = {"Image": case.target, "AtlasImages": case.images} if name in WITH_IMAGES else {}
    return load_filter(name)(**images), case.maps


@cache
def _case(shape: Shape, labels: int, number: int) -> AtlasCase:
    return atlas_case(ATLAS_SEED, shape, labels, number)
