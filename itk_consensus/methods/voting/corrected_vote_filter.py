"""CorrectedVoteFilter: smoothed vote, corrected for sensitivity and specificity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.parameters import Measurement
from itk_consensus.core.work import stage
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.methods.voting.corrected_vote import CorrectedVote, corrected_vote, mixing_matrix
from itk_consensus.methods.voting.smoothed_vote import TiledShares, TilesOf
from itk_consensus.methods.voting.soft_vote import SoftShares
from itk_consensus.methods.voting.tile_votes import SmoothingEstimate, TileVoteFilter
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.vote_tiles import MixedVotes


@dataclass(frozen=True)
class MixingEstimate(SmoothingEstimate):
    """Estimated mixing matrix of the votes."""

    #: (K, K) mean share of votes for the row's label where the smoothed vote is the column's
    shares: NDArray[np.float64]


class CorrectedVoteFilter(TileVoteFilter):
    """Smoothed vote shares, corrected for the raters' mean sensitivity and specificity.

    For noisy raters its contours are closer to the truth than those of the smoothed vote. Like the
    smoothed vote, it erodes thin structures, except for unanimous voxels.
    ``examples/benchmarks/methods/evidence_table.py`` compares both in every setting. Probabilities
    are vote shares.
    """

    needs = "votes"
    chunking_unsupported_reason = ""
    method = "corrected-vote"
    summary = (
        "Assumes that neighbours share a label and raters have equal error rates; estimates what "
        "they miss and add, and corrects the threshold. Best on average in noise."
    )
    laws = frozenset({"rater permutation", "relabelling", "unanimity"})

    mixes_votes = True

    VoteShares = Measurement(
        NDArray[np.float64],
        "(labels, labels): mean share of votes for the row's label where the smoothed vote is the "
        "column's, away from contours; NaN if it never is.",
        "estimate.shares",
    )

    def _fuse(self, case: FusionCase) -> Fused[MixingEstimate]:
        weights = self.weights_of(case.votes.number_of_raters)
        sigma = self._sigma(case)
        if case.opinions is not None:
            soft = SoftShares.of(case.opinions, weights=weights, sigma=sigma, spacing=case.spacing)
            fusion, mixing = soft.corrected()
            return Fused(fusion, MixingEstimate(sigma, mixing))
        with stage(0.0, 0.5):
            corrected = corrected_vote(case.votes, sigma, case.spacing, weights=weights)
        with stage(0.5, 1.0):
            return Fused(corrected.fusion(), MixingEstimate(sigma, corrected.mixing))

    def tile_vote(
        self, stack: LabelStack, tiles_of: TilesOf, mixed: MixedVotes | None
    ) -> CorrectedVote:
        assert mixed is not None
        tiles = tiles_of(stack)
        shares = TiledShares.of(tiles, stack, tiles_of)
        return CorrectedVote(tiles, shares, mixing_matrix(mixed))

    def estimate_of(self, sigma: float, mixed: MixedVotes | None) -> MixingEstimate:
        assert mixed is not None
        return MixingEstimate(sigma, mixing_matrix(mixed))
