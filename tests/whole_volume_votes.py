"""Compute smoothed and corrected votes in NumPy and scipy, every label over the whole volume.

The tiled kernels must give the same results. This implementation is slow, uses double precision,
and skips nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, maximum_filter, minimum_filter
from stacks import Drawn

from itk_consensus.votes.ties import BACKGROUND, TieRule, decide

Floats = NDArray[np.float64]


def sigmas(sigma: float, spacing: tuple[float, ...]) -> list[float]:
    """Return sigma in voxels; the first of four axes holds independent volumes."""
    scaled = [sigma / size for size in spacing]
    return [0.0, *scaled[1:]] if len(scaled) > 3 else scaled


def smooth(volume: Floats, sigma: float, spacing: tuple[float, ...]) -> Floats:
    return gaussian_filter(volume, sigmas(sigma, spacing), mode="nearest", truncate=4.0)


@dataclass(frozen=True)
class WholeVotes:
    """Shares of a drawn stack, (K, ...), before and after smoothing."""

    drawn: Drawn
    sigma: float
    spacing: tuple[float, ...]
    weights: Floats | None = None

    @property
    def inside(self) -> NDArray[np.bool_]:
        shape = self.drawn.present[0].shape
        return np.ones(shape, bool) if self.drawn.mask is None else self.drawn.mask != 0

    def _digits(self) -> NDArray[np.int64]:
        return self.drawn.digits().T.reshape(-1, *self.drawn.present[0].shape)

    def _votes(self) -> Floats:
        digits = self._digits()
        weights = np.ones(len(digits)) if self.weights is None else self.weights
        labels = range(len(self.drawn.labels()))
        return np.stack([np.tensordot(weights, digits == label, axes=1) for label in labels])

    @property
    def frequencies(self) -> Floats:
        votes = self._votes()[:, self.inside].sum(axis=1)
        return votes / votes.sum()

    def shares(self) -> Floats:
        votes = self._votes()
        total = votes.sum(axis=0)
        unknown = self.frequencies.reshape(-1, *[1] * total.ndim) * np.ones_like(votes)
        shares = np.divide(votes, total, out=unknown, where=total > 0)
        return np.where(self.inside, shares, 0.0)

    def smoothed(self) -> Floats:
        weight = smooth(self.inside.astype(float), self.sigma, self.spacing)
        shares = np.stack([smooth(share, self.sigma, self.spacing) for share in self.shares()])
        shares = np.divide(shares, weight, out=np.zeros_like(shares), where=weight > 0)
        return np.where(self.inside, shares, 0.0)

    def decide(
        self, shares: Floats, ties: TieRule, tolerance: float, threshold: float | None = None
    ) -> NDArray[np.int64]:
        rows = shares.reshape(len(shares), -1).T
        if threshold is not None:
            rows = np.where(rows > threshold + tolerance, rows, -np.inf)
        labels = np.array(self.drawn.labels())
        chosen = decide(rows, labels, ties, tolerance=tolerance, prior=self.frequencies)
        return np.where(self.inside, chosen.reshape(self.inside.shape), BACKGROUND)

    def mixing(self, ties: TieRule) -> Floats:
        """Return (K, K) mean shares of voxels far from contours; only background within reach of
        other votes is counted.
        """
        said = self.decide(self.smoothed(), ties, 1e-12)
        size = [2 * int(4.0 * s + 0.5) + 1 for s in sigmas(self.sigma, self.spacing)]
        far = maximum_filter(said, size, mode="nearest") == minimum_filter(
            said, size, mode="nearest"
        )
        digits, number = self._digits(), len(self.drawn.labels())
        voted = (digits < number) & self.inside
        lowest = minimum_filter(np.where(voted, digits, number).min(axis=0), size, mode="nearest")
        highest = maximum_filter(np.where(voted, digits, -1).max(axis=0), size, mode="nearest")
        agreed = (lowest == highest) & (said == lowest) & (self._votes().sum(axis=0) > 0)
        sizes = [int((agreed & (said == label) & self.inside).sum()) for label in range(number)]
        shares = self.shares()
        mixing = np.full((number, number), np.nan)
        for label in range(number):
            here = (said == label) & self.inside
            if not here.any():
                continue
            if sizes[label] == max(sizes):
                here &= ~agreed
            mean = shares[:, here].mean(axis=1) if here.any() else np.eye(number)[label]
            beyond = here & far
            mixing[:, label] = (shares[:, beyond].sum(axis=1) + 10 * mean) / (beyond.sum() + 10)
        return mixing

    def corrected(self, ties: TieRule) -> Floats:
        """Return (K, ...) shares unmixed over all labels."""
        mixing, shares = self.mixing(ties), self.smoothed()
        taken = np.flatnonzero(~np.isnan(mixing[0]))
        inverse = np.zeros_like(mixing)
        inverse[taken] = np.linalg.pinv(mixing[:, taken])
        found = np.maximum(np.tensordot(inverse, shares, axes=1), 0.0)
        total = found.sum(axis=0)
        found = np.divide(found, total, out=shares.copy(), where=total > 0)
        voted = self._votes()
        agreed = (voted > 0) & (voted == voted.sum(axis=0))
        found = np.where(agreed.any(axis=0), agreed, found)
        return np.where(self.inside, found, 0.0)
