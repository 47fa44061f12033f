"""Gaussian smoothing, and means over raters of the scale bands between two Gaussians."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.space.boxes import voxel_sides
from itk_consensus.space.rater_field import RaterField
from itk_consensus.space.tiles import TRUNCATE, four_axes, half_gaussian, tile_sizes

#: Values beyond the edge: those of the nearest voxel, or zeros.
Border = Literal["nearest", "zero"]

Singles = NDArray[np.float32]

#: Standard deviations in voxels per axis, with one set for each scale.
Scales = Sequence[Sequence[float]]


def smooth_volume(
    volume: NDArray[Any],
    sigmas: Sequence[float],
    *,
    truncate: float = TRUNCATE,
    border: Border = "nearest",
) -> NDArray[Any]:
    """Smooth a volume with a Gaussian in place; return `volume`.

    Parameters
    ----------
    volume : C-contiguous ndarray of float32 or float64
        Volume, smoothed in its own precision; constant regions remain exactly constant.
    sigmas : sequence of float >= 0
        Standard deviation in voxels per axis; 0: no smoothing.
    truncate : float
        Number of standard deviations at which the Gaussian is truncated.
    border : str
        "nearest" repeats the edge voxel beyond the edge, "zero" pads with zeros.
    """
    writable = volume.flags.c_contiguous and volume.flags.writeable
    if volume.dtype not in (np.float32, np.float64) or not writable:
        raise InputError(
            "smooth_volume: volume must be a writable C-contiguous float32 or float64 array, "
            f"got {volume.dtype} with strides {volume.strides}"
        )
    if len(sigmas) != volume.ndim or not all(np.isfinite(s) and s >= 0 for s in sigmas):
        raise InputError(f"smooth_volume: sigmas must be {volume.ndim} numbers >= 0, got {sigmas}")
    if border not in ("nearest", "zero"):
        raise InputError(f"smooth_volume: border must be 'nearest' or 'zero', got {border!r}")
    if volume.size:
        weights = [_half_gaussian(float(sigma), truncate) for sigma in sigmas]
        nearest = border == "nearest"
        _kernels.gaussian(volume, np.empty_like(volume), weights, nearest, current().threads)
    return volume


#: Outputs of `band_means` that can be omitted.
OPTIONAL = ("base", "base_squares", "votes", "raters")


class BandMeans(NamedTuple):
    """Weighted means over the raters who annotated a voxel, 0 if none did; None: not requested."""

    values: Singles  #: (B, *shape) mean of each band
    squares: Singles  #: (B, *shape) mean square of each band
    base: Singles | None  #: (*shape) mean of the masks at the coarsest scale
    base_squares: Singles | None  #: (*shape) mean square of the masks at the coarsest scale
    votes: Singles | None  #: (*shape) mean of the masks
    #: (*shape) effective number of raters, (sum w)^2 / sum w^2.
    raters: Singles | None


def band_means(
    masks: NDArray[Any],
    weights: Floats,
    scales: Scales,
    *,
    present: NDArray[Any] | None = None,
    truncate: float = TRUNCATE,
    tile: tuple[int, int, int, int] | None = None,
    wanted: Sequence[str] = OPTIONAL,
) -> BandMeans:
    """Decompose every rater's mask into scale bands, and average these over the raters.

    Parameters
    ----------
    masks : (J, \\*shape) ndarray
        Masks of 0 and 1, or probabilities. Edge voxels are repeated beyond the volume.
    weights : (J,) ndarray
        Positive weight of each rater.
    scales : (B + 1, ndim) sequence
        Ascending standard deviations in voxels per axis, 0 for no smoothing; each pair bounds a
        band. The first of four axes indexes independent volumes and is never smoothed.
    present : (J, \\*shape) ndarray, optional
        Non-zero where a rater annotated; levels are then means over annotated voxels.
    truncate : float
        Number of standard deviations at which the Gaussian is truncated.
    tile : four int, optional
        Tile size; the result does not depend on it.
    wanted : sequence of str
        Names of the outputs in `OPTIONAL` to compute.
    """
    shape = masks.shape[1:]
    _check_masks(masks, weights, scales, present)
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    full = four_axes(shape)
    raters = RaterField.of(masks, present)
    bands = len(scales) - 1
    found = BandMeans(
        np.empty((bands, *shape), np.float32),
        np.empty((bands, *shape), np.float32),
        *(np.empty(shape, np.float32) if name in wanted else None for name in OPTIONAL),
    )
    _kernels.band_means(
        raters.masks,
        raters.present,
        np.asarray(weights, np.float64),
        kernels,
        full,
        tile or tile_sizes(full, reach_of(kernels)),
        current().threads,
        *found,
    )
    return found


def reach_of(kernels: list[list[list[float]]]) -> list[int]:
    """Return the radius in voxels of the widest Gaussian along each of four axes."""
    return [max(len(kernel[axis]) - 1 for kernel in kernels) for axis in range(4)]


def _check_masks(
    masks: NDArray[Any],
    weights: Floats,
    scales: Scales,
    present: NDArray[Any] | None,
) -> None:
    if masks.ndim < 2 or masks.size == 0:
        raise InputError(f"band_means: masks must be (raters, *shape), got {masks.shape}")
    if len(weights) != len(masks) or not (np.asarray(weights) > 0).all():
        raise InputError(f"band_means: weights must be {len(masks)} positive numbers")
    if len(scales) < 2 or any(len(sigmas) != masks.ndim - 1 for sigmas in scales):
        raise InputError(
            f"band_means: scales must be two or more of {masks.ndim - 1} axes, got {scales}"
        )
    if present is not None and present.shape != masks.shape:
        raise InputError(
            f"band_means: present must have the masks' shape {masks.shape}, got {present.shape}"
        )


def four_gaussians(sigmas: Sequence[float], truncate: float) -> list[list[float]]:
    """Return half kernels of a Gaussian along four axes; `sigmas` are in voxels per array axis."""
    spatial = list(voxel_sides(sigmas))
    padded = [0.0] * (4 - len(spatial)) + spatial
    return [_half_gaussian(float(sigma), truncate) for sigma in padded]


@lru_cache(maxsize=64)
def _half_gaussian(sigma: float, truncate: float) -> list[float]:
    """Return `half_gaussian` as a list, cached since hundreds of labels use the same kernel."""
    return [float(weight) for weight in half_gaussian(sigma, truncate)]
