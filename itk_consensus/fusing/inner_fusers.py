"""Fusers among the parameters of another filter, which work on its terms."""

from __future__ import annotations

from abc import abstractmethod
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
from itk_consensus.fusing.label_inputs import LabelInputs
from itk_consensus.votes.fusions import VoxelShares
from itk_consensus.votes.uncertainty import UncertaintyKind


class ImageFuser(LabelInputs):
    """Base of filters that fuse labels with the help of the image they were drawn on."""

    @abstractmethod
    def fuse_with(self, image: Any, labels: Any) -> FusionResult[Any]:
        """Execute, for other parts of the package that want the result and no image."""


@dataclass(frozen=True)
class Fuser(Kind[Any]):
    """A fuser; on a command line, the name of its method."""

    with_image: bool = False  #: Whether filters that read an image, too, are accepted
    annotation = "LabelFusionFilter"

    @property
    def wanted(self) -> str:
        return "a label fusion filter" + ", DeepConsensusFilter included" * self.with_image

    def accept(self, value: Any) -> LabelFusionFilter | ImageFuser:
        if isinstance(value, LabelFusionFilter):
            return value
        if self.with_image and isinstance(value, ImageFuser):
            return value
        raise TypeError


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

    def _fused_with(self, fuser: ImageFuser, image: Any, case: FusionCase) -> FusionResult[Any]:
        """The same of a fuser that reads an image; masks are left to this filter."""
        labels = list(case.loaded.owners)
        return self._have_worked(fuser, lambda worker: worker.fuse_with(image, labels))


@dataclass(frozen=True)
class FusedShares(VoxelShares):
    """Another fuser's probabilities, by the indices of this one's labels."""

    fused: FusionResult[Any]
    labels: tuple[int, ...]  #: The label value behind each index

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.fused.write(self.labels[label], out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.fused.write_uncertainty(kind, out)
