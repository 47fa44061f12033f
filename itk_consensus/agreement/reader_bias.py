"""Who draws generously, and where: each rater's contour against a consensus, in mm, by direction.

A surface is made of the faces between a voxel inside and one outside. Where a rater draws wider,
each face of the rater's surface lies as far out as the voxel behind it is from the consensus; where
the rater draws tighter, each face of the consensus as far out as the voxel behind it is from the
rater's mask. Both are distances to a mask from outside of it, which are exact however thick the
slices and thin the mask; what faces both share has not moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats, Mask
from itk_consensus.escaping import csv_text
from itk_consensus.neighbourhood.boxes import Box
from itk_consensus.neighbourhood.distance import signed_distance

#: Towards which a surface faces, below and above 0 along each physical axis (ITK's: x to the left,
#: y to the back, z to the head).
PATIENT_DIRECTIONS = (("right", "left"), ("anterior", "posterior"), ("caudal", "cranial"))
FLAT_DIRECTIONS = (("-x", "+x"), ("-y", "+y"))


@dataclass(frozen=True)
class Faces:
    """Faces between a mask and what lies outside."""

    behind: NDArray[np.intp]  #: (F,) flat index of the voxel inside
    beyond: NDArray[np.intp]  #: (F,) of the voxel outside
    areas: Floats  #: (F,) in mm² (mm in 2D)

    @classmethod
    def of(cls, mask: Mask, spacing: Sequence[float]) -> Faces:
        """The faces of a mask that does not touch the border of its array."""
        places = np.arange(mask.size).reshape(mask.shape)
        behind, beyond, areas = [], [], []
        for axis, step in enumerate(spacing):
            along, numbers = (np.moveaxis(array, axis, 0) for array in (mask, places))
            for one, other in ((np.s_[:-1], np.s_[1:]), (np.s_[1:], np.s_[:-1])):
                faces = along[one] & ~along[other]
                behind.append(numbers[one][faces])
                beyond.append(numbers[other][faces])
                areas.append(np.full(np.count_nonzero(faces), prod(spacing) / step))
        return cls(*(np.concatenate(parts) for parts in (behind, beyond, areas)))


@dataclass(frozen=True)
class Displacement:
    """How far a rater's contour lies outside the consensus, face by face."""

    places: NDArray[np.intp]  #: (F,) flat index of the voxel behind each face
    areas: Floats  #: (F,) in mm² (mm in 2D)
    millimetres: Floats  #: (F,) below 0: inside


@dataclass(frozen=True)
class ConsensusSurface:
    """A consensus, and which way its surroundings lie."""

    mask: Mask  #: (\\*box) not empty, and not at the border
    spacing: tuple[float, ...]  #: Voxel size in mm, by array axis
    orientation: Floats  #: (D, D) column j: the physical direction of array axis j

    @cached_property
    def _distance(self) -> Floats:
        return np.asarray(signed_distance(self.mask, self.spacing))

    @cached_property
    def _faces(self) -> Faces:
        return Faces.of(self.mask, self.spacing)

    @property
    def directions(self) -> tuple[str, ...]:
        """What parts of a surface can face."""
        names = PATIENT_DIRECTIONS if self.mask.ndim == 3 else FLAT_DIRECTIONS
        return tuple(name for pair in names for name in pair)

    def displacement(self, rater: Mask) -> Displacement:
        """How far a rater's contour lies outside; the rater's mask is as the consensus's."""
        own, drawn = self._faces, Faces.of(rater, self.spacing)
        from_rater = signed_distance(rater, self.spacing).reshape(-1)
        wider = ~self.mask.reshape(-1)[drawn.behind]
        tighter = ~rater.reshape(-1)[own.behind]
        # Behind the consensus's face, beyond it not: there the rater's contour is the same.
        same = ~tighter & ~rater.reshape(-1)[own.beyond]
        return Displacement(
            np.concatenate([drawn.behind[wider], own.behind[tighter | same]]),
            np.concatenate([drawn.areas[wider], own.areas[tighter | same]]),
            np.concatenate(
                [
                    self._distance.reshape(-1)[drawn.behind[wider]],
                    np.where(tighter, -from_rater[own.behind], 0.0)[tighter | same],
                ]
            ),
        )

    def by_direction(self, moved: Displacement) -> dict[str, float]:
        """Mean over the surface, and over the parts that face each way; NaN where none does."""
        number = len(self.directions)
        facing = self._facing(moved.places)
        parts = np.bincount(facing, moved.areas, number)
        sums = np.bincount(facing, moved.areas * moved.millimetres, number)
        means = np.divide(sums, parts, out=np.full(number, np.nan), where=parts > 0)
        return {
            "mean": float(sums.sum() / parts.sum()),
            **dict(zip(self.directions, means.tolist(), strict=True)),
        }

    def _facing(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Which of `directions` leads away from the consensus most steeply."""
        slopes = np.stack([slope.reshape(-1)[places] for slope in self._slopes])
        normals = self.orientation @ slopes
        steepest = np.abs(normals).argmax(axis=0)
        rises = np.take_along_axis(normals, steepest[None], axis=0)[0] > 0
        return np.asarray(2 * steepest + rises)

    @cached_property
    def _slopes(self) -> tuple[Floats, ...]:
        return tuple(np.gradient(self._distance, *self.spacing))

    def as_volume(self, moved: Displacement) -> Floats:
        """(\\*box) the displacement at the voxels behind faces, 0 elsewhere."""
        size = self.mask.size
        faces = np.bincount(moved.places, minlength=size)
        sums = np.bincount(moved.places, moved.millimetres, minlength=size)
        return np.asarray((sums / np.maximum(faces, 1)).reshape(self.mask.shape))


@dataclass(frozen=True)
class ReaderBias:
    """How far outside the consensus each rater draws, in mm; below 0: inside."""

    raters: tuple[str, ...]
    label: int
    rows: tuple[dict[str, float] | None, ...]  #: By direction; None: the rater left the label out
    volumes: tuple[Floats | None, ...]  #: (\\*box) at the outer surface, 0 elsewhere
    box: Box

    def table(self) -> Iterator[dict[str, str | float]]:
        """A row for each rater who drew the label."""
        for rater, row in zip(self.raters, self.rows, strict=True):
            if row is not None:
                yield {"rater": rater, **row}

    def to_csv(self) -> str:
        """The table as text."""
        rows = list(self.table())
        return csv_text(list(rows[0]), rows) if rows else ""

    def sentences(self, notable: float = 1.0) -> Iterator[str]:
        """Who draws at least so many mm too wide or too tight, and where."""
        for row in self.table():
            found = {
                name: float(mm)
                for name, mm in row.items()
                if name not in ("rater", "mean") and abs(float(mm)) >= notable
            }
            for name, mm in sorted(found.items(), key=lambda item: -abs(item[1])):
                how = "wider" if mm > 0 else "tighter"
                where = f"on the {name} side"
                yield f"{row['rater']} draws {abs(mm):.1f} mm {how} than the consensus {where}."
