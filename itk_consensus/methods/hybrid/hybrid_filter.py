"""HybridFusionFilter: one fuser in a band around the contour, another elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import LENGTH, Choice, ImageLike, optional
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.work import stage
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult, MadeBy, common_type
from itk_consensus.fusing.inner_fusers import FusedShares, Fuser, ImageFuser, InnerFusersMixin
from itk_consensus.fusing.label_fusion import UndecidedLabelMixin
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.methods.hybrid.hybrid import (
    MaskedShares,
    contour_band,
    fusion_of_labels,
    fusion_of_probabilities,
    hybrid_fusion,
)
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter
from itk_consensus.votes.fusions import VolumeFusion
from itk_consensus.votes.ties import BACKGROUND

#: Width of the band on each side of the contour, in units of the smallest voxel side, as in "When
#: Does Consensus Beat Voting?".
DEFAULT_BAND = 3.0


@dataclass(frozen=True)
class HybridEstimate(Estimate):
    """Size of the band in which the boundary filter was used."""

    band_voxels: int


class HybridFusionFilter(UndecidedLabelMixin, InnerFusersMixin):
    """Uses one fuser in a band around the contour, and the interior fuser everywhere else.

    Both fusers are filters with their own parameters; GetBoundaryResult() and GetInteriorResult()
    return their results. They receive the same images, and the hybrid's mask, missing label,
    tolerances and threads if set. The interior may also be a given image (InteriorImage), or a
    trained DeepConsensusFilter, which reads Image:

    >>> hybrid = HybridFusionFilter(InteriorFilter=deep, Image=ct, BoundaryFilter=SIMPLEFilter())
    """

    chunking_unsupported_reason = (
        "the contour to which its band measures distances may be anywhere in the image"
    )
    bytes_per_voxel = 24
    method = "hybrid"
    # Not invariant to relabelling: the default boundary filter, consensus, treats label 0 as
    # background.
    laws = frozenset({"rater permutation"})
    summary = (
        "Assumes that different fusers are best inside a structure and at its contour. Use it if "
        "you trust a fuser inside but not at the contour, or the reverse. The paper, section 4.5."
    )

    InteriorFilter = Parameter(
        optional(Fuser(with_image=True)),
        None,
        "Fuser used away from the contour.",
        default_doc="MajorityVoteFilter()",
    )
    InteriorImage = Parameter(
        optional(ImageLike()),
        None,
        "Image used away from the contour instead of a fuser: a label image or, for two labels, "
        "the probability of the higher one, e.g. a network's.",
    )
    Image = Parameter(
        optional(ImageLike()),
        None,
        "The image the labels were drawn on, for an InteriorFilter that reads it.",
    )
    BoundaryFilter = Parameter(
        optional(Fuser()),
        None,
        "Fuser used in the band.",
        default_doc="ConsensusFilter()",
    )
    BandWidth = Parameter(
        optional(LENGTH),
        None,
        "Half width of the band around the contour, in mm.",
        default_doc="3 smallest voxel sides",
    )
    BandContour = Parameter(
        Choice(("vote", "interior")),
        "vote",
        "The contour that the band follows: the majority vote's or the interior fuser's.",
    )

    BandVoxels = Measurement(int, "Number of voxels in the band.", "estimate.band_voxels")

    def _fuse(self, case: FusionCase) -> Fused[HybridEstimate]:
        # Run the slower fuser first; the other one reuses its pattern table.
        with stage(0.0, 0.6):
            boundary = self._run_inner_fuser(self.BoundaryFilter or ConsensusFilter(), case)
        with stage(0.6, 0.8):
            interior = self._interior(case)
        with stage(0.8, 1.0):
            band = self._band(case, interior)
        labels = tuple(self._label_values(case))
        decision = interior.decision(labels)
        np.copyto(decision, boundary.decision(labels), where=band)
        answers = (FusedShares(fused, labels) for fused in (boundary, interior))
        fusion = hybrid_fusion(decision, band, *answers)
        estimate = HybridEstimate(int(np.count_nonzero(band)))
        return Fused(fusion, estimate, {"boundary": boundary, "interior": interior})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        interior = self.InteriorFilter
        reads = interior if isinstance(interior, ImageFuser) else None
        if interior is not None and self.InteriorImage is not None:
            raise self._parameter_error(
                "InteriorImage", "replaces {InteriorFilter}; set only one of them", "InteriorFilter"
            )
        if reads is not None and self.Image is None:
            raise self._parameter_error("Image", f"must be set: {reads.GetName()} reads it")
        if reads is not None and self.RaterMasks is not None:
            raise self._parameter_error(
                "RaterMasks",
                "are not supported by {InteriorFilter}; use {MissingLabel}",
                "MissingLabel",
            )
        if self.Image is not None and reads is None:
            raise self._parameter_error(
                "Image",
                "is only used with an {InteriorFilter} that reads it, such as DeepConsensusFilter; "
                "to give the interior itself, set {InteriorImage}",
                "InteriorFilter",
                "InteriorImage",
            )

    def _interior(self, case: FusionCase) -> FusionResult[Any]:
        """Return the result used away from the contour."""
        fuser = self.InteriorFilter or MajorityVoteFilter()
        if self.InteriorImage is not None:
            return self._given_interior(case)
        if isinstance(fuser, ImageFuser):
            return within_mask(self._run_image_fuser(fuser, self.Image, case), case)
        return self._run_inner_fuser(fuser, case)

    def _given_interior(self, case: FusionCase) -> FusionResult[Any]:
        """Return the interior image as a result, with background outside the mask."""
        image = np.asarray(self._load_one(self.InteriorImage, case.loaded, "InteriorImage"))
        labels = self._label_values(case)
        if image.dtype.kind != "f":
            unknown = sorted(set(np.unique(image).tolist()) - set(labels))
            if unknown:
                raise self._parameter_error(
                    "InteriorImage", f"must hold labels of the raters, {labels}, got {unknown[:5]}"
                )
            fusion = fusion_of_labels(image, labels)
        elif len(labels) != 2:
            raise self._parameter_error(
                "InteriorImage",
                f"must be a label image if raters have {len(labels)} labels; an image of a "
                "floating type can hold the probability of one of two labels only",
            )
        elif not ((image >= 0) & (image <= 1)).all():
            raise self._parameter_error(
                "InteriorImage", "must hold probabilities, found values outside 0 to 1"
            )
        else:
            fusion = fusion_of_probabilities(image)
        dtype = common_type(case.loaded.arrays, labels)
        undecided = self.undecided_label(labels, dtype)
        fused = Fused(fusion, None)
        result: FusionResult[Any] = FusionResult(
            case, fused, tuple(labels), dtype, undecided, MadeBy.of(self)
        )
        return within_mask(result, case)

    def GetBoundaryResult(self) -> FusionResult[Any]:
        """Return the boundary filter's result of the last Execute."""
        result: FusionResult[Any] = self.fused.extras["boundary"]
        return result

    def GetInteriorResult(self) -> FusionResult[Any]:
        """Return the interior filter's result of the last Execute, or the interior image."""
        result: FusionResult[Any] = self.fused.extras["interior"]
        return result

    def _band(self, case: FusionCase, interior: FusionResult[Any]) -> NDArray[np.bool_]:
        width = self.BandWidth
        if width is None:
            width = DEFAULT_BAND * case.smallest_side
        if self.BandContour == "interior":
            contoured = interior.decision(self._label_values(case))
        else:
            vote = self._run_inner_fuser(MajorityVoteFilter(), case)
            contoured = vote.decision(self._label_values(case))
        return contour_band(contoured, width, case.spacing)


def within_mask(result: FusionResult[Any], case: FusionCase) -> FusionResult[Any]:
    """Return a result with background outside the case's mask."""
    patterns = case.patterns
    if patterns.outside_code is None:
        return result
    outside = np.asarray(patterns.codes == patterns.outside_code)
    decision = result.decision(result.labels)
    decision = np.where(outside, BACKGROUND, decision.astype(np.int32))
    shares = MaskedShares(FusedShares(result, result.labels), outside)
    return replace(result, fused=replace(result.fused, fusion=VolumeFusion(decision, shares)))
