"""Agreement by object: what both marked, panoptic quality, and outlines of what both found.

Two maps' objects are paired one to one, by the largest intersection over union first, from a least
one on; from one half on there is one way only. F1 counts pairs, the segmentation quality is
their mean intersection over union, and panoptic quality is the product (Kirillov et al. 2019).
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

#: Diameters of balls, in mm, between which objects are of one size.
SIZE_LIMITS = (5.0, 10.0)

#: Pairs of objects that are counted in a table; more only where so many voxels are shared.
_FEW_PAIRS = 1 << 16

#: Of the whole, beside classes of size.
ALL_SIZES = "all"


class PairedObjects(NamedTuple):
    """Objects of two maps, numbered from 0."""

    one: NDArray[np.int64]  #: (P,) of the first map, paired with
    other: NDArray[np.int64]  #: (P,) of the second
    iou: Floats  #: (P,)
    sizes: tuple[NDArray[np.int64], NDArray[np.int64]]  #: Voxels of all objects of each map


class LesionAgreement(NamedTuple):
    """How two readers agree about objects of one class of size."""

    first: str
    second: str
    size: str  #: "all", or diameters in mm
    both: int  #: Objects that both marked
    only_first: int
    only_second: int
    f1: float  #: Of detection; NaN if there is nothing to find
    segmentation_quality: float  #: Mean intersection over union of what both marked
    panoptic_quality: float
    dice: float  #: Mean of what both marked
    #: Mean of (first - second) / second, of what both marked.
    volume_difference: float


@dataclass(frozen=True)
class LesionAgreements:
    """Every pair of readers, and every reader with a reference."""

    rows: tuple[LesionAgreement, ...]

    def to_csv(self) -> str:
        """A row for each pair and class of size."""
        rows = [row._asdict() for row in self.rows]
        return csv_text(list(LesionAgreement._fields), rows)

    def to_pandas(self) -> object:
        """The rows as a pandas.DataFrame; needs pandas."""
        import pandas

        return pandas.DataFrame(self.rows, columns=list(LesionAgreement._fields))


def paired_objects(
    one: NDArray[np.int32], other: NDArray[np.int32], least_overlap: float = 0.5
) -> PairedObjects:
    """Pair the objects of two maps.

    Parameters
    ----------
    one, other : (\\*shape) ndarray of int
        Objects numbered from 1, without gaps; 0 is background.
    least_overlap : float
        Intersection over union.
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
    taken = _one_to_one(first, second, iou, least_overlap)
    return PairedObjects(first[taken], second[taken], iou[taken], sizes)


def _one_to_one(
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


def lesion_agreement(
    names: tuple[str, str],
    pairs: PairedObjects,
    sides: Sequence[float],
    limits: Sequence[float] = SIZE_LIMITS,
) -> list[LesionAgreement]:
    """All objects, then those of each class of size; of a pair the second reader's size counts.

    Parameters
    ----------
    sides : sequence of float
        Of a voxel, in mm, along axes of space.
    limits : sequence of float
        Diameters of balls in mm, increasing.
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
    """What the classes between limits are called; none without limits."""
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
    """Of the balls that have so many voxels, in mm."""
    axes = len(sides)
    ball = {1: 1.0, 2: np.pi / 4, 3: np.pi / 6}[axes]
    return np.asarray((voxels * np.prod(sides) / ball) ** (1 / axes))
