"""Normalised cross-correlation in a patch around each disputed voxel, using running sums.

Voxels that are outside the image or the mask, or not annotated by the rater, are excluded from
patches.
"""

from __future__ import annotations

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.space.box_sum import box_sum
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels

#: Products of standard deviations below this are attributed to rounding in constant patches.
_CONSTANT = 1e-9


class Patches:
    """Means over patches around disputed voxels, for raters who annotated the same voxels."""

    def __init__(self, voxels: DisputedVoxels, radii: tuple[int, ...], raters: list[int]) -> None:
        self._voxels, self._radii = voxels, radii
        annotated = voxels.patterns.present[:, raters[0]]
        # Volumes are already zero outside the mask.
        self._annotated = None if annotated.all() else voxels.expand(annotated)
        self._count = np.maximum(self._sum(voxels.expand(annotated.astype(np.float64))), 1.0)

    def mean(self, volume: Floats) -> Floats:
        """Return (N,) means of a volume of the box's shape, 0 outside the mask; overwrites it."""
        if self._annotated is not None:
            volume *= self._annotated
        return self._sum(volume) / self._count

    def mean_and_variance(self, volume: Floats) -> tuple[Floats, Floats]:
        """Return (N,) means and variances of a volume, without changing it."""
        mean = self.mean(volume.copy())
        return mean, np.maximum(self.mean(volume**2) - mean**2, 0.0)

    def _sum(self, volume: Floats) -> Floats:
        return self._voxels.take(box_sum(volume, self._radii))


def raters_by_gaps(patterns: DecisionPatterns) -> list[list[int]]:
    """Group raters who annotated the same voxels, so that they can share patches."""
    groups: dict[bytes, list[int]] = {}
    for rater in range(patterns.number_of_raters):
        groups.setdefault(patterns.present[:, rater].tobytes(), []).append(rater)
    return list(groups.values())


def correlation(covariance: Floats, variance: Floats, other_variance: Floats) -> Floats:
    """Return covariance over standard deviations, from -1 to 1; 0 if either patch is constant."""
    # Rounding can make the variance of a constant patch negative.
    norm: Floats = np.sqrt(np.maximum(variance, 0.0) * np.maximum(other_variance, 0.0))
    ratio = np.divide(covariance, norm, out=np.zeros_like(norm), where=norm > _CONSTANT)
    return np.clip(ratio, -1.0, 1.0)
