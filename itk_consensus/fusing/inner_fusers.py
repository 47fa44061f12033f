"""Fusers as parameters of another filter, run with its shared parameters."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from itk_consensus.core.constraints import Kind
from itk_consensus.core.errors import ParameterError
from itk_consensus.core.parameters import parameters_of
from itk_consensus.fusing.fuser_runner import FuserRunnerMixin
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.label_inputs import LabelInputs
from itk_consensus.votes.fusions import VoxelShares
from itk_consensus.votes.uncertainty import UncertaintyKind


class ImageFuser(LabelInputs):
    """Base class of filters that fuse labels using the image on which they were drawn."""

    @abstractmethod
    def fuse_with(self, image: Any, labels: Any) -> FusionResult[Any]:
        """Execute for use within the package: return the result instead of an image."""


@dataclass(frozen=True)
class Fuser(Kind[Any]):
    """Constraint: a fuser; on a command line, the name of its method."""

    with_image: bool = False  #: Whether filters that also require an image are accepted
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


class InnerFusersMixin(FuserRunnerMixin, LabelFusionFilter):
    """A filter with fusers among its parameters, run on the same images with shared parameters."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for parameter in parameters_of(type(self)):
            if getattr(self, parameter.name) is self:
                raise ParameterError(
                    f"{parameter.name} must be another filter, got the filter itself",
                    owner=self.GetName(),
                )

    def _run_inner_fuser(self, fuser: LabelFusionFilter, case: FusionCase) -> FusionResult[Any]:
        """Run a fuser on the case with this filter's shared parameters."""
        return self._run_fuser(fuser, list(case.loaded.owners), case)

    def _run_image_fuser(
        self, fuser: ImageFuser, image: Any, case: FusionCase
    ) -> FusionResult[Any]:
        """Run a fuser that requires an image; this filter applies the masks."""
        labels = list(case.loaded.owners)
        return self._run_inner_filter(fuser, lambda worker: worker.fuse_with(image, labels))


@dataclass(frozen=True)
class FusedShares(VoxelShares):
    """Probabilities from another fuser, by the label indices of this one."""

    fused: FusionResult[Any]
    labels: tuple[int, ...]  #: Label value of each index

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.fused.write(self.labels[label], out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.fused.write_uncertainty(kind, out)
