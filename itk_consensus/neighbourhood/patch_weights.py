"""Weights of atlases by the patches of their images, at some voxels; the kernel of joint fusion."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.work import current

Singles = NDArray[np.float32]


def patch_weights(
    target: Singles,
    atlases: Sequence[Singles],
    places: NDArray[np.intp],
    patch: Sequence[int],
    search: Sequence[int],
    *,
    beta: float,
    alpha: float,
) -> tuple[NDArray[np.float64], NDArray[np.int16]]:
    """Weights (M + alpha I)^-1 1, scaled to sum to 1, M as in fusion/atlas/joint_fusion.py.

    Parameters
    ----------
    target, atlases : ndarray of float32, all of one shape
    places : (N,) ndarray
        Flat indices into them.
    patch, search : sequence of int >= 0
        Radii in voxels per axis.
    beta, alpha : float
        Exponent, and what is added to the diagonal, above 0.

    Returns
    -------
    (N, J) ndarray
        Weights.
    (N, J, axes) ndarray
        Where in the search each atlas has its nearest patch.
    """
    margin = [p + s for p, s in zip(patch, search, strict=True)]
    padded = [_padded(one, margin) for one in (target, *atlases)]
    strides = np.array(padded[0].strides) // padded[0].itemsize
    indices = np.stack(np.unravel_index(places, target.shape), axis=-1) + margin
    steps = nearest_first(search)
    weights = np.empty((len(places), len(atlases)))
    shifts = np.empty(weights.shape, np.uint16)
    _kernels.joint_weights(
        padded[0],
        padded[1:],
        np.ascontiguousarray(indices @ strides, dtype=np.int64),
        (nearest_first(patch) @ strides).tolist(),
        (steps @ strides).tolist(),
        beta,
        alpha,
        weights,
        shifts,
        current().threads,
    )
    # Of many atlases at many voxels these are the largest array there is.
    return weights, steps.astype(np.int16)[shifts]


#: What the kernel's numbers of steps hold.
MOST_STEPS = 2**16 - 1


def nearest_first(radii: Sequence[int]) -> NDArray[np.int64]:
    """(S, axes) steps of a box, from its centre outwards."""
    steps = np.array(list(product(*(range(-r, r + 1) for r in radii))), dtype=np.int64)
    return steps[np.argsort(np.square(steps).sum(axis=1), kind="stable")]


def _padded(volume: NDArray[np.float32], margin: Sequence[int]) -> NDArray[np.float32]:
    return np.ascontiguousarray(np.pad(volume, [(m, m) for m in margin], mode="edge"))
