"""MajorityVoteFilter: the vote with a threshold, weights, a tie rule and smoothing."""

from __future__ import annotations

from functools import partial
from typing import Any

from itk_consensus.filters.constraints import LENGTH, Choice, Real, optional
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import UndecidedLabelMixin
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.tile_votes import TileVoteFilter
from itk_consensus.fusion.voting.majority_vote import majority_vote
from itk_consensus.fusion.voting.smoothed_vote import SmoothedVote, smoothed_vote
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.mixed_votes import MixedVotes
from itk_consensus.votes.ties import TIE_RULES
from itk_consensus.votes.tiled_shares import TilesOf
from itk_consensus.votes.voting import StackVoteFusion


class MajorityVoteFilter(UndecidedLabelMixin, TileVoteFilter):
    """Vote whose share, threshold, weights, ties and smoothness are yours to set.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian, of so many smallest voxel
    sides, before the decision: the strongest simple baseline known to us. Probabilities are shares
    of a vote: the plain vote is then their mean.
    """

    needs = "votes"
    whole_because = ""
    method = "vote"
    summary = "Assumes raters of equal worth; the baseline to beat. Smoothing adds space."

    Threshold = Parameter(
        optional(Real(0.0, 1.0)),
        None,
        "A label needs more than this share of the votes; None: more than any other label.",
        default_doc="none",
    )
    TieRule = Parameter(Choice(TIE_RULES), "undecided", "What a tied vote becomes.")
    SmoothingSigma = Parameter(
        LENGTH,
        0.0,
        "Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.",
    )

    @property
    def chunking(self) -> str:
        return "tiles" if self.SmoothingSigma else "patterns"

    def _vote_of(
        self, stack: LabelStack, tiles_of: TilesOf, mixed: MixedVotes | None
    ) -> SmoothedVote:
        return SmoothedVote(stack, tiles_of, self.Threshold, self.TieRule)

    def _fuse(self, case: FusionCase) -> Fusion:
        weights = self._weights(len(case.stack.arrays))
        sigma = self._sigma(case)
        soft = self._soft_votes(case, weights, sigma)
        if soft is not None:
            return soft.plain(self.Threshold, self.TieRule)
        if sigma == 0:
            rules: dict[str, Any] = {
                "weights": weights,
                "threshold": self.Threshold,
                "ties": self.TieRule,
            }
            by_pattern = partial(majority_vote, **rules)
            return StackVoteFusion(case.stack, by_pattern, **rules)
        return smoothed_vote(
            case.stack,
            sigma,
            case.spacing,
            weights=weights,
            threshold=self.Threshold,
            ties=self.TieRule,
        ).fusion()
