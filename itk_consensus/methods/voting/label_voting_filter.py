"""LabelVotingImageFilter: SimpleITK's plurality vote."""

from __future__ import annotations

from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.methods.voting.vote import vote
from itk_consensus.votes.fusions import Fusion


class LabelVotingImageFilter(UndecidedLabelMixin, LabelFusionFilter):
    """Plurality vote of label images; any tie at the maximum is undecided.

    Drop-in for ``sitk.LabelVotingImageFilter``.
    """

    fuses_images = True
    positional = ("LabelForUndecidedPixels",)
    chunking_unsupported_reason = ""
    method = "label-voting"
    summary = "Makes no assumptions; SimpleITK's vote, in which ties get their own label."

    needs = "votes"

    def _fuse(self, case: FusionCase) -> Fusion:
        return vote(case.votes)
