"""Distances between contours, in mm.

A surface is the mask's voxels that touch another voxel across a face; the image's border counts
as outside. A distance runs between voxel centres, from each surface voxel of one mask to the
nearest of the other. These are MONAI's definitions, against which they are tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.labels.boxes import space_axes
from itk_consensus.labels.distance import signed_distance


@dataclass(frozen=True)
class Surface:
    """One mask's surface: where its voxels are, and how far every voxel is from them.

    Attributes
    ----------
    places : (N,) ndarray of intp
        Flat indices of the surface's voxels.
    distance : ndarray or None
        Distance of every voxel of the box in mm; None for an empty mask.
    """

    places: NDArray[np.intp]
    distance: Floats | None

    @classmethod
    def of(cls, mask: NDArray[np.bool_], spacing: Sequence[float], threads: int) -> Surface:
        """The surface of a mask; in 4D the first axis holds independent volumes."""
        edge = mask & ~_inner(mask)
        places = np.flatnonzero(edge)
        if places.size == 0:
            return cls(places, None)
        # Negative inside the set of surface voxels, whose distance to themselves is 0.
        signed = signed_distance(edge, spacing, threads=threads)
        return cls(places, np.maximum(signed, 0, out=signed))

    def distances_to(self, other: Surface) -> Floats:
        """(N,) distance of each voxel of this surface to the nearest one of another."""
        if other.distance is None:
            return np.full(self.places.size, np.inf)
        return np.asarray(other.distance.reshape(-1)[self.places])


@dataclass(frozen=True)
class SurfaceDistances:
    """How far two contours lie apart; NaN if both masks are empty, infinite if one is."""

    hausdorff: float
    hausdorff95: float
    mean: float
    surface_dice: float


def surface_distances(first: Surface, second: Surface, tolerance: float) -> SurfaceDistances:
    """Compare two surfaces.

    Parameters
    ----------
    first, second : Surface
    tolerance : float
        Distance in mm up to which surfaces agree, for the surface Dice.
    """
    there, back = first.distances_to(second), second.distances_to(first)
    if there.size == 0 and back.size == 0:
        return SurfaceDistances(np.nan, np.nan, np.nan, np.nan)
    if there.size == 0 or back.size == 0:
        return SurfaceDistances(np.inf, np.inf, np.inf, 0.0)
    both = np.concatenate([there, back])
    return SurfaceDistances(
        hausdorff=float(both.max()),
        hausdorff95=float(max(np.percentile(there, 95), np.percentile(back, 95))),
        mean=float(both.mean()),
        surface_dice=float(np.count_nonzero(both <= tolerance) / both.size),
    )


def _inner(mask: NDArray[Any]) -> NDArray[np.bool_]:
    """Voxels whose neighbours across every face lie in the mask."""
    inner = mask.copy()
    for axis in space_axes(mask.ndim):
        along = np.moveaxis(mask, axis, 0)
        result = np.moveaxis(inner, axis, 0)
        result[1:] &= along[:-1]
        result[:-1] &= along[1:]
        result[[0, -1]] = False
    return inner
