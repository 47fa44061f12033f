"""FrechetConsensusFilter: the map with the highest mean overlap to the raters."""

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
    """How close the map is to the raters."""

    mean_overlaps: dict[int, float]  #: By label


class FrechetConsensusFilter(LabelFusionFilter):
    """The label map closest to all raters at once, by Dice or Jaccard.

    Each label is fused against all others; a voxel that several labels claim goes to the one with
    more votes. Voxels with equal votes get one label. Where a rater is missing the vote of the
    others stands in. Probabilities are 1 for the label of the map, since it has no others.
    """

    whole_because = ""
    method = "frechet"
    summary = (
        "Assumes nothing about errors; the map with the highest mean Dice (or Jaccard) to the "
        "raters, however much background there is. Use as a summary of the raters, not of the "
        "truth."
    )
    # Not relabelling: the first label is taken for the background.
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
