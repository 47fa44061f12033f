"""SIMPLEFilter: drop the raters who differ most from the vote."""

from __future__ import annotations

from itk_consensus.core.constraints import Choice, Integer, Real
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.methods.selection.simple import SelectionEstimate, selective_simple
from itk_consensus.votes.ties import TIE_RULES


class SIMPLEFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Iterated vote in which raters are weighted by their overlap with the consensus.

    A rater's weight is the Dice overlap with the vote over the whole image; raters with an overlap
    far below that of the others, or without any overlap, are dropped (Langerak et al. 2010).
    """

    chunking_unsupported_reason = ""
    method = "simple"
    laws = frozenset({"rater permutation", "unanimity", "background padding"})
    summary = (
        "Assumes that raters who agree with the others overall are right. Use it to find raters "
        "who drew something else. Langerak et al. 2010."
    )

    Deviations = Parameter(
        Real(low=0.0),
        2.0,
        "Standard deviations below the mean overlap at which a rater is dropped.",
    )
    MaximumIterations = Parameter(Integer(low=1), 10, "Maximum number of iterations.")
    TieRule = Parameter(Choice(TIE_RULES), "undecided", "What to do with tied voxels.")

    Weights = Measurement(
        tuple[float, ...],
        "Weight of each rater: its Dice overlap with the vote.",
        "estimate.weights",
    )
    DroppedRaters = Measurement(
        tuple[int, ...], "Raters that were dropped, counted from 0.", "estimate.dropped_raters"
    )
    Trace = Measurement(
        tuple[float, ...],
        "Mean change of the label shares of disputed voxels per iteration.",
        "estimate.trace",
    )
    Converged = Measurement(bool, "Whether the selection became stable.", "estimate.converged")

    def _fuse(self, case: FusionCase) -> Fused[SelectionEstimate]:
        result = selective_simple(
            case.patterns,
            deviations=self.Deviations,
            maximum_iterations=self.MaximumIterations,
            ties=self.TieRule,
        )
        return Fused(result.vote, result.estimate)
