"""MajorityVoteFilter: majority vote with a threshold, weights, a tie rule and smoothing."""

from __future__ import annotations

from itk_consensus.core.constraints import LENGTH, Choice, Real, optional
from itk_consensus.core.parameters import Parameter
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.label_fusion import UndecidedLabelMixin
from itk_consensus.methods.voting.smoothed_vote import SmoothedVote, TilesOf
from itk_consensus.methods.voting.tile_votes import SmoothingEstimate, TileVoteFilter
from itk_consensus.methods.voting.vote import vote
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import TIE_RULES
from itk_consensus.votes.vote_tiles import MixedVotes
from itk_consensus.votes.voting import VoteRules


class MajorityVoteFilter(UndecidedLabelMixin, TileVoteFilter):
    """Majority vote with optional threshold, weights, tie rule and smoothing.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian before the decision, which is
    the strongest simple baseline known to us. Probability inputs count as fractional votes; without
    smoothing their vote share is their mean.
    """

    needs = "votes"
    chunking_unsupported_reason = ""
    method = "vote"
    summary = "Assumes equally good raters; the baseline to beat. Smoothing adds spatial context."

    Threshold = Parameter(
        optional(Real(0.0, 1.0)),
        None,
        "A label needs more than this share of the votes; None: more votes than any other label.",
        default_doc="none",
    )
    TieRule = Parameter(Choice(TIE_RULES), "undecided", "What to do with tied voxels.")
    SmoothingSigma = Parameter(
        LENGTH,
        0.0,
        "Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.",
    )

    @property
    def chunking(self) -> str:
        return "tiles" if self.SmoothingSigma else "patterns"

    def tile_vote(
        self, stack: LabelStack, tiles_of: TilesOf, mixed: MixedVotes | None
    ) -> SmoothedVote:
        return SmoothedVote(stack, tiles_of, self.Threshold, self.TieRule)

    def _fuse(self, case: FusionCase) -> Fused[SmoothingEstimate]:
        weights = self.weights_of(case.votes.number_of_raters)
        rules = VoteRules(weights, self.Threshold, self.TieRule)
        votes, sigma = case.opinions or case.votes, self._sigma(case)
        fusion = vote(votes, rules, sigma=sigma, spacing=case.spacing)
        return Fused(fusion, SmoothingEstimate(sigma))
