"""HybridFusionFilter: one fuser inside, another where the contour is; fusers as parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.constraints import LENGTH, Choice, Kind, optional
from itk_consensus.errors import ParameterError
from itk_consensus.filters.consensus import ConsensusFilter
from itk_consensus.filters.fuser_at_work import FuserAtWorkMixin
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.fusion_result import Fused, FusionResult
from itk_consensus.filters.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.filters.majority_vote import MajorityVoteFilter
from itk_consensus.filters.parameters import Measurement, Parameter, parameters_of
from itk_consensus.fusion.hybrid import contour_band, hybrid_fusion
from itk_consensus.votes.estimates import Estimate
from itk_consensus.votes.fusions import VoxelShares
from itk_consensus.votes.uncertainty import UncertaintyKind
from itk_consensus.work import stage


@dataclass(frozen=True)
class Fuser(Kind[LabelFusionFilter]):
    """A fuser; on a command line, the name of its method."""

    annotation = "LabelFusionFilter"
    wanted = "a label fusion filter"

    def accept(self, value: Any) -> LabelFusionFilter:
        if not isinstance(value, LabelFusionFilter):
            raise TypeError
        return value


class InnerFusersMixin(FuserAtWorkMixin, LabelFusionFilter):
    """A filter with fusers among its parameters, who see the same images on its terms."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for parameter in parameters_of(type(self)):
            if getattr(self, parameter.name) is self:
                raise ParameterError(
                    f"{parameter.name} must be another filter, got the filter itself",
                    owner=self.GetName(),
                )

    def _fused_by(self, fuser: LabelFusionFilter, case: FusionCase) -> FusionResult[Any]:
        """What a fuser makes of the case on this filter's terms."""
        return self._have_fused(fuser, list(case.loaded.owners), case)


@dataclass(frozen=True)
class FusedShares(VoxelShares):
    """Another fuser's probabilities, by the indices of this one's labels."""

    fused: FusionResult[Any]
    labels: tuple[int, ...]  #: The label value behind each index

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.fused.write(self.labels[label], out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.fused.write_uncertainty(kind, out)


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
