"""AtlasFusionFilter: base class of fusers that compare the atlases' images with the target."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import (
    Boolean,
    LabelImages,
    Modalities,
    ModalitiesList,
    Real,
    Reals,
    optional,
)
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.shared_parameters import RaterWeightsMixin
from itk_consensus.images import convert
from itk_consensus.methods.atlas.patch_fusion import patch_fusion
from itk_consensus.space.box_sum import radii_in_voxels
from itk_consensus.votes.fields.patches import MOST_STEPS, PatchRule

#: Defaults in units of the smallest voxel side, chosen on twelve brain images (docs/truth.md).
PATCH_SIDES = 1.0
SEARCH_SIDES = 2.0

Intensities = NDArray[Any]

#: Half width of a box: one value for all axes, or one per axis in ITK's order.
RADIUS = optional(Real(low=0.0), Reals(low=0.0))


@dataclass(frozen=True)
class AtlasEstimate(Estimate):
    """Mean weight of each atlas."""

    mean_weights: tuple[float, ...]


class AtlasFusionFilter(RaterWeightsMixin, LabelFusionFilter):
    """Vote of atlases, weighted at each voxel by the similarity of their images to the target.

    `Image` is the target; `AtlasImages` holds the image of each atlas, in the order of the labels
    and, like them, resampled onto the target's grid. Around each voxel every atlas is searched for
    the patch most similar to the target's; its weight applies to all labels of that patch. Voxels
    to which all atlases assign the same label keep it.
    """

    needs = "votes"
    laws = frozenset({"rater permutation", "relabelling", "unanimity"})
    chunking_unsupported_reason = (
        "it searches atlases around every voxel, and matches their intensities over whole images"
    )

    Image = Parameter(
        optional(Modalities()),
        None,
        "The target that atlases were warped to; a list, or a vector image, of several modalities.",
        in_cli=False,
    )
    AtlasImages = Parameter(
        optional(ModalitiesList()),
        None,
        "The image of each atlas, on the target's grid, with the target's modalities.",
        in_cli=False,
    )
    PatchRadius = Parameter(
        RADIUS,
        None,
        "Half width, in mm, of the patch in which images are compared, and which votes.",
        default_doc="smallest voxel side",
    )
    SearchRadius = Parameter(
        RADIUS,
        None,
        "Half width, in mm, of the box that is searched for the most similar patch; 0: no search.",
        default_doc="2 smallest voxel sides",
    )
    NormalizePatches = Parameter(
        Boolean(),
        True,
        "Whether patches are normalised to zero mean and unit variance before comparison.",
    )
    ExclusionImages = Parameter(
        optional(LabelImages()),
        None,
        "For each of some labels, an image that is not zero where the label is impossible.",
        in_cli=False,
    )
    FuseIntensities = Parameter(
        Boolean(), False, "Whether the atlases' images are fused too, at every voxel.", in_cli=False
    )

    MeanWeights = Measurement(
        tuple[float, ...],
        "Mean weight of each atlas over disputed voxels; they sum to 1.",
        "estimate.mean_weights",
    )

    @abstractmethod
    def _rule(self, patch: tuple[int, ...], search: tuple[int, ...]) -> PatchRule:
        """Return the rule for weighting patches with these radii."""

    def GetFusedIntensityImage(self, modality: int = 0) -> Any:
        """Return the atlases' images, fused with the same weights and patches, as float32.

        Requires FuseIntensities; outside a mask the image is 0.
        """
        result = self.fused
        images = result.extras["intensities"]
        if not 0 <= modality < len(images):
            raise self._parameter_error(
                "FuseIntensities",
                "must be set before Execute, and modality be below the number of modalities, got "
                f"{modality} of {len(images)}",
            )
        image = images[modality]
        return result.image(lambda out: np.copyto(out, image), np.float32)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("Image", "AtlasImages"):
            if getattr(self, name) is None:
                raise ParameterError(f"{name} must be set before Execute", owner=self.GetName())

    def _fuse(self, case: FusionCase) -> Fused[AtlasEstimate]:
        stack = case.stack
        assert stack is not None  # The inputs are kept during Execute.
        raters = len(stack.arrays)
        present = [index for index, labels in enumerate(stack.arrays) if labels is not None]
        weights = self.weights_of(raters)
        target, atlases = self._intensities_of_all(case, present)
        fused = patch_fusion(
            stack,
            target,
            atlases,
            self._rule(*self._radii(case)),
            weights=None if weights is None else weights[present],
            exclusions=self._exclusions(case),
            fuse_images=self.FuseIntensities,
        )
        means = np.zeros(raters)
        means[present] = fused.mean_weights
        estimate = AtlasEstimate(tuple(means.tolist()))
        return Fused(fused.fusion, estimate, {"intensities": tuple(fused.images)})

    def _intensities_of_all(
        self, case: FusionCase, present: list[int]
    ) -> tuple[tuple[Intensities, ...], list[tuple[Intensities, ...]]]:
        given, raters = self.AtlasImages or (), len(case.loaded.arrays)
        if len(given) != raters:
            raise self._parameter_error(
                "AtlasImages",
                f"must have {raters} images, one for each input, got {len(given)}",
            )
        target = self._intensities(self.Image, case, "Image")
        atlases = [self._intensities(given[i], case, f"AtlasImages[{i}]") for i in present]
        for index, modalities in zip(present, atlases, strict=True):
            if len(modalities) != len(target):
                raise self._parameter_error(
                    f"AtlasImages[{index}]",
                    f"must have the {len(target)} modalities of Image, got {len(modalities)}",
                )
        return target, atlases

    def _intensities(self, given: Any, case: FusionCase, name: str) -> tuple[Intensities, ...]:
        """Load the modalities of a target or an atlas."""
        if given is None:
            raise self._parameter_error(name, "must be an image, got None")
        listed = isinstance(given, tuple)
        found: list[Intensities] = []
        for number, image in enumerate(given if listed else (given,)):
            parameter = f"{name}[{number}]" if listed else name
            found += convert.load_channels(
                image, case.loaded, owner=self.GetName(), parameter=parameter, **self._tolerances()
            )
            if not all(np.isfinite(channel).all() for channel in found):
                raise InputError(
                    "must hold finite numbers, found NaN or inf",
                    owner=self.GetName(),
                    parameter=parameter,
                )
        return tuple(found)

    def _exclusions(self, case: FusionCase) -> dict[int, NDArray[np.uint8]]:
        """Return masks of impossible voxels by label index, skipping labels that do not occur."""
        table = {int(label): index for index, label in enumerate(case.votes.labels)}
        found = {}
        for label, image in (self.ExclusionImages or {}).items():
            where = self._load_one(image, case.loaded, f"ExclusionImages[{label}]")
            if label in table:
                found[table[label]] = np.ascontiguousarray(where != 0).view(np.uint8)
        return found

    def _radii(self, case: FusionCase) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the radii of patch and search region, in voxels per array axis."""
        side, axes = case.smallest_side, len(case.spacing)

        def in_voxels(name: str, sides: float) -> tuple[int, ...]:
            given = getattr(self, name)
            radii_of_axes = given if isinstance(given, tuple) else (given,) * axes
            if len(radii_of_axes) != axes:
                raise self._parameter_error(
                    name, f"must be a number, or {axes} of them, one for each axis, got {given}"
                )
            widest = [
                radii_in_voxels(sides * side if radius is None else radius, case.spacing)[axis]
                for axis, radius in enumerate(reversed(radii_of_axes))
            ]
            # Clip to the size of the image.
            pairs = zip(widest, case.loaded.geometry.shape, strict=True)
            radii = tuple(min(r, size - 1) for r, size in pairs)
            if prod(2 * r + 1 for r in radii) > MOST_STEPS:
                raise self._parameter_error(
                    name,
                    f"must give a box of at most {MOST_STEPS} voxels, got "
                    f"{' x '.join(str(2 * r + 1) for r in radii)}; decrease it",
                )
            return radii

        return in_voxels("PatchRadius", PATCH_SIDES), in_voxels("SearchRadius", SEARCH_SIDES)
