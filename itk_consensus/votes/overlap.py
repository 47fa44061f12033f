"""Overlap between two masks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from itk_consensus.core.errors import InputError


def dice(first: ArrayLike, second: ArrayLike) -> float:
    """Dice coefficient ``2 |A and B| / (|A| + |B|)`` of two masks.

    Parameters
    ----------
    first, second : array_like, same shape
        Masks; every non-zero voxel is foreground. For one label of a label map pass
        ``labels == value``.

    Returns
    -------
    float
        In [0, 1]. Two empty masks agree perfectly and score 1.0. (The paper's notebook scores
        them 0; its Tables 1-3 never meet the case.)
    """
    a = np.asarray(first).astype(bool, copy=False)
    b = np.asarray(second).astype(bool, copy=False)
    if a.shape != b.shape:
        raise InputError(f"dice: masks must have the same shape, got {a.shape} and {b.shape}")
    total = int(np.count_nonzero(a) + np.count_nonzero(b))
    return 2 * int(np.count_nonzero(a & b)) / total if total else 1.0
