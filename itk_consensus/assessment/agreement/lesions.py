"""Agreement by object: detection F1, segmentation quality and panoptic quality.

Objects of two maps are paired one to one, in decreasing order of intersection over union, down to a
minimum; with a minimum of at least 0.5 the pairing is unique. F1 measures detection, segmentation
quality is the mean intersection over union of pairs, and panoptic quality is the product of the two
(Kirillov et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.escaping import csv_text

#: Boundaries between size classes, as equivalent sphere diameters in mm.
SIZE_LIMITS = (5.0, 10.0)

#: Overlaps are counted in a dense table if the number of possible object pairs does not exceed this
#: limit or the number of voxels that are foreground in both maps.
_FEW_PAIRS = 1 << 16

#: Name of the row for all objects, listed before the size classes.
ALL_SIZES = "all"


class PairedObjects(NamedTuple):
    """The paired objects of two maps, numbered from 0."""

    one: NDArray[np.int64]  #: (P,) objects of the first map
    other: NDArray[np.int64]  #: (P,) their partners in the second map
    iou: Floats  #: (P,) intersection over union
    #: Number of voxels of every object of each map
    sizes: tuple[NDArray[np.int64], NDArray[np.int64]]


class LesionAgreement(NamedTuple):
    """Agreement between two raters on the objects of one size class."""

    first: str
    second: str
    size: str  #: "all", or a range of equivalent sphere diameters in mm
    both: int  #: Number of objects marked by both raters
    only_first: int
    only_second: int
    f1: float  #: Detection F1; NaN if there are no objects
    segmentation_quality: float  #: Mean intersection over union of paired objects
    panoptic_quality: float
    dice: float  #: Mean Dice of paired objects
    #: Mean relative difference (first - second) / second of the volumes of paired objects.
    volume_difference: float


@dataclass(frozen=True)
class LesionAgreements:
    """Agreement of every pair of raters, including the reference if there is one."""

    rows: tuple[LesionAgreement, ...]

    def to_csv(self) -> str:
        """CSV text with a row for each pair and size class."""
        rows = [row._asdict() for row in self.rows]
        return csv_text(list(LesionAgreement._fields), rows)

    def to_pandas(self) -> object:
        """Return the rows as a pandas.DataFrame; requires pandas."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(LesionAgreement._fields))


def pair_objects(
    one: NDArray[np.int32], other: NDArray[np.int32], least_overlap: float = 0.5
) -> PairedObjects:
    """Pair the objects of two maps.

    Parameters
    ----------
    one, other : (\\*shape) ndarray of int
        Objects numbered from 1, without gaps; 0 is background.
    least_overlap : float
        Minimum intersection over union of a pair.
    """
    sizes = np.bincount(one.ravel())[1:], np.bincount(other.ravel())[1:]
    both = (one > 0) & (other > 0)
    codes = (one[both].astype(np.int64) - 1) * len(sizes[1]) + other[both] - 1
    if len(sizes[0]) * len(sizes[1]) <= max(codes.size, _FEW_PAIRS):
        counts = np.bincount(codes)
        code = np.flatnonzero(counts)
        shared = counts[code]
    else:
        code, shared = np.unique(codes, return_counts=True)
    first, second = np.divmod(code, max(len(sizes[1]), 1))
    iou = shared / (sizes[0][first] + sizes[1][second] - shared)
    taken = _pair_greedily(first, second, iou, least_overlap)
    return PairedObjects(first[taken], second[taken], iou[taken], sizes)


def _pair_greedily(
    first: NDArray[np.int64], second: NDArray[np.int64], iou: Floats, least: float
) -> list[int]:
    used: tuple[set[int], set[int]] = set(), set()
    taken = []
    for pair in np.lexsort((second, first, -iou)).tolist():
        a, b = int(first[pair]), int(second[pair])
        if iou[pair] < least or a in used[0] or b in used[1]:
            continue
        used[0].add(a)
        used[1].add(b)
        taken.append(pair)
    return taken


def agreement_by_size(
    names: tuple[str, str],
    pairs: PairedObjects,
    sides: Sequence[float],
    limits: Sequence[float] = SIZE_LIMITS,
) -> list[LesionAgreement]:
    """Summarise the agreement on all objects, then on those of each size class.

    The size of a pair is that of the second rater's object.

    Parameters
    ----------
    sides : sequence of float
        Voxel size in mm along the spatial axes.
    limits : sequence of float
        Boundaries between size classes, in increasing order: equivalent sphere diameters in mm.
    """
    classes = [np.searchsorted(limits, _diameters(size, sides)) for size in pairs.sizes]
    alone = [
        np.setdiff1d(np.arange(len(size)), own)
        for size, own in zip(pairs.sizes, (pairs.one, pairs.other), strict=True)
    ]
    rows = [_row(names, ALL_SIZES, pairs, slice(None), [len(own) for own in alone])]
    for number, text in enumerate(_classes(limits)):
        of_class = classes[1][pairs.other] == number
        counts = [
            int(np.count_nonzero(kinds[own] == number))
            for kinds, own in zip(classes, alone, strict=True)
        ]
        rows.append(_row(names, text, pairs, of_class, counts))
    return rows


def _classes(limits: Sequence[float]) -> list[str]:
    """Return the names of the size classes between limits; empty if there are no limits."""
    if not limits:
        return []
    edges = [f"{limit:g}" for limit in limits]
    between = [f"{low} to {high} mm" for low, high in pairwise(edges)]
    return [f"up to {edges[0]} mm", *between, f"over {edges[-1]} mm"]


def _row(
    names: tuple[str, str],
    size: str,
    pairs: PairedObjects,
    chosen: slice | NDArray[np.bool_],
    alone: Sequence[int],
) -> LesionAgreement:
    iou = pairs.iou[chosen]
    voxels = pairs.sizes[0][pairs.one[chosen]], pairs.sizes[1][pairs.other[chosen]]
    total = 2 * len(iou) + sum(alone)
    f1 = 2 * len(iou) / total if total else float("nan")
    quality = _mean(iou)
    return LesionAgreement(
        names[0],
        names[1],
        size,
        len(iou),
        alone[0],
        alone[1],
        f1,
        quality,
        f1 * quality if len(iou) else f1,
        _mean(2 * iou / (1 + iou)),
        _mean((voxels[0] - voxels[1]) / np.maximum(voxels[1], 1)),
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _diameters(voxels: NDArray[np.int64], sides: Sequence[float]) -> Floats:
    """Return the diameters in mm of spheres with the volumes of objects of these voxel counts."""
    axes = len(sides)
    ball = {1: 1.0, 2: np.pi / 4, 3: np.pi / 6}[axes]
    return np.asarray((voxels * np.prod(sides) / ball) ** (1 / axes))
