"""Lesion table: for each lesion, the raters who marked it, its size, position and probability."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.escaping import csv_text
from itk_consensus.methods.lesions.detection import Detection, Interval
from itk_consensus.methods.lesions.matching import LesionGroups


class Lesion(NamedTuple):
    """One object and its raters' marks."""

    number: int  #: Label in instance maps
    finders: tuple[int, ...]  #: Raters who marked the object
    there: float  #: Probability that the object is real
    kept: bool  #: Whether the object is in the consensus
    position: tuple[float, ...]  #: Centre in mm, in ITK's order (x, y, z)
    #: Volume marked by each rater, 0 if none; in ml, or mm^2 in 2D. A joined mark counts fully.
    volumes: tuple[float, ...]
    overlap: float  #: Mean Dice between its raters' marks; NaN if only one rater marked it
    split: tuple[int, ...]  #: Raters who drew the object in several pieces
    joined: tuple[int, ...]  #: Raters who drew the object together with another one


class ReaderDetection(NamedTuple):
    """Detection performance of a rater, with 95 % intervals."""

    found: int  #: Number of objects that the rater marked
    lone: int  #: Number of objects that no other rater marked
    sensitivity: Interval  #: Proportion of real objects that the rater marked
    false_finds: Interval  #: False marks per case


@dataclass(frozen=True)
class LesionTable:
    """The objects of one case, sorted by number of raters, then by size."""

    lesions: tuple[Lesion, ...]
    readers: int  #: Number of raters, J
    volume_unit: str  #: "ml", or "mm^2" for 2D images
    #: (G, J) whether each rater annotated each object's location; None: all did.
    looked: Mask | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.lesions)

    @property
    def found(self) -> Mask:
        """(G, J) whether a rater marked each object."""
        found = np.zeros((len(self.lesions), self.readers), bool)
        for row, lesion in zip(found, self.lesions, strict=True):
            row[list(lesion.finders)] = True
        return found

    @property
    def sizes(self) -> Floats:
        """(G,) mean volume over the raters who marked each object."""
        volumes = np.array([sum(lesion.volumes) for lesion in self.lesions], np.float64)
        return np.asarray(volumes / self.found.sum(axis=1))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per object; lists of raters are joined into strings."""
        return [
            {
                "lesion": one.number,
                "found_by": len(one.finders),
                "readers": _join_numbers(one.finders),
                "there": one.there,
                "kept": one.kept,
                **{f"{axis}_mm": at for axis, at in zip("xyzt", one.position, strict=False)},
                **{
                    f"volume_{rater}_{self.volume_unit}": volume
                    for rater, volume in enumerate(one.volumes)
                },
                "mean_dice": one.overlap,
                "split_by": _join_numbers(one.split),
                "joined_by": _join_numbers(one.joined),
            }
            for one in self.lesions
        ]

    def to_csv(self) -> str:
        """Return CSV text with one row per object."""
        rows = self.rows()
        return csv_text(list(rows[0]), rows) if rows else ""

    def to_json(self) -> str:
        """Return the fields of each object as JSON; NaN becomes null."""
        rows = [
            {name: _finite_or_none(value) for name, value in one._asdict().items()}
            for one in self.lesions
        ]
        content = {"readers": self.readers, "volume_unit": self.volume_unit, "lesions": rows}
        return json.dumps(content, indent=2, allow_nan=False)

    def to_frame(self) -> Any:
        """Return the rows as a pandas.DataFrame; requires pandas."""
        import pandas

        return pandas.DataFrame(self.rows())


def lesion_table(
    groups: LesionGroups,
    detection: Detection,
    threshold: float,
    position: Callable[[Any], tuple[float, ...]],
    voxel: tuple[float, str],
    looked: Mask | None = None,
) -> LesionTable:
    """Build the table of objects.

    Parameters
    ----------
    threshold : float
        Minimum probability of the objects that are kept.
    position : callable
        Maps an array index to a physical point in mm.
    voxel : tuple of float and str
        Size of a voxel, and its unit.
    """
    size, unit = voxel
    lesions = [
        Lesion(
            number + 1,
            _indices(groups.found[number]),
            float(detection.there[number]),
            bool(detection.there[number] >= threshold),
            position(groups.middle[number]),
            tuple((groups.voxels[number] * size).tolist()),
            float(groups.overlap[number]),
            _indices(groups.split[number]),
            _indices(groups.joined[number]),
        )
        for number in range(groups.number)
    ]
    return LesionTable(tuple(lesions), groups.found.shape[1], unit, looked)


def rater_detections(found: Mask, detection: Detection) -> tuple[ReaderDetection, ...]:
    """Return the detection performance of each rater.

    Parameters
    ----------
    found : (N, J) ndarray of bool
        Whether each rater marked each of the objects from which `detection` was estimated.
    """
    if not len(found):
        return ()
    lone = found[found.sum(axis=1) == 1].sum(axis=0)
    rates = zip(detection.sensitivity, detection.false_finds, strict=True)
    return tuple(
        ReaderDetection(int(found[:, rater].sum()), int(lone[rater]), *both)
        for rater, both in enumerate(rates)
    )


def _indices(flags: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(flags).tolist())


def _join_numbers(raters: Sequence[int]) -> str:
    return " ".join(map(str, raters))


def _finite_or_none(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
