"""LabelVotingImageFilter: SimpleITK's plurality vote."""

from __future__ import annotations

from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.filters.fusion import FusionCase, PatternFusion
from itk_consensus.filters.label_fusion import LabelFusionFilter, UndecidedLabelMixin


class LabelVotingImageFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.
    """

    positional = ("LabelForUndecidedPixels",)
    method = "label-voting"
    summary = "Assumes nothing; SimpleITK's vote, ties get a label of their own."

    def _fuse(self, case: FusionCase) -> PatternFusion:
        self._check_undecided_label(case)
        vote = majority_vote(case.patterns)
        return PatternFusion(case.patterns, vote.decision, vote.fractions)
