"""MajorityVoteFilter: the vote with a threshold, weights, a tie rule and smoothing."""

from __future__ import annotations

from itk_consensus.algorithms.majority_vote import StackVoteFusion
from itk_consensus.algorithms.smoothed_vote import smoothed_vote
from itk_consensus.filters.constraints import LENGTH, Choice, Real, optional
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.rater_weights import RaterWeightsMixin
from itk_consensus.filters.vote_smoothing import VoteSmoothingMixin
from itk_consensus.labels.fusions import Fusion
from itk_consensus.labels.ties import TIE_RULES


class MajorityVoteFilter(
    UndecidedLabelMixin, RaterWeightsMixin, VoteSmoothingMixin, LabelFusionFilter
):
    """Vote whose share, threshold, weights, ties and smoothness are yours to set.

    With `SmoothingSigma` the vote shares are smoothed by a Gaussian, of so many smallest voxel
    sides, before the decision: the strongest simple baseline known to us.
    """

    needs = "votes"
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

    def _fuse(self, case: FusionCase) -> Fusion:
        weights = self._weights(len(case.stack.arrays))
        sigma = self._sigma(case)
        if sigma == 0:
            return StackVoteFusion(
                case.stack, weights, self.Threshold, self.TieRule, threads=case.threads
            )
        return smoothed_vote(
            case.stack,
            sigma,
            case.spacing,
            weights=weights,
            threshold=self.Threshold,
            ties=self.TieRule,
            threads=case.threads,
        ).fusion(lambda share: self._report(0.5 + 0.49 * share))
