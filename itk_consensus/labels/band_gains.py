"""What to keep of bands of scale: gains from shared power, answers by them, and their cut.

Power is measured in windows, and so it is smooth: in a large box it is kept at every second voxel
(`steps`), with values in between interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.array_types import Floats, Mask
from itk_consensus.labels.gaussian import Scales, Singles, four_gaussians, reach_of
from itk_consensus.labels.label_stack import default_threads
from itk_consensus.labels.rater_field import RaterField
from itk_consensus.labels.tiles import TRUNCATE, four_axes, tile_sizes

Tile = tuple[int, int, int, int]


class BandPowers(NamedTuple):
    """Power of the raters' bands, and how much of it they share.

    Attributes
    ----------
    power, shared : (B, \\*grid) ndarray of float32
        At every voxel, or every second one along axes of step 2.
    raters : (\\*shape) ndarray of float32, or None
        Effective number of raters at each voxel, where not everybody annotated all.
    base_power, base_shared : float
        Sums over all voxels, at the coarsest scale.
    """

    power: Singles
    shared: Singles
    raters: Singles | None
    base_power: float
    base_shared: float


class KeptShares(NamedTuple):
    """What to keep of each band, and of the votes themselves.

    Attributes
    ----------
    gains : (B, \\*grid) ndarray of float32
    detail : (\\*grid) ndarray of float32
    steps : tuple of int
        Of the grid, 1 or 2 voxels per axis.
    """

    gains: Singles
    detail: Singles
    steps: tuple[int, ...]


class Side(NamedTuple):
    """Voxels on one side of a contour, and the sum of their votes."""

    voxels: int
    votes: float


class CutCounts(NamedTuple):
    """What is counted against a mask.

    Attributes
    ----------
    outside, inside, far_outside, far_inside : Side
        Far: farther from the contour than the reach.
    before, at : float
        Of the values of the mask's own answer, sorted: where as many come after as are inside, the
        last that is not among those, and the first that is.
    """

    outside: Side
    inside: Side
    far_outside: Side
    far_inside: Side
    before: float
    at: float


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
    threads: int | None = None,
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
        1 or 2 per axis.
    tile : four int, optional
        In points of the grid.
    threads : int, optional
        All processors by default. Neither shows in the result.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    points = grid_shape(raters.shape, steps)
    power, shared = (np.empty((len(scales) - 1, *points), np.float32) for _ in range(2))
    number = None if raters.present is None else np.empty(raters.shape, np.float32)
    fine = _tile(raters.shape, kernels)
    coarse = tuple(max(1, size // step) for size, step in zip(fine, _four(steps), strict=True))
    sums = _kernels.band_powers(
        raters.masks,
        raters.present,
        np.asarray(weights, np.float64),
        kernels,
        four_axes(raters.shape),
        _four(steps),
        tile or coarse,
        threads or default_threads(),
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
    threads: int | None = None,
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
    threads : int, optional
        All processors by default.
    """
    _kernels.keep_shares(
        power,
        shared,
        detail,
        None if isinstance(raters, float) else raters,
        raters if isinstance(raters, float) else 0.0,
        least_power,
        *sharpness,
        threads or default_threads(),
    )


def keep_bands(
    raters: RaterField,
    weights: Floats,
    kept: KeptShares,
    scales: Scales,
    *,
    truncate: float = TRUNCATE,
    tile: Tile | None = None,
    threads: int | None = None,
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
        _four(kept.steps),
        tile or _tile(raters.shape, kernels),
        threads or default_threads(),
        answer,
    )
    return answer


def count_cut(
    raters: RaterField,
    weights: Floats,
    chosen: Mask,
    counted: Mask,
    reach: Sequence[int],
    kept: KeptShares,
    scales: Scales,
    *,
    truncate: float = TRUNCATE,
    tile: Tile | None = None,
    threads: int | None = None,
) -> CutCounts:
    """What raters say on both sides of a mask, and where the mask's own answer keeps its volume.

    Parameters
    ----------
    raters, weights, kept, scales, truncate, tile, threads
        As for `keep_bands`.
    chosen, counted : (\\*shape) ndarray of bool
        The mask; and the voxels that count.
    reach : sequence of int
        Voxels per axis; what has the other side within so many is not far.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    full = four_axes(raters.shape)
    outside, inside, far_outside, far_inside, before, at = _kernels.cut_counts(
        raters.masks,
        raters.present,
        np.asarray(weights, np.float64),
        kernels,
        full,
        chosen.view(np.uint8),
        counted.view(np.uint8),
        _four(reach, 0),
        list(kept.gains),
        kept.detail,
        _four(kept.steps),
        tile or _tile(raters.shape, kernels),
        threads or default_threads(),
    )
    return CutCounts(
        Side(*outside), Side(*inside), Side(*far_outside), Side(*far_inside), before, at
    )


def cut_answer(
    answer: Singles,
    kept: KeptShares,
    levels: tuple[float, float, float, float],
    chosen: NDArray[np.bool_] | None = None,
    threads: int | None = None,
) -> None:
    """Write which voxels lie above the contour, or else turn the answer into their probability.

    Parameters
    ----------
    answer : (\\*shape) ndarray of float32
    kept : KeptShares
        Where detail is shared the contour lies at one half.
    levels : four float
        Shares outside, inside and between, where no detail is shared, and how close to the contour
        an answer is a tie: it is not chosen.
    chosen : (\\*shape) ndarray of bool, optional
        Written to; without it the answer is.
    threads : int, optional
        All processors by default.
    """
    _kernels.cut(
        kept.detail,
        four_axes(answer.shape),
        _four(kept.steps),
        *levels,
        threads or default_threads(),
        answer,
        None if chosen is None else chosen.view(np.uint8),
    )


def _tile(shape: Sequence[int], kernels: list[list[Floats]]) -> Tile:
    """Every band has arrays of its own."""
    return tile_sizes(four_axes(shape), reach_of(kernels), buffers=2)


def _four(values: Sequence[int], elsewhere: int = 1) -> list[int]:
    """Of four axes; `elsewhere` for those that are no space."""
    space = list(values[-3:])
    return [elsewhere] * (4 - len(space)) + space
