"""Lesions as a table: who marked each, how large, where, and whether it is there."""

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
    """One object, as its readers see it."""

    number: int  #: Its label in instance maps
    finders: tuple[int, ...]  #: Readers who marked it
    there: float  #: Probability that it is there
    kept: bool  #: Whether it is in the consensus
    position: tuple[float, ...]  #: Middle in mm, in ITK's order (x, y, z)
    #: Of each reader, 0 if it marked nothing; ml, or mm^2 in 2D. A joined mark counts whole.
    volumes: tuple[float, ...]
    overlap: float  #: Mean Dice between its readers' marks; NaN if one reader marked it
    split: tuple[int, ...]  #: Readers who drew it in several pieces
    joined: tuple[int, ...]  #: Readers who drew it as one with another object


class ReaderDetection(NamedTuple):
    """How a reader finds, with 95 % intervals."""

    found: int  #: Objects it marked
    lone: int  #: That nobody else marked
    sensitivity: Interval  #: Share found of what is there
    false_finds: Interval  #: Marks of what is not there, per case


@dataclass(frozen=True)
class LesionTable:
    """The objects of one case, those that most found first, then by size."""

    lesions: tuple[Lesion, ...]
    readers: int  #: J
    volume_unit: str  #: "ml", or "mm^2" for 2D images
    #: (G, J) who annotated where each object is; None: everybody.
    looked: Mask | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.lesions)

    @property
    def found(self) -> Mask:
        """(G, J) who marked each."""
        found = np.zeros((len(self.lesions), self.readers), bool)
        for row, lesion in zip(found, self.lesions, strict=True):
            row[list(lesion.finders)] = True
        return found

    @property
    def sizes(self) -> Floats:
        """(G,) mean volume of those who marked each."""
        volumes = np.array([sum(lesion.volumes) for lesion in self.lesions], np.float64)
        return np.asarray(volumes / self.found.sum(axis=1))

    def rows(self) -> list[dict[str, Any]]:
        """A row for each object; lists of readers as text, so that every cell is one value."""
        return [
            {
                "lesion": one.number,
                "found_by": len(one.finders),
                "readers": _listed(one.finders),
                "there": one.there,
                "kept": one.kept,
                **{f"{axis}_mm": at for axis, at in zip("xyzt", one.position, strict=False)},
                **{
                    f"volume_{reader}_{self.volume_unit}": volume
                    for reader, volume in enumerate(one.volumes)
                },
                "mean_dice": one.overlap,
                "split_by": _listed(one.split),
                "joined_by": _listed(one.joined),
            }
            for one in self.lesions
        ]

    def to_csv(self) -> str:
        """One row per object."""
        rows = self.rows()
        return csv_text(list(rows[0]), rows) if rows else ""

    def to_json(self) -> str:
        """The fields of each object; numbers that are undefined are null."""
        rows = [
            {name: _finite(value) for name, value in one._asdict().items()} for one in self.lesions
        ]
        content = {"readers": self.readers, "volume_unit": self.volume_unit, "lesions": rows}
        return json.dumps(content, indent=2, allow_nan=False)

    def to_frame(self) -> Any:
        """The rows as a pandas.DataFrame; needs pandas."""
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
    """Put together what is known of each object.

    Parameters
    ----------
    threshold : float
        Probability from which objects are kept.
    position : callable
        Takes an array index to mm.
    voxel : tuple of float and str
        The size of a voxel and its unit.
    """
    size, unit = voxel
    lesions = [
        Lesion(
            number + 1,
            _readers(groups.found[number]),
            float(detection.there[number]),
            bool(detection.there[number] >= threshold),
            position(groups.middle[number]),
            tuple((groups.voxels[number] * size).tolist()),
            float(groups.overlap[number]),
            _readers(groups.split[number]),
            _readers(groups.joined[number]),
        )
        for number in range(groups.number)
    ]
    return LesionTable(tuple(lesions), groups.found.shape[1], unit, looked)


def reader_detections(found: Mask, detection: Detection) -> tuple[ReaderDetection, ...]:
    """A row for each reader.

    Parameters
    ----------
    found : (N, J) ndarray of bool
        What `detection` was made from.
    """
    if not len(found):
        return ()
    lone = found[found.sum(axis=1) == 1].sum(axis=0)
    rates = zip(detection.sensitivity, detection.false_finds, strict=True)
    return tuple(
        ReaderDetection(int(found[:, reader].sum()), int(lone[reader]), *both)
        for reader, both in enumerate(rates)
    )


def _readers(flags: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(flags).tolist())


def _listed(readers: Sequence[int]) -> str:
    return " ".join(map(str, readers))


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value
