"""Votes of raters who give probabilities: fractional instead of whole votes.

A rater who assigns probability p to a label casts a fraction p of a vote for it. The vote shares
are then the mean probabilities; the smoothed and the corrected vote process these shares in the
same way as those of whole votes. For probabilities 0 and 1 the results equal those of
smoothed_vote.py and corrected_vote.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.methods.voting.corrected_vote import mixing_matrix, unmixing_matrix
from itk_consensus.space.boxes import in_space
from itk_consensus.space.gaussian import smooth_volume
from itk_consensus.space.tiles import TRUNCATE
from itk_consensus.votes.class_probabilities import SoftVotes, weighted_sums
from itk_consensus.votes.disputed_voxels import decide_voxels
from itk_consensus.votes.fusions import StoredShares, VolumeFusion
from itk_consensus.votes.ties import BACKGROUND, SAME_PROBABILITY, SAME_VOTES, TieRule
from itk_consensus.votes.vote_tiles import MixedVotes


@dataclass(frozen=True)
class SoftShares:
    """Vote shares at every voxel."""

    #: (K, *shape) weighted mean of the raters' probabilities; the label frequencies where no rater
    #: voted, 0 outside the mask.
    shares: Floats
    voted: NDArray[np.bool_]  #: (*shape) whether any rater voted
    inside: NDArray[np.bool_]  #: (*shape) whether a voxel is inside the mask
    frequencies: Floats  #: (K,) frequencies of the labels among all votes inside the mask
    #: Standard deviation of the smoothing, in voxels per axis; 0: no smoothing
    sigmas: Sequence[float]

    @classmethod
    def of(
        cls,
        votes: SoftVotes,
        *,
        weights: Floats | None = None,
        sigma: float = 0.0,
        spacing: Sequence[float] = (),
    ) -> SoftShares:
        """Average the probabilities of the raters.

        Parameters
        ----------
        weights : (J,) ndarray or None
            Weight of each rater; None: equal weights.
        sigma : float
            Standard deviation of the smoothing in mm.
        spacing : sequence of float
            Voxel size per array axis; required for smoothing.
        """
        counted = np.ones(votes.number_of_raters) if weights is None else weights
        sums, total = weighted_sums(votes, counted)
        shares = np.stack(sums)
        inside = np.ones(total.shape, bool) if votes.mask is None else votes.mask != 0
        voted = total > 0
        frequencies = shares[:, inside & voted].sum(axis=1)
        frequencies /= frequencies.sum()
        np.divide(shares, total, out=shares, where=voted)
        shares[:, ~voted] = frequencies[:, None]
        shares[:, ~inside] = 0.0
        sigmas = in_space([sigma / side for side in spacing], 0.0) or [0.0] * total.ndim
        return cls(shares, voted, inside, frequencies, sigmas)

    @cached_property
    def smoothed(self) -> Floats:
        """(K, \\*shape) shares smoothed inside the mask."""
        if not any(self.sigmas):
            return self.shares
        smooth = np.stack([smooth_volume(share.copy(), self.sigmas) for share in self.shares])
        if not self.inside.all():
            around = smooth_volume(self.inside.astype(np.float64), self.sigmas)
            smooth /= np.where(self.inside, around, 1.0)
            smooth[:, ~self.inside] = 0.0
        return smooth

    def plain(self, threshold: float | None, ties: TieRule) -> VolumeFusion:
        """Return the majority vote; without smoothing, voxels without annotation are undecided."""
        shares = self.smoothed
        scores = shares if any(self.sigmas) else np.where(self.voted, shares, -np.inf)
        if threshold is not None:
            scores = np.where(scores > threshold + SAME_VOTES, scores, -np.inf)
        return self._fusion(shares, scores, ties, SAME_VOTES)

    def corrected(self, ties: TieRule = "prior") -> tuple[VolumeFusion, Floats]:
        """Return the corrected vote and the mixing matrix (corrected_vote.py)."""
        decision = self._decide(self.smoothed, ties, SAME_VOTES)
        mixing = mixing_matrix(self._mixed_votes(decision))
        found = np.maximum(np.tensordot(unmixing_matrix(mixing), self.smoothed, axes=1), 0.0)
        total = found.sum(axis=0)
        found = np.divide(found, total, out=self.smoothed.copy(), where=total > 0)
        certain = self.shares > 1 - SAME_PROBABILITY
        found = np.where(certain.any(axis=0), certain, found)
        return self._fusion(found, found, ties, SAME_PROBABILITY), mixing

    def _mixed_votes(self, decision: NDArray[np.int32]) -> MixedVotes:
        size = [2 * int(TRUNCATE * sigma + 0.5) + 1 for sigma in self.sigmas]
        most, least = (
            f(decision, size, mode="nearest")
            for f in (scipy.ndimage.maximum_filter, scipy.ndimage.minimum_filter)
        )
        far = most == least
        lowest, highest = self._extreme_votes(size)
        agreed = (lowest == highest) & (decision == lowest) & self.voted & self.inside
        number = len(self.shares)
        sums, counts = np.zeros((2, number, number)), np.zeros((4, number), np.int64)
        for label in range(number):
            here = (decision == label) & self.inside
            parts = here & ~agreed, here & ~agreed & far
            for index, part in enumerate(parts):
                sums[index, :, label] = self.shares[:, part].sum(axis=1)
            every = (*parts, here & agreed, here & agreed & far)
            counts[:, label] = [np.count_nonzero(part) for part in every]
        return MixedVotes(*sums, *counts)

    def _extreme_votes(self, size: Sequence[int]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the lowest and the highest label with a non-zero share near each voxel."""
        number = len(self.shares)
        labels = np.arange(number).reshape(-1, *[1] * self.voted.ndim)
        given = (self.shares > 0) & self.voted & self.inside
        lowest = np.where(given, labels, number).min(axis=0)
        highest = np.where(given, labels, -1).max(axis=0)
        return (
            scipy.ndimage.minimum_filter(lowest, size, mode="nearest"),
            scipy.ndimage.maximum_filter(highest, size, mode="nearest"),
        )

    def _decide(self, scores: Floats, ties: TieRule, tolerance: float) -> NDArray[np.int32]:
        flat, labels = scores.reshape(len(scores), -1), np.arange(len(scores))
        found = decide_voxels(flat, labels, ties, tolerance=tolerance, prior=self.frequencies)
        return np.where(self.inside, found.reshape(self.inside.shape), np.int32(BACKGROUND))

    def _fusion(
        self, shares: Floats, scores: Floats, ties: TieRule, tolerance: float
    ) -> VolumeFusion:
        return VolumeFusion(self._decide(scores, ties, tolerance), StoredShares(shares))
