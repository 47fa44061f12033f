"""Raters beside a consensus that they are compared with: one that is given, or made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from itk_consensus.core.errors import ParameterError
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.fuser_at_work import FuserAtWorkMixin
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert


class Comparison(NamedTuple):
    """Raters and what they are compared with."""

    case: FusionCase  #: The raters and, after them, the reference, if there is one
    name: str | None  #: What the reference is called
    made: FusionResult[Any] | None  #: Of which the reference is, if a filter made it


class ComparedRaters(FuserAtWorkMixin):
    """Base of filters that compare raters with a consensus."""

    def _compared(self, images: Any, reference: Any) -> Comparison:
        """The raters and, after them, the reference, if there is one."""
        inputs, name, made = convert.as_list(images, self.GetName()), None, None
        if isinstance(reference, LabelFusionFilter):
            with stage(0.0, 0.2):
                made = self._have_fused(reference, inputs)
            name = reference.method
            reference = convert.to_image(made.settled_labels(), made.like)
        elif reference is not None:
            name = "reference"
        report(0.2)
        case = self._load(inputs) if name is None else self._load_with(reference, inputs)
        return Comparison(case, name, made)

    def _load_with(self, reference: Any, inputs: list[Any]) -> FusionCase:
        """The raters and, after them, a reference, which annotated everywhere."""
        masks = self.RaterMasks
        terms = {} if masks is None else {"RaterMasks": (*masks, None)}
        return self.case_on([*inputs, reference], terms)

    def _names(self, names: Sequence[str] | None, raters: int) -> list[str]:
        if names is None:
            return [f"rater {index}" for index in range(raters)]
        if len(names) != raters:
            raise ParameterError(f"names must be {raters}, got {len(names)}", owner=self.GetName())
        return [str(name) for name in names]
