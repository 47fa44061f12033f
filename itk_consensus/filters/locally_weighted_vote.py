"""LocallyWeightedVoteFilter: atlases count where their images look like the target."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itk_consensus.constraints import Choice, Real
from itk_consensus.filters.atlas_fusion import PATCH_SIDES, AtlasFusionFilter
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.parameters import Output, Parameter
from itk_consensus.fusion.atlas.atlas_images import SIMILARITIES, ComparableImages, local_weights
from itk_consensus.votes.disputed_voxels import DisputedVoxels


class LocallyWeightedVoteFilter(AtlasFusionFilter):
    """Vote of atlases, each weighted by how much its image looks like the target nearby.

    Intensities are matched globally and freed of a smooth bias before they are compared; where
    images say nothing atlases count alike.
    """

    summary = (
        "Assumes that an atlas is right where its image looks like the target. Artaechevarria et "
        "al. 2009, with plain differences."
    )

    Similarity = Parameter(
        Choice(SIMILARITIES),
        "squared difference",
        "How patches are compared; correlation tolerates strong local bias.",
    )
    Power = Parameter(
        Real(low=0.0, high=16.0),
        2.0,
        "Exponent of the inverse mean squared difference, or correlation.",
    )

    _patch = Output[tuple[int, ...]](())

    def _margin(self, case: FusionCase) -> tuple[int, ...]:
        self._patch = self._radii(case, self.PatchRadius, PATCH_SIDES)
        return self._patch

    def _weigh(
        self, images: ComparableImages, voxels: DisputedVoxels, digits: list[NDArray[np.uint16]]
    ) -> list[NDArray[np.float32]]:
        return local_weights(images, self._patch, self.Similarity, self.Power)
