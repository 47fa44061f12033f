"""FrechetConsensusFilter: the label map with the highest mean overlap with the raters."""

from __future__ import annotations

from dataclasses import dataclass

from itk_consensus.core.constraints import Choice
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.methods.shape.frechet_consensus import MEASURES, CertainShares, frechet_labels
from itk_consensus.votes.fusions import PatternFusion


@dataclass(frozen=True)
class FrechetEstimate(Estimate):
    """Mean overlap of the map with the raters."""

    mean_overlaps: dict[int, float]  #: Mean overlap by label value


class FrechetConsensusFilter(LabelFusionFilter):
    """The label map closest to all raters at once, as measured by Dice or Jaccard.

    Each label is fused against all others; a voxel in the masks of several labels is assigned to
    the label with the most votes. Voxels with the same votes have the same label. Missing votes are
    replaced by the majority vote of the others. The probability of the assigned label is 1.
    """

    chunking_unsupported_reason = ""
    method = "frechet"
    summary = (
        "Makes no assumptions about errors; the map with the highest mean Dice (or Jaccard) to the "
        "raters, independent of the amount of background. Use as a summary of the raters, not as "
        "an estimate of the truth."
    )
    # Not invariant to relabelling: the first label is treated as the background.
    laws = frozenset({"rater permutation", "unanimity", "background padding"})

    Measure = Parameter(Choice(MEASURES), "dice", "The overlap to maximise.")

    MeanOverlaps = Measurement(
        dict[int, float],
        "Mean overlap of the map with the raters, for every label but the first.",
        "estimate.mean_overlaps",
    )

    def _fuse(self, case: FusionCase) -> Fused[FrechetEstimate]:
        patterns = case.patterns
        found = frechet_labels(patterns, self.Measure)
        overlaps = {
            int(patterns.labels[index]): overlap for index, overlap in found.overlaps.items()
        }
        certain = CertainShares(found.decision, patterns.number_of_labels)
        fusion = PatternFusion(patterns, found.decision, certain)
        return Fused(fusion, FrechetEstimate(overlaps))
