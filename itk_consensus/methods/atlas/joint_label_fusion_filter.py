"""JointLabelFusionFilter: atlases with correlated errors share their weight.

The radii of patches and search are parameters of `AtlasFusionFilter`.
"""

from __future__ import annotations

from itk_consensus.core.constraints import Boolean, Real
from itk_consensus.core.parameters import Parameter
from itk_consensus.methods.atlas.atlas_filter_base import AtlasFusionFilter
from itk_consensus.votes.fields.patches import PatchRule


class JointLabelFusionFilter(AtlasFusionFilter):
    """Joint label fusion: vote of patches, weighted by the atlases' expected joint errors.

    ``M_ij = (mean over the patch of |T - F_i| |T - F_j|)^Beta`` and
    ``w = (M + Alpha I)^-1 1 / 1^T (M + Alpha I)^-1 1`` for normalised patches; from each atlas, the
    patch in the search box that is most similar to the target's is used.
    """

    summary = (
        "Assumes that atlases which look alike err alike, and estimates it from the images. "
        "Wang et al. 2013."
    )

    Beta = Parameter(
        # Much larger exponents overflow.
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
        "Whether weights are optimised under the constraint that they are not negative; else "
        "negative weights are set to 0.",
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
