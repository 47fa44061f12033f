"""Who draws generously, and where: each rater's contour against a consensus, in mm, by direction.

A contour that lies d mm outside another one encloses more, by d times the area between the two. So
what a rater adds and leaves out on one side, over the mean area of both surfaces there, is how far
outside the rater draws on that side: volumes tell it to a fraction of a voxel, where distances
between voxels of rough surfaces are too short. A place lies on the side to which the way out of the
consensus leads. Areas are integrals of the gradient's length of slightly smoothed masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.surfaces import Surface
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.escaping import csv_text
from itk_consensus.space.boxes import Box
from itk_consensus.space.distance import signed_distance
from itk_consensus.space.gaussian import smooth_volume

#: Towards which a surface faces, below and above 0 along each physical axis (ITK's: x to the left,
#: y to the back, z to the head).
PATIENT_DIRECTIONS = (("right", "left"), ("anterior", "posterior"), ("caudal", "cranial"))
FLAT_DIRECTIONS = (("-x", "+x"), ("-y", "+y"))

FACING = 0.8
"""Cosine of the angle, 37 degrees, within which a part of a surface faces a direction."""

PADDING = 4
"""Voxels of nothing around masks that smoothing by one voxel needs."""


@dataclass(frozen=True)
class ConsensusSurface:
    """A consensus, and which way its surroundings lie."""

    mask: Mask  #: (\\*box) not empty, with `PADDING` around it and all raters
    spacing: tuple[float, ...]  #: Voxel size in mm, by array axis
    orientation: Floats  #: (D, D) column j: the physical direction of array axis j

    def mean(self, rater: Mask) -> float:
        """How far outside a rater draws on average."""
        area = (self._area.sum() + _area(rater, self.spacing).sum()) / 2
        return float((rater.astype(np.float32) - self.mask).sum() / area)

    def by_direction(self, rater: Mask) -> dict[str, float]:
        """How far outside a rater draws on average, and on the parts that face each way.

        NaN where no part faces a way.
        """
        more = rater.astype(np.float32) - self.mask
        area = (self._area + _area(rater, self.spacing)) / 2
        found = {"mean": float(more.sum() / area.sum())}
        named = PATIENT_DIRECTIONS if self.mask.ndim == 3 else FLAT_DIRECTIONS
        for axis, names in enumerate(named):
            for name, sense in zip(names, (-1, 1), strict=True):
                here = sense * self._ways[axis] >= FACING
                total = float(area[here].sum())
                found[name] = float(more[here].sum()) / total if total > 0 else nan
        return found

    def on_surface(self, rater: Mask) -> Floats:
        """(\\*box) how far outside a rater draws, in mm, on the outer of both surfaces; else 0.

        Between centres of voxels: at the rater's surface the distance to the consensus, and at the
        consensus's surface minus that to the rater's mask.
        """
        found = np.zeros(self.mask.shape)
        wider = np.zeros(self.mask.shape, bool)
        wider.reshape(-1)[Surface.of(rater).places] = True
        wider &= ~self.mask
        found[wider] = self._distance[wider]
        tighter = np.zeros(self.mask.shape, bool)
        tighter.reshape(-1)[Surface.of(self.mask).places] = True
        tighter &= ~rater
        found[tighter] = -signed_distance(rater, self.spacing)[tighter]
        return found

    @cached_property
    def _distance(self) -> Floats:
        return np.asarray(signed_distance(self.mask, self.spacing))

    @cached_property
    def _area(self) -> NDArray[np.float32]:
        return _area(self.mask, self.spacing)

    @cached_property
    def _ways(self) -> Floats:
        """(D, \\*box) cosines between the way out of the consensus and the physical axes."""
        smooth = smooth_volume(self._distance.copy(), [1.0] * self.mask.ndim)
        slopes = np.stack(np.gradient(smooth, *self.spacing))
        slopes /= np.maximum(np.linalg.norm(slopes, axis=0), 1e-12)
        return np.tensordot(self.orientation, slopes, 1)


def _area(mask: Mask, spacing: Sequence[float]) -> NDArray[np.float32]:
    """(\\*box) area of a mask's surface in each voxel, over the voxel's volume."""
    smooth = smooth_volume(mask.astype(np.float32), [1.0] * mask.ndim)
    return np.asarray(np.linalg.norm(np.gradient(smooth, *spacing), axis=0), np.float32)


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
