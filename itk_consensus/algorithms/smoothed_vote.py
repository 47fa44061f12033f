"""The vote smoothed in space: neighbours share their votes before the decision.

A Gaussian of the vote shares, in mm, is the baseline that spatial fusion has to beat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.majority_vote import VoteResult, decide_shares
from itk_consensus.array_types import Floats
from itk_consensus.labels.boxes import Box, in_space
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import Fusion, VolumeFusion
from itk_consensus.labels.smoothing import gaussian
from itk_consensus.labels.ties import BACKGROUND, TieRule

#: Standard deviations after which the Gaussian is cut off.
TRUNCATE = 4.0


@dataclass(frozen=True)
class SmoothedVote:
    """Vote shares smoothed by a Gaussian of `sigma` mm.

    Only the bounding box of what differs from the commonest pattern is computed; beyond the
    Gaussian's reach from it every voxel votes alike, and smoothing changes nothing. In 4D the
    first array axis (ITK's last) holds independent volumes and is not smoothed.
    """

    patterns: DecisionPatterns
    vote: VoteResult
    sigma: float
    spacing: tuple[float, ...]
    threshold: float | None
    ties: TieRule

    def fusion(self) -> Fusion:
        """The smoothed result; the vote itself if nothing is smoothed."""
        return self.vote if self.sigma == 0 else VolumeFusion(self.decision(), self.probability)

    @property
    def _sigmas(self) -> list[float]:
        return in_space([self.sigma / size for size in self.spacing], 0.0)

    @property
    def reach(self) -> list[int]:
        """Voxels that the Gaussian covers to each side, per array axis."""
        return [int(TRUNCATE * sigma + 0.5) for sigma in self._sigmas]

    def region(self) -> Box:
        """The box in which smoothing changes anything."""
        others = np.ones(len(self.patterns.counts), dtype=bool)
        if self.patterns.outside_code is None:
            others[self.patterns.counts.argmax()] = False
        return self.patterns.region(others, self.reach)

    def probability(self, label: int) -> Floats:
        """Smoothed share of the votes for a label index, zero outside the mask."""
        volume = self.patterns.expand(np.ascontiguousarray(self.vote.fractions[:, label]))
        region = self.region()
        volume[region] = self._smooth(volume[region])
        return self._masked(volume, region)

    def _smooth(self, box: Floats) -> Floats:
        if box.size == 0:
            return box
        return gaussian(box, self._sigmas, TRUNCATE, "nearest")

    def inside(self, region: Box) -> NDArray[np.bool_] | None:
        """Which voxels of the region the mask holds; None without a mask."""
        if self.patterns.outside_code is None or self.patterns.codes is None:
            return None
        return np.asarray(self.patterns.codes[region] != self.patterns.outside_code)

    def _masked(self, volume: Floats, region: Box) -> Floats:
        """Shares relative to the smoothed mask: voxels outside it neither vote nor count."""
        inside = self.inside(region)
        if inside is not None:
            weight = self._smooth(inside.astype(np.float64))
            share = np.divide(volume[region], weight, out=np.zeros_like(weight), where=weight > 0)
            volume[region] = np.where(inside, share, 0.0)
        return volume

    def decision(self) -> NDArray[np.int32]:
        """Label index per voxel, `labels.ties` codes where no label wins."""
        decision = self.patterns.expand(self.vote.decision.astype(np.int32), outside=BACKGROUND)
        region = self.region()
        if decision[region].size == 0:
            return decision
        labels = range(self.patterns.number_of_labels)
        shares = np.stack([self.probability(label)[region].ravel() for label in labels], axis=1)
        whole = np.ones((1, 1))
        chosen = decide_shares(
            shares, whole, self.patterns.labels, self.threshold, self.ties, self.vote.frequencies
        ).reshape(decision[region].shape)
        inside = self.inside(region)
        decision[region] = chosen if inside is None else np.where(inside, chosen, BACKGROUND)
        return decision
