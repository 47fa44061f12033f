"""HybridFusionFilter: one fuser inside, another where the contour is; fusers as parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import LENGTH, Choice, optional
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.work import stage
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult
from itk_consensus.fusing.inner_fusers import FusedShares, Fuser, InnerFusersMixin
from itk_consensus.fusing.label_fusion import UndecidedLabelMixin
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.methods.hybrid.hybrid import contour_band, hybrid_fusion
from itk_consensus.methods.voting.majority_vote_filter import MajorityVoteFilter

#: The paper's band, in smallest voxel sides on each side of the contour.
DEFAULT_BAND = 3.0


@dataclass(frozen=True)
class HybridEstimate(Estimate):
    """How much the boundary filter decided."""

    band_voxels: int


class HybridFusionFilter(UndecidedLabelMixin, InnerFusersMixin):
    """Uses the interior fuser everywhere but in a band around the contour.

    Both fusers are filters with parameters of their own; GetBoundaryResult() and
    GetInteriorResult() have what each of them made. They see the same images, with the hybrid's
    mask, missing label, tolerances and threads if set.
    """

    whole_because = "its band follows distances, which reach as far as the image"
    bytes_per_voxel = 24
    method = "hybrid"
    # Not relabelling: the default boundary filter, consensus, takes label 0 for the background.
    laws = frozenset({"rater permutation"})
    summary = (
        "Assumes that what is right inside a structure need not be right at its contour. Use to "
        "keep a fuser you trust inside from moving the contour, or the other way round. The "
        "paper, section 4.5."
    )

    InteriorFilter = Parameter(
        optional(Fuser()),
        None,
        "Fuser used away from the contour.",
        default_doc="MajorityVoteFilter()",
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
        # The dearer first: what it makes of the votes serves the other.
        with stage(0.0, 0.6):
            boundary = self._fused_by(self.BoundaryFilter or ConsensusFilter(), case)
        with stage(0.6, 0.8):
            interior = self._fused_by(self.InteriorFilter or MajorityVoteFilter(), case)
        with stage(0.8, 1.0):
            band = self._band(case, interior)
        labels = tuple(self._label_values(case))
        decision = interior.decision(labels)
        np.copyto(decision, boundary.decision(labels), where=band)
        answers = (FusedShares(fused, labels) for fused in (boundary, interior))
        fusion = hybrid_fusion(decision, band, *answers)
        estimate = HybridEstimate(int(np.count_nonzero(band)))
        return Fused(fusion, estimate, {"boundary": boundary, "interior": interior})

    def GetBoundaryResult(self) -> FusionResult[Any]:
        """What the boundary filter made in the last Execute."""
        result: FusionResult[Any] = self.fused.extras["boundary"]
        return result

    def GetInteriorResult(self) -> FusionResult[Any]:
        """What the interior filter made in the last Execute."""
        result: FusionResult[Any] = self.fused.extras["interior"]
        return result

    def _band(self, case: FusionCase, interior: FusionResult[Any]) -> NDArray[np.bool_]:
        width = self.BandWidth
        if width is None:
            width = DEFAULT_BAND * case.smallest_side
        if self.BandContour == "interior":
            contoured = interior.decision(self._label_values(case))
        else:
            vote = self._fused_by(MajorityVoteFilter(), case)
            contoured = vote.decision(self._label_values(case))
        return contour_band(contoured, width, case.spacing)
