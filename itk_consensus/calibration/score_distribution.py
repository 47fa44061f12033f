"""The scores of many voxels as a step function: distinct values and how many voxels have each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_written(number: float) -> Fraction:
    """The decimal number people mean: .1 of 30 is 3, although binary .1 is a little more."""
    return Fraction(str(number))


@dataclass(frozen=True)
class ScoreDistribution:
    """Distinct scores in increasing order, and how many voxels score no higher than each.

    Attributes
    ----------
    values : (M,) ndarray of float64
    cumulative : (M,) ndarray of int64
    """

    values: NDArray[np.float64]
    cumulative: NDArray[np.int64]

    @classmethod
    def of(cls, scores: NDArray[Any]) -> ScoreDistribution:
        """The distribution of some scores, in any order."""
        values, counts = np.unique(scores, return_counts=True)
        return cls(values.astype(np.float64), np.cumsum(counts, dtype=np.int64))

    @classmethod
    def pooled(cls, parts: Sequence[ScoreDistribution]) -> ScoreDistribution:
        """All voxels of several distributions together."""
        values = np.concatenate([part.values for part in parts])
        counts = np.concatenate([np.diff(part.cumulative, prepend=0) for part in parts])
        distinct, index = np.unique(values, return_inverse=True)
        summed = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(summed, index, counts)
        return cls(distinct, np.cumsum(summed))

    @property
    def total(self) -> int:
        """Number of voxels."""
        return int(self.cumulative[-1]) if len(self.cumulative) else 0

    def smallest(self, rank: int) -> float:
        """The rank-th smallest score, counted from 1; minus infinity for rank 0."""
        if rank == 0:
            return -np.inf
        return float(self.values[np.searchsorted(self.cumulative, rank)])

    def threshold_for(self, tolerance: float) -> float:
        """The smallest threshold that all but a share `tolerance` of the voxels stay within."""
        return self.smallest(self.total - int(as_written(tolerance) * self.total))

    def missed(self, threshold: float) -> float:
        """The share of voxels that score higher than a threshold; 0 if there are none."""
        if self.total == 0:
            return 0.0
        steps = int(np.searchsorted(self.values, threshold, side="right"))
        within = int(self.cumulative[steps - 1]) if steps else 0
        return (self.total - within) / self.total
