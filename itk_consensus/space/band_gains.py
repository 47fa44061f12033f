"""What to keep of bands of scale: gains from shared power, and answers by them.

Power is measured in windows, and so it is smooth: in a large box it is kept at every second voxel
(`steps`), with values in between interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import current
from itk_consensus.space.gaussian import Scales, Singles, four_gaussians, reach_of
from itk_consensus.space.rater_field import RaterField
from itk_consensus.space.tiles import TRUNCATE, four_axes, tile_sizes

Tile = tuple[int, int, int, int]


class BandPowers(NamedTuple):
    """Power of the raters' bands, and how much of it they share."""

    power: Singles  #: (B, *grid) at every voxel, or every second one along axes of step 2
    shared: Singles  #: (B, *grid) likewise
    #: (*shape) effective number of raters at each voxel, where not everybody annotated all.
    raters: Singles | None
    base_power: float  #: Sum over all voxels, or all points, at the coarsest scale
    base_shared: float  #: Likewise


class KeptShares(NamedTuple):
    """What to keep of each band, and of the votes themselves."""

    gains: Singles  #: (B, *grid)
    detail: Singles  #: (*grid)
    steps: tuple[int, ...]  #: Of the grid, 1 or 2 voxels per axis


def grid_shape(shape: Sequence[int], steps: Sequence[int]) -> tuple[int, ...]:
    """Points of a grid of such steps that covers a volume."""
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
) -> BandPowers:
    """Power of each rater's bands of scale, averaged, and the part of it that raters share.

    Parameters
    ----------
    raters : RaterField
        Beyond the edge the last voxel goes on.
    weights : (J,) ndarray
        Of the raters; positive.
    scales, truncate
        As for `band_means`.
    steps : sequence of int
        1 or 2 per axis; 1 where raters are missing. With 2, points have the mean power around them
        (1/4, 1/2, 1/4), but in the widest band, which is smooth, that of their own voxel.
    tile : four int, optional
        In points of the grid. It does not show in the result.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    points = grid_shape(raters.shape, steps)
    power, shared = (np.empty((len(scales) - 1, *points), np.float32) for _ in range(2))
    number = None if raters.present is None else np.empty(raters.shape, np.float32)
    sums = _kernels.band_powers(
        raters.masks,
        raters.present,
        np.asarray(weights, np.float64),
        kernels,
        four_axes(raters.shape),
        on_four_axes(steps),
        tile or band_tile(points, kernels),
        current().threads,
        power,
        shared,
        number,
    )
    return BandPowers(power, shared, number, *sums)


def keep_shared(
    power: Singles,
    shared: Singles,
    raters: float | Singles,
    sharpness: tuple[float, float],
    least_power: float,
    detail: Singles | None = None,
) -> None:
    """Turn shared power into the gain of a band, in place.

    For shared power C, power N of one rater's errors and J raters the gain is
    ``C^p / (C^p + (N / J)^p)``, and the detail ``C^q / (C^q + N^q)``.

    Parameters
    ----------
    power, shared : (\\*grid) ndarray of float32
    raters : float or (\\*grid) ndarray of float32
        Effective number of raters.
    sharpness : two float
        p and q.
    least_power : float
        Weaker bands are dropped.
    detail : (\\*grid) ndarray of float32, optional
        Written to.
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
    """What is kept of the bands of the raters' mean, over its coarsest level.

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
    """Of equal tiles: a narrow last one would be all halo. Every band has arrays of its own."""
    full = four_axes(shape)
    wanted = tile_sizes(full, reach_of(kernels), buffers=2)
    volumes, depth, height, width = (
        -(-size // max(1, round(size / side))) for size, side in zip(full, wanted, strict=True)
    )
    return volumes, depth, height, width


def on_four_axes(values: Sequence[int], elsewhere: int = 1) -> list[int]:
    """Of four axes; `elsewhere` for those that are no space."""
    space = list(values[-3:])
    return [elsewhere] * (4 - len(space)) + space
