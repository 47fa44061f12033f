"""What to keep of bands of scale: gains from shared power, and masks treated by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.labels.gaussian import Singles, four_gaussians, reach_of
from itk_consensus.labels.label_stack import default_threads
from itk_consensus.labels.tiles import TRUNCATE, four_axes, tile_sizes


def keep_shared(
    power: Singles,
    shared: Singles,
    raters: float | Singles,
    values: Singles,
    answer: Singles,
    detail: Singles | None,
    sharpness: tuple[float, float],
    least_power: float,
    threads: int | None = None,
) -> Singles:
    """Gain of a band from the power in it; ``gain * values`` is added to `answer` in place.

    For shared power C, power N of one rater's errors and J raters the gain is
    ``C^p / (C^p + (N / J)^p)``, and the detail ``C^q / (C^q + N^q)``.

    Parameters
    ----------
    power, shared : (\\*shape) ndarray of float32
        Power, and how much of it raters share. The gains are written into `shared` and returned.
    raters : float or (\\*shape) ndarray of float32
        Effective number of raters.
    values : (\\*shape) ndarray of float32
        Mean of the band over the raters.
    answer, detail : (\\*shape) ndarray of float32
        Written to; no detail if None.
    sharpness : two float
        p and q.
    least_power : float
        Weaker bands are dropped.
    threads : int, optional
        All processors by default.
    """
    _kernels.keep_shares(
        power,
        shared,
        None if isinstance(raters, float) else raters,
        raters if isinstance(raters, float) else 0.0,
        least_power,
        values,
        *sharpness,
        threads or default_threads(),
        shared,  # each voxel is read before its gain is written
        answer,
        detail,
    )
    return shared


def keep_bands(
    mask: NDArray[Any],
    gains: Sequence[Singles],
    detail: Singles,
    scales: Sequence[Sequence[float]],
    *,
    truncate: float = TRUNCATE,
    tile: tuple[int, int, int, int] | None = None,
    threads: int | None = None,
) -> Singles:
    """Split a mask into bands of scale, keep a share of each, and of the mask itself.

    Parameters
    ----------
    mask : (\\*shape) ndarray of bool
    gains : (B, \\*shape) sequence of ndarrays of float32
        Share to keep of each band.
    detail : (\\*shape) ndarray of float32
        Share of the mask itself that replaces what was kept.
    scales, truncate, tile, threads
        As for `band_means`.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    full = four_axes(mask.shape)
    kept = np.empty(mask.shape, np.float32)
    _kernels.clean_answer(
        np.ascontiguousarray(mask).view(np.uint8),
        list(gains),
        detail,
        kernels,
        full,
        tile or tile_sizes(full, reach_of(kernels)),
        threads or default_threads(),
        kept,
    )
    return kept
