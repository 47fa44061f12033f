"""Base of filters that compare raters with a given consensus, or with one computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from itk_consensus.core.errors import ParameterError
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.fuser_runner import FuserRunnerMixin
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert


class Comparison(NamedTuple):
    """Raters and the reference with which they are compared."""

    case: FusionCase  #: The raters, followed by the reference, if there is one
    name: str | None  #: Name of the reference
    made: FusionResult[Any] | None  #: The fusion that computed the reference, if a filter was given


class ComparedRaters(FuserRunnerMixin):
    """Base of filters that compare raters with a consensus."""

    def _load_comparison(self, images: Any, reference: Any) -> Comparison:
        """Load the raters, followed by the reference, if there is one."""
        inputs, name, made = convert.as_list(images, self.GetName()), None, None
        if isinstance(reference, LabelFusionFilter):
            with stage(0.0, 0.2):
                made = self._run_fuser(reference, inputs)
            name = reference.method
            reference = convert.to_image(made.settled_labels(), made.like)
        elif reference is not None:
            name = "reference"
        report(0.2)
        case = self._load(inputs) if name is None else self._load_with(reference, inputs)
        return Comparison(case, name, made)

    def _load_with(self, reference: Any, inputs: list[Any]) -> FusionCase:
        """Load the raters, followed by a reference that is annotated in the whole image."""
        masks = self.RaterMasks
        terms = {} if masks is None else {"RaterMasks": (*masks, None)}
        return self.case_on([*inputs, reference], terms)

    def _names(self, names: Sequence[str] | None, raters: int) -> list[str]:
        if names is None:
            return [f"rater {index}" for index in range(raters)]
        if len(names) != raters:
            raise ParameterError(f"names must be {raters}, got {len(names)}", owner=self.GetName())
        return [str(name) for name in names]
