"""How often votes for one label meet a decision for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats


@dataclass(frozen=True)
class MixedVotes:
    """How often votes for one label meet a decision for another.

    Attributes
    ----------
    near, far : (K, K) ndarray
        Sums of vote shares for label d (row) where the decision says t (column): within reach of
        any dissent, and of these where the decision is the same within reach.
    near_voxels, far_voxels : (K,) ndarray of int64
        Voxels that were summed over.
    agreed, agreed_far : (K,) ndarray of int64
        The same for voxels without any dissent within reach: there the share of t is 1.
    """

    near: Floats
    far: Floats
    near_voxels: NDArray[np.int64]
    far_voxels: NDArray[np.int64]
    agreed: NDArray[np.int64]
    agreed_far: NDArray[np.int64]


class MixedCounts(NamedTuple):
    """The same as whole numbers, which add up over the parts of a volume.

    Attributes
    ----------
    keys : (N,) ndarray of int64
        d * K + t of the pairs that occur.
    sums : (N, 2) ndarray of int64
        Units of votes, near and far.
    voxels : (K, 6) ndarray of int64
        Voxels near and far, the same annotated by nobody, and agreed near and far.
    """

    keys: NDArray[np.int64]
    sums: NDArray[np.int64]
    voxels: NDArray[np.int64]

    def mixed_votes(self, frequencies: Floats, units: float) -> MixedVotes:
        """As sums of shares; where nobody annotated they are the labels' frequencies."""
        size = len(frequencies)
        flat = np.zeros((2, size * size))
        flat[:, self.keys] = self.sums.T / units
        mixed = flat.reshape(2, size, size)
        mixed += frequencies[:, None] * self.voxels[:, 2:4].T[:, None, :]
        near, far, _, _, agreed, agreed_far = self.voxels.T
        return MixedVotes(mixed[0], mixed[1], near, far, agreed, agreed_far)
