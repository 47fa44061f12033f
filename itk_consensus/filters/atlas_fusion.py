"""AtlasFusionFilter: what fusers that look at the atlases' images share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.constraints import ImageLike, ImageList, Real, optional
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import Measurement, Parameter
from itk_consensus.filters.shared_parameters import RaterWeightsMixin
from itk_consensus.fusion.atlas.atlas_images import ComparableImages, comparable
from itk_consensus.fusion.atlas.local_vote import agreed_fusion, local_vote
from itk_consensus.neighbourhood.box_sum import radii_in_voxels
from itk_consensus.neighbourhood.boxes import in_space, voxel_sides
from itk_consensus.neighbourhood.tiles import TRUNCATE
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.fusions import Fusion

#: Defaults, in smallest voxel sides.
PATCH_SIDES = 2.0
BIAS_SIDES = 8.0


class AtlasFusionFilter(RaterWeightsMixin, LabelFusionFilter):
    """Labels of atlases weighted, voxel by voxel, by how their images look like the target's.

    `Image` is the target, `AtlasImages` has the image of each atlas, in the order of the labels and
    resampled onto the target's grid as they are. Voxels that all atlases label alike keep their
    label; elsewhere the weighted votes are smoothed, and the largest share wins.
    """

    laws = frozenset({"rater permutation", "relabelling", "unanimity"})

    Image = Parameter(
        optional(ImageLike()), None, "The target image that the atlases were registered to."
    )
    AtlasImages = Parameter(
        optional(ImageList()), None, "The image of each atlas, on the target's grid.", in_cli=False
    )
    PatchRadius = Parameter(
        optional(Real(low=0.0)),
        None,
        "Half width, in mm, of the patch in which images are compared.",
        default_doc="2 smallest voxel sides",
    )
    BiasScale = Parameter(
        optional(Real(low=0.0)),
        None,
        "Standard deviation, in mm, of the smooth bias that is removed from images; 0: none.",
        default_doc="8 smallest voxel sides",
    )
    SmoothingSigma = Parameter(
        optional(Real(low=0.0)),
        None,
        "Standard deviation, in mm, of the smoothing of the votes; 0: none.",
        default_doc="smallest voxel side",
    )

    MeanWeights = Measurement(
        tuple[float, ...], "Mean weight of each atlas over disputed voxels; they sum to 1."
    )

    @abstractmethod
    def _weigh(
        self, images: ComparableImages, voxels: DisputedVoxels, digits: list[NDArray[np.uint16]]
    ) -> list[NDArray[np.float32]]:
        """Weight volumes of all atlases in the region; `digits` may be changed."""

    @abstractmethod
    def _margin(self, case: FusionCase) -> tuple[int, ...]:
        """Voxels around disputes, per axis, that images are looked at."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("Image", "AtlasImages"):
            if getattr(self, name) is None:
                raise ParameterError(f"{name} must be set before Execute", owner=self.GetName())

    def _fuse(self, case: FusionCase) -> Fusion:
        patterns = case.patterns
        raters = patterns.number_of_raters
        own = self._weights(raters)
        images = self._comparable(case)
        sigmas = self._sigmas(case, self.SmoothingSigma, 1.0)
        reach = [int(TRUNCATE * sigma + 0.5) + 1 for sigma in sigmas]
        margin = [m + r for m, r in zip(self._margin(case), reach, strict=True)]
        voxels = DisputedVoxels(patterns, patterns.disputed_region(margin))
        if not voxels.flags.any():
            self.MeanWeights = (1 / raters,) * raters
            return agreed_fusion(patterns)
        missing = patterns.number_of_labels
        digits = [
            voxels.expand(votes.astype(np.uint16), outside=missing) for votes in patterns.patterns.T
        ]
        weights = self._weigh(images.crop(voxels.region), voxels, digits)
        if own is not None:
            weights = [
                weight * np.float32(factor) for weight, factor in zip(weights, own, strict=True)
            ]
        means = np.array([voxels.take(weight).mean(dtype=float) for weight in weights])
        total = means.sum()
        self.MeanWeights = tuple((means / total).tolist()) if total > 0 else (0.0,) * len(means)
        return local_vote(voxels, digits, weights, sigmas)

    def _comparable(self, case: FusionCase) -> ComparableImages:
        given = self.AtlasImages or ()
        if len(given) != len(case.loaded.arrays):
            raise self._wrong(
                "AtlasImages",
                f"must have {len(case.loaded.arrays)} images, one for each input, got {len(given)}",
            )
        target = self._intensities(self.Image, case, "Image")
        atlases = [
            None if labels is None else self._intensities(image, case, f"AtlasImages[{index}]")
            for index, (image, labels) in enumerate(zip(given, case.loaded.arrays, strict=True))
        ]
        sigmas = self._sigmas(case, self.BiasScale, BIAS_SIDES)
        return comparable(target, atlases, sigmas if any(sigmas) else None)

    def _intensities(self, image: Any, case: FusionCase, parameter: str) -> NDArray[Any]:
        array = self._load_one(image, case.loaded, parameter)
        if array is None:
            raise ParameterError(f"{parameter} must be an image, got None", owner=self.GetName())
        if not np.isfinite(array).all():
            raise InputError(
                f"{parameter} must hold finite numbers, found NaN or inf", owner=self.GetName()
            )
        return np.asarray(array)

    def _radii(self, case: FusionCase, radius: float | None, sides: float) -> tuple[int, ...]:
        """Half widths in voxels, of so many smallest voxel sides if none is given."""
        default = sides * min(voxel_sides(case.spacing))
        return radii_in_voxels(default if radius is None else radius, case.spacing)

    def _sigmas(self, case: FusionCase, sigma: float | None, sides: float) -> list[float]:
        default = sides * min(voxel_sides(case.spacing))
        width = default if sigma is None else sigma
        return in_space([width / side for side in case.spacing], 0.0)
