"""JointLabelFusionFilter: atlases whose images err alike share one voice."""

from __future__ import annotations

from itk_consensus.core.constraints import Boolean, Real
from itk_consensus.core.parameters import Parameter
from itk_consensus.methods.atlas.atlas_fusion_filter import AtlasFusionFilter
from itk_consensus.votes.fields.patches import PatchRule


class JointLabelFusionFilter(AtlasFusionFilter):
    """Joint label fusion: weights by the patches' joint errors, which vote for whole patches.

    ``M_ij = (mean over the patch of |T - F_i| |T - F_j|)^Beta`` and
    ``w = (M + Alpha I)^-1 1 / 1^T (M + Alpha I)^-1 1``, of normalised patches, each atlas at the
    place of the search where it is nearest to the target.
    """

    summary = (
        "Assumes that atlases which look alike err alike, and estimates it from the images. "
        "Wang et al. 2013."
    )

    Beta = Parameter(
        # Sums of intensities in units of their spread overflow with far larger ones.
        Real(low=0.0, high=16.0, exclusive=True),
        PatchRule.beta,
        "Exponent of the errors.",
    )
    Alpha = Parameter(
        Real(low=0.0, exclusive=True), PatchRule.alpha, "Conditioning, added to the diagonal."
    )
    ConstrainWeights = Parameter(
        Boolean(),
        PatchRule.constrained,
        "Whether weights are the best of those not below 0; else negative ones are taken for 0.",
    )

    def _rule(self, patch: tuple[int, ...], search: tuple[int, ...]) -> PatchRule:
        return PatchRule(
            patch,
            search,
            normalised=self.NormalizePatches,
            beta=self.Beta,
            alpha=self.Alpha,
            constrained=self.ConstrainWeights,
        )
