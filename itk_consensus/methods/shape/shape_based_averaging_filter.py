"""ShapeBasedAveragingFilter: mean of the raters' signed distances, for any number of labels."""

from __future__ import annotations

from collections.abc import Sequence

from itk_consensus.core.constraints import Choice, Real
from itk_consensus.core.parameters import Parameter, settings_from
from itk_consensus.fusing.fused_blocks import FusedBlocks
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.fusing.shared_parameters import RaterWeightsMixin
from itk_consensus.methods.shape.averaged_blocks import averaged_blocks
from itk_consensus.methods.shape.contour_average import shape_based_average
from itk_consensus.methods.shape.mean_distances import AveragingSettings
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.ties import TIE_RULES


class ShapeBasedAveragingFilter(UndecidedLabelMixin, RaterWeightsMixin, LabelFusionFilter):
    """Assigns each voxel to the label with the smallest mean signed distance over the raters.

    Distances are in mm. For a rater who did not draw a label at all, the largest distance of the
    others is used. GetProbabilityImage converts mean distances to log odds: `ProbabilityScale` mm
    correspond to a factor of e. Where all raters agree the probability is 1.
    """

    # Not invariant to background padding: contours at the image border change.
    laws = frozenset({"rater permutation", "relabelling", "unanimity"})
    chunking_unsupported_reason = ""
    bytes_per_voxel = 12
    method = "shape-average"
    summary = (
        "Assumes contours displaced from the true one by some mm. Use for noisy or "
        "jagged labels and for touching structures; thin ones may vanish. Rohlfing & Maurer 2007."
    )

    TrimFraction = Parameter(
        Real(0.0, 0.49),
        AveragingSettings.trim_fraction,
        "Fraction of the distances that is left out of the average at each end.",
    )
    TieRule = Parameter(
        Choice(TIE_RULES),
        AveragingSettings.tie_rule,
        "What to do with voxels that are equally far from two labels.",
    )
    ProbabilityScale = Parameter(
        Real(low=0.0, exclusive=True),
        AveragingSettings.probability_scale,
        "Difference of mean distances, in mm, that changes the odds of two labels by a factor e.",
    )

    def _fuse(self, case: FusionCase) -> Fusion:
        settings = self._settings(case.patterns, case.spacing)
        return shape_based_average(case.patterns, settings).fusion()

    def fuse_blocks(self, patterns: DecisionPatterns, spacing: Sequence[float]) -> FusedBlocks:
        """Fuse votes in blocks; return the decision in blocks."""
        return FusedBlocks(averaged_blocks(patterns, self._settings(patterns, spacing)), None)

    def _settings(self, patterns: DecisionPatterns, spacing: Sequence[float]) -> AveragingSettings:
        return settings_from(
            self,
            AveragingSettings,
            spacing=tuple(spacing),
            weights=self.weights_of(patterns.number_of_raters),
        )
