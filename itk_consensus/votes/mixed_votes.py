"""How often votes for one label meet a decision for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats


@dataclass(frozen=True)
class MixedVotes:
    """How often votes for one label meet a decision for another."""

    #: (K, K) sums of vote shares for label d (row) where the decision says t (column), within reach
    #: of any dissent.
    near: Floats
    far: Floats  #: Of these where the decision is the same within reach
    near_voxels: NDArray[np.int64]  #: (K,) voxels that were summed over
    far_voxels: NDArray[np.int64]
    #: (K,) the same for voxels without any dissent within reach: there the share of t is 1.
    agreed: NDArray[np.int64]
    agreed_far: NDArray[np.int64]


class MixedCounts(NamedTuple):
    """The same as whole numbers, which add up over the parts of a volume."""

    keys: NDArray[np.int64]  #: (N,) d * K + t of the pairs that occur
    sums: NDArray[np.int64]  #: (N, 2) units of votes, near and far
    #: (K, 6) voxels near and far, the same annotated by no rater, and agreed near and far.
    voxels: NDArray[np.int64]

    def mixed_votes(self, frequencies: Floats, units: float) -> MixedVotes:
        """As sums of shares; where no rater annotated they are the labels' frequencies."""
        size = len(frequencies)
        flat = np.zeros((2, size * size))
        flat[:, self.keys] = self.sums.T / units
        mixed = flat.reshape(2, size, size)
        mixed += frequencies[:, None] * self.voxels[:, 2:4].T[:, None, :]
        near, far, _, _, agreed, agreed_far = self.voxels.T
        return MixedVotes(mixed[0], mixed[1], near, far, agreed, agreed_far)
