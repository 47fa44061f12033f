"""Raters beside a consensus that they are compared with: one that is given, or made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import ParameterError
from itk_consensus.filters.fused_images import FusedImages
from itk_consensus.filters.fuser_at_work import FuserAtWorkMixin
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.work import report, stage


class ComparedRaters(FuserAtWorkMixin):
    """Base of filters that compare raters with a consensus."""

    def _compared(self, images: Any, reference: Any) -> tuple[FusionCase, str | None]:
        """The raters and, after them, the reference, if there is one, with its name."""
        inputs, name = convert.as_list(images, self.GetName()), None
        if isinstance(reference, LabelFusionFilter):
            with stage(0.0, 0.2):
                name, reference = reference.method, self._consensus(reference, inputs)
        elif reference is not None:
            name = "reference"
        report(0.2)
        case = self._load(inputs) if name is None else self._load_with(reference, inputs)
        return case, name

    def _consensus(self, fuser: LabelFusionFilter, inputs: list[Any]) -> Any:
        fused = self._have_fused(fuser, inputs).fused
        return convert.to_image(consensus_labels(fused), fused.like)

    def _load_with(self, reference: Any, inputs: list[Any]) -> FusionCase:
        """The raters and, after them, a reference, which annotated everywhere."""
        masks = self.RaterMasks
        terms = {} if masks is None else {"RaterMasks": (*masks, None)}
        return self._lent(terms)._load([*inputs, reference])

    def _names(self, names: Sequence[str] | None, raters: int) -> list[str]:
        if names is None:
            return [f"rater {index}" for index in range(raters)]
        if len(names) != raters:
            raise ParameterError(f"names must be {raters}, got {len(names)}", owner=self.GetName())
        return [str(name) for name in names]


def consensus_labels(fused: FusedImages) -> NDArray[Any]:
    """The fused label of each voxel; undecided voxels, which have none, are background."""
    values = np.array([*fused.labels, 0, 0], fused.dtype)
    return np.asarray(values[fused.decision(fused.labels)])
