"""Thickness of regions, and the size at which a region exceeds the readers' usual spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.review.voxel_runs import Places

#: Quantile over the voxels of a region that defines its thickness, so that a single bump does not
#: make it thick.
_THICKEST_TENTH = 0.9


class RegionSize(NamedTuple):
    """Size of a region."""

    ml: float
    mm: float  #: Thickness


def thickness_at(
    places: Places, region: NDArray[np.integer], shape: Sequence[int], spacing: Sequence[float]
) -> NDArray[np.float64]:
    """Return the (N,) shortest chord in mm through a voxel's region along any image axis.

    Parameters
    ----------
    places : (N,) ndarray
        Flat indices in C order.
    region : (N,) ndarray
        Region of each voxel.
    spacing : sequence of float
        Voxel size in ITK's order, the last array axis first.
    """
    shortest = np.full(places.size, np.inf)
    stride = 1
    for side, step in zip(reversed(shape[-3:]), spacing, strict=False):
        shortest = np.minimum(shortest, step * _runs(places, region, stride, side))
        stride *= side
    return shortest


def _runs(places: Places, region: NDArray[np.integer], stride: int, side: int) -> NDArray[np.int64]:
    """Return the (N,) lengths, in voxels, of runs within one region along one axis."""
    if not places.size or side == 1:
        return np.full(places.size, np.iinfo(np.int32).max, np.int64) if side == 1 else places
    at = places // stride % side
    along = (places // (stride * side) * stride + places % stride) * side + at
    order = np.argsort(along, kind="stable") if stride > 1 else np.arange(places.size)
    along, own = along[order], region[order]
    begins = np.ones(places.size, bool)
    begins[1:] = (np.diff(along) != 1) | (own[1:] != own[:-1]) | (at[order][1:] == 0)
    run = np.cumsum(begins) - 1
    lengths = np.empty(places.size, np.int64)
    lengths[order] = np.bincount(run)[run]
    return lengths


def region_sizes(
    regions: Sequence[Places], shape: Sequence[int], spacing: Sequence[float]
) -> list[RegionSize]:
    """Return the volume and thickness of regions that share no voxel."""
    if not regions:
        return []
    counts = [places.size for places in regions]
    owner = np.repeat(np.arange(len(regions)), counts)
    places = np.concatenate(regions)
    order = np.argsort(places)
    thickness = np.empty(places.size)
    thickness[order] = thickness_at(places[order], owner[order], shape, spacing)
    # Sort the voxels of each region by thickness; select the quantile.
    by_region = np.lexsort((thickness, owner))
    ends = np.cumsum(counts)
    reached = ends - 1 - ((1 - _THICKEST_TENTH) * np.asarray(counts)).astype(int)
    thickest = thickness[by_region][reached]
    voxel_ml = float(np.prod(spacing)) / 1000
    return [
        RegionSize(count * voxel_ml, float(mm)) for count, mm in zip(counts, thickest, strict=True)
    ]


def usual_spread(sizes: Sequence[RegionSize]) -> RegionSize:
    """Return the readers' usual spread: the thickness not exceeded in half of the disputed volume.

    Its volume is that of a disc of this thickness, four times as wide as thick.
    """
    if not sizes:
        return RegionSize(0.0, 0.0)
    order = np.argsort([one.mm for one in sizes])
    volume = np.cumsum(np.array([one.ml for one in sizes])[order])
    mm = sizes[order[int(np.searchsorted(volume, volume[-1] / 2))]].mm
    return RegionSize(pi * (2 * mm) ** 2 * mm / 1000, mm)
