"""Normalised cross-correlation in a patch around each disputed voxel, by running sums.

Patches end at the border, at the mask and where a rater did not annotate.
"""

from __future__ import annotations

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.space.box_sum import box_sum
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels

#: Products of standard deviations below this are rounding errors of constant patches.
_CONSTANT = 1e-9


class Patches:
    """Means over what raters, who all annotated the same voxels, say around each disputed voxel."""

    def __init__(self, voxels: DisputedVoxels, radii: tuple[int, ...], raters: list[int]) -> None:
        self._voxels, self._radii = voxels, radii
        annotated = voxels.patterns.present[:, raters[0]]
        # Outside the mask volumes are zero already.
        self._annotated = None if annotated.all() else voxels.expand(annotated)
        self._count = np.maximum(self._sum(voxels.expand(annotated.astype(np.float64))), 1.0)

    def mean(self, volume: Floats) -> Floats:
        """(N,) means of a volume of the box's shape, zero outside the mask; overwrites it."""
        if self._annotated is not None:
            volume *= self._annotated
        return self._sum(volume) / self._count

    def mean_and_variance(self, volume: Floats) -> tuple[Floats, Floats]:
        """(N,) means and variances of a volume, which is kept."""
        mean = self.mean(volume.copy())
        return mean, np.maximum(self.mean(volume**2) - mean**2, 0.0)

    def _sum(self, volume: Floats) -> Floats:
        return self._voxels.take(box_sum(volume, self._radii))


def raters_by_gaps(patterns: DecisionPatterns) -> list[list[int]]:
    """Groups of raters who annotated the same voxels, and so share means."""
    groups: dict[bytes, list[int]] = {}
    for rater in range(patterns.number_of_raters):
        groups.setdefault(patterns.present[:, rater].tobytes(), []).append(rater)
    return list(groups.values())


def correlation(covariance: Floats, variance: Floats, other_variance: Floats) -> Floats:
    """Covariance over standard deviations, from -1 to 1; 0 where either patch is constant."""
    # Of a constant patch rounding can leave a variance below 0.
    norm: Floats = np.sqrt(np.maximum(variance, 0.0) * np.maximum(other_variance, 0.0))
    ratio = np.divide(covariance, norm, out=np.zeros_like(norm), where=norm > _CONSTANT)
    return np.clip(ratio, -1.0, 1.0)
