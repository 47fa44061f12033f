"""LocallyWeightedVoteFilter: atlases weighted by the local similarity of their images."""

from __future__ import annotations

from itk_consensus.core.constraints import Real
from itk_consensus.core.parameters import Parameter
from itk_consensus.methods.atlas.atlas_filter_base import AtlasFusionFilter
from itk_consensus.votes.fields.patches import PatchRule

#: Mean squared differences below this do not distinguish atlases. The value depends on
#: NormalizePatches: differences are those of normalised patches, or of intensities in units of the
#: target's spread.
SMALLEST_DIFFERENCE = {True: 0.1, False: 0.01**2}


class LocallyWeightedVoteFilter(AtlasFusionFilter):
    """Vote of atlases, each weighted by the local similarity of its image to the target.

    The weight of an atlas is ``(1 + d / smallest)^-Power``, where d is the mean squared difference
    of the patches, so that in homogeneous regions all atlases have nearly equal weights.
    """

    summary = (
        "Assumes that an atlas is right where its image looks like the target. Artaechevarria et "
        "al. 2009, with votes of whole patches."
    )

    Power = Parameter(
        Real(low=0.0, high=16.0), 2.0, "Exponent of the inverse mean squared difference."
    )

    def _rule(self, patch: tuple[int, ...], search: tuple[int, ...]) -> PatchRule:
        return PatchRule(
            patch,
            search,
            normalised=self.NormalizePatches,
            joint=False,
            beta=self.Power,
            alpha=SMALLEST_DIFFERENCE[self.NormalizePatches],
        )
