"""Gains of scale bands, computed from the power that raters share, and the mean filtered by them.

Power is averaged over windows and therefore varies smoothly: in a large box it is stored at every
second voxel (`steps`) and interpolated in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import current
from itk_consensus.space.boxes import Box
from itk_consensus.space.gaussian import Scales, Singles, four_gaussians, reach_of
from itk_consensus.space.rater_field import RaterField
from itk_consensus.space.tiles import TRUNCATE, four_axes, tile_sizes

Tile = tuple[int, int, int, int]

#: Real values are summed as integers in units of 1 / FIXED_POINT.
FIXED_POINT = 1 << 30


class BandPowers(NamedTuple):
    """Power of the raters' scale bands, and the part of it that they share."""

    #: (B, *grid) power at every voxel, or at every second voxel along axes of step 2
    power: Singles
    shared: Singles  #: (B, *grid) shared part of the power
    #: (*grid) effective number of raters at each voxel; None if all raters annotated every voxel.
    raters: Singles | None
    #: Power at the coarsest scale and its shared part, summed over all `counted` points as
    #: integers, so that sums do not depend on the order.
    base: tuple[int, int]

    @property
    def base_power(self) -> float:
        """Summed power at the coarsest scale."""
        return self.base[0] / FIXED_POINT

    @property
    def base_shared(self) -> float:
        """Part of the summed power that raters share."""
        return self.base[1] / FIXED_POINT


class KeptShares(NamedTuple):
    """Gains of the bands, and of the detail in the votes beyond the finest band."""

    gains: Singles  #: (B, *grid) gain of each band
    detail: Singles  #: (*grid) gain of the detail
    steps: tuple[int, ...]  #: Grid steps, 1 or 2 voxels along each axis


def grid_shape(shape: Sequence[int], steps: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of the grid with these steps that covers a volume."""
    pairs = zip(shape, steps, strict=True)
    return tuple(size if step == 1 else size // 2 + 1 for size, step in pairs)


def band_powers(
    raters: RaterField,
    weights: Floats,
    scales: Scales,
    steps: Sequence[int],
    *,
    truncate: float = TRUNCATE,
    tile: Tile | None = None,
    made: Box = (),
    counted: Box = (),
) -> BandPowers:
    """Return the mean power of the raters' scale bands, and the part of it that they share.

    Parameters
    ----------
    raters : RaterField
        The raters' masks; edge voxels are repeated beyond the box.
    weights : (J,) ndarray
    weights : (J,) ndarray
    scales, truncate
        As for `band_means`.
    steps : sequence of int
        1 or 2 per axis; must be 1 if raters are missing. With 2, the power at a grid point is the
        mean over its neighbourhood (weights 1/4, 1/2, 1/4) or, in the widest band, which is smooth,
        that of its own voxel.
    tile : four int, optional
        Tile size in grid points; the result does not depend on it.
    made, counted : tuple of slice, optional
        Box of the points to compute, and box of the points over which power at the coarsest scale
        is summed; by default all points.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    points = grid_shape(raters.shape, steps)
    made = made or tuple(slice(0, size) for size in points)
    shape = tuple(part.stop - part.start for part in made)
    power, shared = (np.empty((len(scales) - 1, *shape), np.float32) for _ in range(2))
    number = None if raters.present is None else np.empty(shape, np.float32)
    sums = _kernels.band_powers(
        raters.masks,
        raters.present,
        np.asarray(weights, np.float64),
        kernels,
        four_axes(raters.shape),
        on_four_axes(steps),
        tile or band_tile(shape, kernels),
        _four_sides(made, points),
        _four_sides(counted or made, points),
        current().threads,
        power,
        shared,
        number,
    )
    return BandPowers(power, shared, number, sums)


def _four_sides(box: Box, points: Sequence[int]) -> list[int]:
    """Return starts and ends of a box along four axes; all leading axes are merged into one."""
    near = box[-3:]
    four = (slice(0, math.prod(points[:-3])), *(slice(0, 1),) * (3 - len(near)), *near)
    return [*(side.start for side in four), *(side.stop for side in four)]


def keep_shared(
    power: Singles,
    shared: Singles,
    raters: float | Singles,
    sharpness: tuple[float, float],
    least_power: float,
    detail: Singles | None = None,
) -> None:
    """Replace the shared power of a band by its gain, in place.

    With shared power C, power N of one rater's errors, and J raters, the gain is
    ``C^p / (C^p + (N / J)^p)``, and the detail ``C^q / (C^q + N^q)``.

    Parameters
    ----------
    power, shared : (\\*grid) ndarray of float32
    raters : float or (\\*grid) ndarray of float32
        Effective number of raters.
    sharpness : two float
        p and q.
    least_power : float
        The gain is 0 where the power is lower.
    detail : (\\*grid) ndarray of float32, optional
        Output array for the gain of the detail.
    """
    _kernels.keep_shares(
        power,
        shared,
        detail,
        None if isinstance(raters, float) else raters,
        raters if isinstance(raters, float) else 0.0,
        least_power,
        *sharpness,
        current().threads,
    )


def keep_bands(
    raters: RaterField,
    weights: Floats,
    kept: KeptShares,
    scales: Scales,
    *,
    truncate: float = TRUNCATE,
    tile: Tile | None = None,
) -> Singles:
    """Sum the coarsest scale of the raters' mean and its bands, each multiplied by its gain.

    Parameters are those of `band_powers`.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    full = four_axes(raters.shape)
    answer = np.empty(raters.shape, np.float32)
    _kernels.keep_bands(
        raters.masks,
        raters.present,
        np.asarray(weights, np.float64),
        kernels,
        full,
        list(kept.gains),
        kept.detail,
        on_four_axes(kept.steps),
        tile or band_tile(raters.shape, kernels),
        current().threads,
        answer,
    )
    return answer


def band_tile(shape: Sequence[int], kernels: list[list[list[float]]]) -> Tile:
    """Return a tile size that divides the volume evenly; narrow tiles would be mostly halo."""
    full = four_axes(shape)
    wanted = tile_sizes(full, reach_of(kernels), buffers=2)  # Each band has its own arrays
    volumes, depth, height, width = (
        -(-size // max(1, round(size / side))) for size, side in zip(full, wanted, strict=True)
    )
    return volumes, depth, height, width


def on_four_axes(values: Sequence[int], elsewhere: int = 1) -> list[int]:
    """Pad values of the spatial axes to four axes, with `elsewhere` for the leading axes."""
    space = list(values[-3:])
    return [elsewhere] * (4 - len(space)) + space
