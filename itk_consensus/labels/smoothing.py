"""Gaussian smoothing whose cost grows with the image, never with the Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d

from itk_consensus.errors import InputError

Floats = NDArray[np.float64]

# The weights themselves must be written down before they can be folded.
_MOST_WEIGHTS = 10_000_000


def gaussian(
    volume: NDArray[Any],
    sigmas: Sequence[float],
    truncate: float,
    border: Literal["nearest", "reflect"],
) -> Floats:
    """Smooth along every axis, as scipy's `gaussian_filter` does.

    Parameters
    ----------
    volume : ndarray
    sigmas : sequence of float
        Standard deviation per axis, in voxels; 0: not smoothed.
    truncate : float
        Standard deviations after which the Gaussian is cut off.
    border : {"nearest", "reflect"}
        What the volume is continued by.
    """
    smooth = np.array(volume, dtype=np.float64)
    for axis, sigma in enumerate(sigmas):
        if sigma > 0 and smooth.shape[axis] > 0:
            weights = folded_weights(sigma, truncate, smooth.shape[axis], border)
            smooth = correlate1d(smooth, weights, axis, mode=border)
    return smooth


def folded_weights(
    sigma: float, truncate: float, extent: int, border: Literal["nearest", "reflect"]
) -> Floats:
    """(2 r + 1,) weights of a Gaussian, r <= extent; those that reach farther are folded back.

    A voxel that lies farther away than the image is wide shows what another, nearer one shows: the
    border voxel, or the one that a reflection repeats. So the sums are the same.
    """
    reach = truncate * sigma + 0.5
    if reach > _MOST_WEIGHTS:
        raise InputError(f"a Gaussian of {sigma:g} voxels is too wide to be computed")
    offsets = np.arange(-int(reach), int(reach) + 1)
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    weights /= weights.sum()
    if int(reach) <= extent:
        return weights
    if border == "nearest":
        places = np.clip(offsets, -extent, extent)
    else:
        places = (offsets + extent) % (2 * extent) - extent
    folded = np.bincount(places + extent, weights, 2 * extent + 1)
    return np.asarray(folded, dtype=np.float64)
