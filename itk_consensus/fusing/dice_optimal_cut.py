"""The mask with the highest expected Dice under a probability map.

Of all masks of n voxels the n most probable have the highest expected overlap, so only the number
is to be found: the one that maximizes ``2 sum p / (n + sum of all p)``, the ratio of expectations
(Lipton, Elkan & Naryanaswamy, ECML PKDD 2014). Voxels of equal probability are taken all or none,
since the ratio is monotone in how many of them are taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.overlap import dice_of


def dice_optimal_cut(
    probability: Floats, counts: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.bool_], float]:
    """Choose the voxels, or patterns, that maximize the expected Dice.

    Parameters
    ----------
    probability : (P,) ndarray
        Of the foreground, one per pattern, or one per voxel.
    counts : (P,) ndarray of int64, optional
        Voxels of each pattern; 1 by default.

    Returns
    -------
    chosen : (P,) ndarray of bool
        Of equally good cuts the smallest mask.
    expected : float
        The expected Dice; 1 if nothing is probable at all.
    """
    sizes = np.ones(len(probability), np.int64) if counts is None else counts
    order = np.argsort(-probability, kind="stable")
    overlap = np.cumsum(probability[order] * sizes[order])
    if len(order) == 0 or overlap[-1] <= 0:
        return np.zeros(len(probability), bool), 1.0
    expected = dice_of(overlap, np.cumsum(sizes[order]) + overlap[-1])
    best = float(expected.max())
    number = int(np.argmax(expected >= best * (1 - 1e-12))) + 1
    # Equal probabilities belong together.
    chosen = probability >= probability[order[number - 1]]
    total = (probability[chosen] * sizes[chosen]).sum()
    return chosen, float(dice_of(total, sizes[chosen].sum() + overlap[-1]))
