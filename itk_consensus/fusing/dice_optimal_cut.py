"""Compute the mask with the highest expected Dice under a probability map.

Among masks of n voxels, the one with the n most probable voxels has the highest expected overlap,
so only n must be determined: it maximizes ``2 sum p / (n + sum of all p)``, the ratio of
expectations (Lipton, Elkan & Naryanaswamy, ECML PKDD 2014). Voxels with equal probability are
either all included or all excluded, since the ratio is monotone in their number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.overlap import dice_of


def dice_optimal_cut(
    probability: Floats, counts: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.bool_], float]:
    """Return the voxels, or patterns, that maximize the expected Dice.

    Parameters
    ----------
    probability : (P,) ndarray
        Foreground probability of each pattern, or of each voxel.
    counts : (P,) ndarray of int64, optional
        Number of voxels of each pattern; 1 by default.

    Returns
    -------
    chosen : (P,) ndarray of bool
        The mask; the smallest one if several are equally good.
    expected : float
        The expected Dice; 1 if all probabilities are 0.
    """
    sizes = np.ones(len(probability), np.int64) if counts is None else counts
    order = np.argsort(-probability, kind="stable")
    overlap = np.cumsum(probability[order] * sizes[order])
    if len(order) == 0 or overlap[-1] <= 0:
        return np.zeros(len(probability), bool), 1.0
    expected = dice_of(overlap, np.cumsum(sizes[order]) + overlap[-1])
    best = float(expected.max())
    number = int(np.argmax(expected >= best * (1 - 1e-12))) + 1
    # Elements with equal probability belong together.
    chosen = probability >= probability[order[number - 1]]
    total = (probability[chosen] * sizes[chosen]).sum()
    return chosen, float(dice_of(total, sizes[chosen].sum() + overlap[-1]))
