"""ProbabilityAverageFilter: mean of the raters' probabilities."""

from __future__ import annotations

from itk_consensus.core.constraints import Choice
from itk_consensus.core.parameters import Parameter
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.label_fusion import UndecidedLabelMixin
from itk_consensus.fusing.probability_inputs import ProbabilityInputsMixin
from itk_consensus.fusing.shared_parameters import RaterWeightsMixin
from itk_consensus.methods.voting.vote import vote
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.ties import TIE_RULES
from itk_consensus.votes.voting import VoteRules


class ProbabilityAverageFilter(UndecidedLabelMixin, RaterWeightsMixin, ProbabilityInputsMixin):
    """Weighted mean of class probabilities, and the label with the highest mean.

    This is the usual way to combine an ensemble. Label images count as probabilities 0 and 1, so
    for label images the result is the majority vote. Inputs are vector images or lists of one image
    per class, whose probabilities sum to 1; arrays with `ClassAxis`; or scalar images of
    floating-point type, which contain the foreground probability.
    """

    chunking_unsupported_reason = ""
    method = "probability-average"
    summary = (
        "Assumes calibrated probabilities: the mean over an ensemble of networks. "
        "On label images it is the vote."
    )

    TieRule = Parameter(
        Choice(TIE_RULES), "undecided", "What to do where labels are equally probable."
    )

    def _fuse(self, case: FusionCase) -> Fusion:
        weights = self.weights_of(case.votes.number_of_raters)
        rules = VoteRules(weights, ties=self.TieRule)
        return vote(case.opinions or case.votes, rules)
