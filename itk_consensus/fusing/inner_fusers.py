"""Fusers among the parameters of another filter, which work on its terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from itk_consensus.core.constraints import Kind
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import parameters_of
from itk_consensus.fusing.fuser_at_work import FuserAtWorkMixin
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.votes.fusions import VoxelShares
from itk_consensus.votes.uncertainty import UncertaintyKind


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
