"""JointLabelFusionFilter: atlases whose images err alike share one voice."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from itk_consensus.constraints import Boolean, Real
from itk_consensus.errors import ParameterError
from itk_consensus.filters.atlas_fusion import PATCH_SIDES, AtlasFusionFilter
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.parameters import Output, Parameter
from itk_consensus.fusion.atlas.atlas_images import ComparableImages
from itk_consensus.fusion.atlas.joint_fusion import JointSettings, joint_weights
from itk_consensus.neighbourhood.patch_weights import MOST_STEPS
from itk_consensus.votes.disputed_voxels import DisputedVoxels


class JointLabelFusionFilter(AtlasFusionFilter):
    """Joint label fusion of plain intensity differences.

    ``M_ij = (sum over the patch of |T - F_i| |T - F_j|)^Beta`` and
    ``w = (M + Alpha I)^-1 1 / 1^T (M + Alpha I)^-1 1``, in units of the target's spread.
    With `SearchRadius` each atlas votes from where its patch is nearest to the target's.
    """

    summary = (
        "Assumes that atlases which look alike err alike, and estimates it from the images. "
        "Wang et al. 2013."
    )

    Beta = Parameter(
        # Sums of intensities in units of their spread overflow with far larger ones.
        Real(low=0.0, high=16.0, exclusive=True),
        JointSettings.beta,
        "Exponent of the errors.",
    )
    Alpha = Parameter(
        Real(low=0.0, exclusive=True), JointSettings.alpha, "Conditioning, added to the diagonal."
    )
    SearchRadius = Parameter(
        Real(low=0.0),
        0.0,
        "Half width, in mm, of the region in which a better matching patch is searched.",
    )
    NonNegativeWeights = Parameter(Boolean(), True, "Whether negative weights are set to 0.")

    _settings = Output[JointSettings | None](None)

    def _margin(self, case: FusionCase) -> tuple[int, ...]:
        patch = self._radii(case, self.PatchRadius, PATCH_SIDES)
        # Beyond the image there is nothing to be found.
        widest = self._radii(case, self.SearchRadius, 0.0)
        extents = case.loaded.geometry.shape
        search = tuple(min(r, n - 1) for r, n in zip(widest, extents, strict=True))
        for name, radii in (("PatchRadius", patch), ("SearchRadius", search)):
            if prod(2 * r + 1 for r in radii) > MOST_STEPS:
                raise ParameterError(
                    f"{name} must reach over at most {MOST_STEPS} voxels, each "
                    f"of which is looked at, got {' x '.join(str(2 * r + 1) for r in radii)}",
                    owner=self.GetName(),
                )
        self._settings = JointSettings(patch, search, self.Beta, self.Alpha)
        return tuple(p + s for p, s in zip(patch, search, strict=True))

    def _weigh(
        self, images: ComparableImages, voxels: DisputedVoxels, digits: list[NDArray[np.uint16]]
    ) -> list[NDArray[np.float32]]:
        present = [i for i, atlas in enumerate(images.atlases) if atlas is not None]
        given = images._replace(atlases=[images.atlases[i] for i in present])
        found, shifts = joint_weights(given, voxels.places, self._made(self._settings))
        if self.NonNegativeWeights:
            np.maximum(found, 0, out=found)
        weights = [np.zeros(voxels.shape, np.float32) for _ in images.atlases]
        places = np.stack(np.unravel_index(voxels.places, voxels.shape), axis=-1)
        last = np.array(voxels.shape) - 1
        for column, atlas in enumerate(present):
            weights[atlas][...] = 1 / len(present)
            weights[atlas].reshape(-1)[voxels.places] = found[:, column]
            nearest = np.clip(places + shifts[:, column], 0, last)
            digits[atlas].reshape(-1)[voxels.places] = digits[atlas][tuple(nearest.T)]
        return weights
