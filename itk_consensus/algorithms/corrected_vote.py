"""The smoothed vote, corrected for the raters' mean errors.

The share of votes around a voxel is a measurement of how much foreground lies there, made with
raters who miss some of it and add some. Rogan & Gladen (American Journal of Epidemiology
107(1):71-76, 1978) correct such a measured prevalence: ``(share - a) / (b - a)``, where b and a are
the mean shares inside and outside the structure. The contour, where half is foreground, then lies
midway between a and b, not at one half of the votes. For several labels the mean shares form a
matrix, and its inverse does the same (Forman, Data Mining and Knowledge Discovery 17:164-206,
2008).

The mean shares are counted against the smoothed vote, beyond the Gaussian's reach of its contours:
what raters miss and add there is noise. Near a contour they also disagree about where it runs,
which needs no correction, the median of their contours being as good as any. Counted once:
counting again against the corrected map lets contours creep outwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from itk_consensus.algorithms.majority_vote import VoteResult
from itk_consensus.algorithms.smoothed_vote import SmoothedVote
from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import decide_voxels
from itk_consensus.labels.fusions import VolumeFusion
from itk_consensus.labels.ties import BACKGROUND, TieRule

#: Probabilities this close are a tie.
TIE_TOLERANCE = 1e-9

#: Where few voxels lie beyond a contour's reach, all voxels count as this many of them.
PSEUDO_VOXELS = 10.0


@dataclass(frozen=True)
class CorrectedVote:
    """A smoothed vote and how its shares mix the labels.

    Attributes
    ----------
    smoothed : SmoothedVote
    mixing : (K, K) ndarray
        ``mixing[d, t]`` is the mean share of votes for d where the smoothed vote says t, far from
        its contours; NaN in the column of a label that it never says.
    """

    smoothed: SmoothedVote
    mixing: Floats

    def fusion(self) -> VolumeFusion:
        """The corrected result."""
        return VolumeFusion(self.decision(), self.probability)

    def decision(self) -> NDArray[np.int32]:
        """Label index per voxel, or a code of `labels.ties`."""
        patterns, vote = self.smoothed.patterns, self.smoothed.vote
        by_pattern = self._decide(self.unmixed(vote.fractions.T))
        decision = patterns.expand(by_pattern, outside=BACKGROUND)
        self._write(lambda shares: self._decide(self.unmixed(shares)), decision, BACKGROUND)
        return decision

    def probability(self, label: int) -> Floats:
        """Corrected share of a label index at every voxel, zero outside the mask."""
        patterns, vote = self.smoothed.patterns, self.smoothed.vote
        by_pattern = self.unmixed(vote.fractions.T)[label]
        volume = patterns.expand(np.ascontiguousarray(by_pattern))
        self._write(lambda shares: self.unmixed(shares)[label], volume, 0)
        return volume

    def unmixed(self, shares: Floats) -> Floats:
        """(K, N) share of each true label that would give these (K, N) shares of votes."""
        taken = np.flatnonzero(~np.isnan(self.mixing[0]))
        # Raters who tell labels apart no better than chance leave nothing to invert.
        inverse = np.zeros_like(self.mixing)
        inverse[taken] = np.linalg.pinv(self.mixing[:, taken])
        found = inverse @ shares
        np.maximum(found, 0.0, out=found)
        total = found.sum(axis=0)
        return np.asarray(np.divide(found, total, out=shares.copy(), where=total > 0))

    def _write(
        self, answer: Callable[[Floats], NDArray[Any]], volume: NDArray[Any], outside: int
    ) -> None:
        """Write what (K, N) smoothed shares say into the region that smoothing changes."""
        region = self.smoothed.region()
        box = volume[region]
        if box.size == 0:
            return
        labels = range(self.smoothed.patterns.number_of_labels)
        shares = np.stack([self.smoothed.probability(label)[region].ravel() for label in labels])
        found = answer(shares).reshape(box.shape)
        inside = self.smoothed.inside(region)
        volume[region] = found if inside is None else np.where(inside, found, outside)

    def _decide(self, found: Floats) -> NDArray[np.int32]:
        smoothed = self.smoothed
        return decide_voxels(
            found,
            smoothed.patterns.labels,
            smoothed.ties,
            tolerance=TIE_TOLERANCE,
            prior=smoothed.vote.frequencies,
        )


def corrected_vote(
    patterns: DecisionPatterns,
    vote: VoteResult,
    sigma: float,
    spacing: tuple[float, ...],
    ties: TieRule = "prior",
) -> CorrectedVote:
    """Smooth a vote and count how its shares mix the labels.

    Parameters
    ----------
    patterns : DecisionPatterns
        With codes.
    vote : VoteResult
        Of these patterns; its raters may be weighed.
    sigma : float
        Standard deviation of the smoothing in mm; 0: none.
    spacing : tuple of float
        Voxel size per array axis.
    ties : TieRule
    """
    smoothed = SmoothedVote(patterns, vote, sigma, spacing, None, ties)
    decision = smoothed.decision()
    # The lowest bit tells voxels far from contours apart.
    table, rows, codes = patterns.split_by(2 * decision + _far_from_contours(decision, smoothed))
    shares, said, far = vote.fractions[rows], codes // 2, codes % 2
    here = (said[:, None] == np.arange(patterns.number_of_labels)) * table.counts[:, None]
    with np.errstate(invalid="ignore"):
        everywhere = shares.T @ here / here.sum(axis=0)
    beyond = here * far[:, None]
    mass = shares.T @ beyond + PSEUDO_VOXELS * everywhere
    return CorrectedVote(smoothed, mass / (beyond.sum(axis=0) + PSEUDO_VOXELS))


def _far_from_contours(decision: NDArray[np.int32], smoothed: SmoothedVote) -> NDArray[np.bool_]:
    """Voxels that the Gaussian cannot reach from any voxel of another label."""
    far = np.ones(decision.shape, dtype=bool)
    region = smoothed.region()
    if far[region].size:
        size = [2 * reach + 1 for reach in smoothed.reach]
        labels = decision[region].astype(np.int16 if decision.max() < 2**15 else np.int32)
        highest = maximum_filter(labels, size, mode="nearest")
        far[region] = highest == minimum_filter(labels, size, mode="nearest")
    return far
