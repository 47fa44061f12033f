"""Dice overlap, computed from two masks or from counts of voxels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError


def dice(first: ArrayLike, second: ArrayLike) -> float:
    """Compute the Dice coefficient ``2 |A and B| / (|A| + |B|)`` of two masks.

    Parameters
    ----------
    first, second : array_like, same shape
        Masks; non-zero voxels are foreground. For a single label of a label map, pass
        ``labels == value``.

    Returns
    -------
    float
        Value in [0, 1]. Two empty masks agree perfectly: 1.0. (The paper's notebook assigns 0 to
        them; the case does not occur in its Tables 1-3.)
    """
    a = np.asarray(first).astype(bool, copy=False)
    b = np.asarray(second).astype(bool, copy=False)
    if a.shape != b.shape:
        raise InputError(f"dice: masks must have the same shape, got {a.shape} and {b.shape}")
    return float(dice_of(np.count_nonzero(a & b), np.count_nonzero(a) + np.count_nonzero(b)))


def dice_of(shared: ArrayLike, sizes: ArrayLike) -> Floats:
    """Compute Dice from the intersection and the sum of two masks' sizes; 1 if both are empty."""
    return share_of(2 * np.asarray(shared), sizes)


def share_of(part: ArrayLike, whole: ArrayLike) -> Floats:
    """Compute ``part / whole``; 1 where the whole is 0, since two empty masks agree."""
    part, whole = np.asarray(part), np.asarray(whole)
    ones = np.ones(np.broadcast_shapes(part.shape, whole.shape))
    return np.asarray(np.divide(part, whole, out=ones, where=whole > 0))
