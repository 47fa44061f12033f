"""Bias of raters: signed distance of each rater's contour from a consensus in mm, by direction.

A contour that lies d mm outside another one encloses an additional volume of d times the surface
area. The bias on a side is therefore the volume that a rater adds there minus the volume left out
there, divided by the mean area of both surfaces. This is accurate to a fraction of a voxel, whereas
distances between the voxels of rough surfaces are biased low. A voxel belongs to the side to which
the outward normal of the consensus points. Areas are computed as integrals of the gradient
magnitude of slightly smoothed masks.
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

#: Names of the negative and positive directions of each physical axis (ITK's LPS: x to the left, y
#: to the back, z to the head).
PATIENT_DIRECTIONS = (("right", "left"), ("anterior", "posterior"), ("caudal", "cranial"))
FLAT_DIRECTIONS = (("-x", "+x"), ("-y", "+y"))

FACING = 0.8
"""Cosine of the largest angle, 37 degrees, between the normal of a surface and its direction."""

PADDING = 4
"""Voxels of background around masks that smoothing by one voxel needs."""


@dataclass(frozen=True)
class ConsensusSurface:
    """The surface of a consensus, relative to which distances and directions are measured."""

    #: (\\*box) not empty; includes a margin of `PADDING` around the consensus and all raters
    mask: Mask
    spacing: tuple[float, ...]  #: Voxel size in mm, by array axis
    orientation: Floats  #: (D, D) array whose column j is the physical direction of array axis j

    def mean(self, rater: Mask) -> float:
        """Return the mean bias of a rater in mm, positive outside the consensus."""
        area = (self._area.sum() + _area(rater, self.spacing).sum()) / 2
        return float((rater.astype(np.float32) - self.mask).sum() / area)

    def by_direction(self, rater: Mask) -> dict[str, float]:
        """Return a rater's mean bias in mm, overall and by direction; NaN for a direction
        without surface.
        """
        more = rater.astype(np.float32) - self.mask
        area = (self._area + _area(rater, self.spacing)) / 2
        found = {"mean": float(more.sum() / area.sum())}
        named = PATIENT_DIRECTIONS if self.mask.ndim == 3 else FLAT_DIRECTIONS
        for axis, names in enumerate(named):
            for name, sense in zip(names, (-1, 1), strict=True):
                here = sense * self._normals[axis] >= FACING
                total = float(area[here].sum())
                found[name] = float(more[here].sum()) / total if total > 0 else nan
        return found

    def on_surface(self, rater: Mask) -> Floats:
        """Return the (\\*box) signed distance in mm of a rater's contour on the outer surface.

        At voxels where the rater's surface is the outer one, this is its distance to the consensus;
        where the consensus' surface is the outer one, it is minus its distance to the rater's mask;
        elsewhere it is 0. Distances are between voxel centres.
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

    def reach(self, rater: Mask) -> dict[str, float]:
        """Return the 95th percentile of the distances between both surfaces in mm, by direction.

        Each position is counted once, on the outer of the two surfaces. NaN if no surface faces a
        direction.
        """
        own = np.zeros(self.mask.shape, bool)
        own.reshape(-1)[Surface.of(rater).places] = True
        ours = np.zeros(self.mask.shape, bool)
        ours.reshape(-1)[Surface.of(self.mask).places] = True
        wider, tighter, same = own & ~self.mask, ours & ~rater, own & ours
        far = np.zeros(self.mask.shape)
        far[wider] = self._distance[wider]
        far[tighter] = signed_distance(rater, self.spacing)[tighter]
        outer = wider | tighter | same
        named = PATIENT_DIRECTIONS if self.mask.ndim == 3 else FLAT_DIRECTIONS
        found = {}
        for axis, names in enumerate(named):
            for name, sense in zip(names, (-1, 1), strict=True):
                here = far[outer & (sense * self._normals[axis] >= FACING)]
                found[name] = float(np.percentile(here, 95)) if here.size else nan
        return found

    @cached_property
    def _distance(self) -> Floats:
        return np.asarray(signed_distance(self.mask, self.spacing))

    @cached_property
    def _area(self) -> NDArray[np.float32]:
        return _area(self.mask, self.spacing)

    @cached_property
    def _normals(self) -> Floats:
        """(D, \\*box) cosines between the outward normal of the consensus and the physical axes."""
        smooth = smooth_volume(self._distance.copy(), [1.0] * self.mask.ndim)
        slopes = np.stack(np.gradient(smooth, *self.spacing))
        slopes /= np.maximum(np.linalg.norm(slopes, axis=0), 1e-12)
        return np.tensordot(self.orientation, slopes, 1)


def _area(mask: Mask, spacing: Sequence[float]) -> NDArray[np.float32]:
    """Return (\\*box) surface area of a mask in each voxel, divided by the voxel's volume."""
    smooth = smooth_volume(mask.astype(np.float32), [1.0] * mask.ndim)
    return np.asarray(np.linalg.norm(np.gradient(smooth, *spacing), axis=0), np.float32)


@dataclass(frozen=True)
class ReaderBias:
    """Bias of each rater in mm: positive outside the consensus, negative inside."""

    raters: tuple[str, ...]
    label: int
    #: Bias by direction; None if the rater left the label out
    rows: tuple[dict[str, float] | None, ...]
    volumes: tuple[Floats | None, ...]  #: (\\*box) signed distances, see `on_surface`
    box: Box  #: Position of `volumes` in the image

    def table(self) -> Iterator[dict[str, str | float]]:
        """Yield a row for each rater who drew the label."""
        for rater, row in zip(self.raters, self.rows, strict=True):
            if row is not None:
                yield {"rater": rater, **row}

    def to_csv(self) -> str:
        """Return the table as CSV text."""
        rows = list(self.table())
        return csv_text(list(rows[0]), rows) if rows else ""

    def sentences(self, notable: float = 1.0) -> Iterator[str]:
        """Yield sentences on raters whose contours are too large or too small on a side by
        `notable` mm.
        """
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
