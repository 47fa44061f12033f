"""Filters that run other fusers on their own inputs and terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from itk_consensus.errors import ParameterError
from itk_consensus.filters.constraints import Kind
from itk_consensus.filters.fused_images import FusedImages
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import parameters_of
from itk_consensus.filters.process_object import lent


@dataclass(frozen=True)
class Fuser(Kind[LabelFusionFilter]):
    """A fuser; on a command line, the name of its method."""

    annotation = "LabelFusionFilter"
    wanted = "a label fusion filter"

    def accept(self, value: Any) -> LabelFusionFilter:
        if not isinstance(value, LabelFusionFilter):
            raise TypeError
        return value


class InnerFusersMixin(LabelFusionFilter):
    """A filter with fusers among its parameters.

    They are filters with parameters of their own, and can be asked for their measurements
    afterwards. They see the same images, with this filter's mask, missing label, tolerances and
    threads if set.
    """

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self._at_work: LabelFusionFilter | None = None

    def Abort(self) -> None:
        """Stop at the next chance, the fuser at work included."""
        super().Abort()
        if self._at_work is not None:
            self._at_work.Abort()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for parameter in parameters_of(type(self)):
            if getattr(self, parameter.name) is self:
                raise ParameterError(
                    f"{self.GetName()}: {parameter.name} must be another filter, got the filter "
                    "itself"
                )

    def _run(self, fuser: LabelFusionFilter, case: FusionCase) -> FusedImages:
        """What a fuser makes of the case on this filter's terms."""
        self._at_work = fuser
        try:
            with lent(fuser, self._terms()):
                fuser.Execute(list(case.loaded.owners))
        finally:
            self._at_work = None
        return fuser.fused
