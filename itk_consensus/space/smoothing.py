"""Gaussian smoothing with mirrored edges, at a cost bounded by the size of the volume."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.space.tiles import TRUNCATE, half_gaussian


def mirrored_gaussian(
    volume: NDArray[Any], sigmas: Sequence[float], truncate: float = TRUNCATE
) -> Floats:
    """Smooth along every axis, as scipy's `gaussian_filter` does by default.

    Parameters
    ----------
    volume : ndarray
    sigmas : sequence of float
        Standard deviation per axis, in voxels; 0: no smoothing.
    truncate : float
        Number of standard deviations at which the Gaussian is truncated.
    """
    smooth = np.array(volume, dtype=np.float64)
    for axis, sigma in enumerate(sigmas):
        if sigma > 0 and smooth.shape[axis] > 0:
            weights = folded_weights(sigma, truncate, smooth.shape[axis])
            smooth = scipy.ndimage.correlate1d(smooth, weights, axis, mode="reflect")
    return smooth


def folded_weights(sigma: float, truncate: float, extent: int) -> Floats:
    """Return (2 r + 1,) weights of a Gaussian; those beyond r = `extent` are folded back.

    A mirrored image is periodic, so a voxel at a distance greater than the width of the image has
    the same value as a closer one.
    """
    half = half_gaussian(sigma, truncate)
    weights = np.concatenate([half[:0:-1], half])
    reach = len(half) - 1
    if reach <= extent:
        return weights
    places = (np.arange(-reach, reach + 1) + extent) % (2 * extent)
    return np.asarray(np.bincount(places, weights, 2 * extent + 1), dtype=np.float64)
