"""LogOpinionPoolFilter: the weighted geometric mean of what raters believe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.opinion_pool import PoolSettings, fuse_probabilities, pool_votes
from itk_consensus.errors import InputError
from itk_consensus.filters.constraints import Choice, Real, Reals, optional
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.filters.label_prior import label_prior, prior_parameter
from itk_consensus.filters.parameters import Parameter, settings_from
from itk_consensus.filters.rater_weights import RaterWeightsMixin
from itk_consensus.labels.fusions import Fusion
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.ties import TIE_RULES


class LogOpinionPoolFilter(UndecidedLabelMixin, RaterWeightsMixin, LabelFusionFilter):
    """Weighted geometric mean of opinions, p ~ prior * prod p_a^(w_a/T).

    Inputs of an integer type are label images. If any input has a floating type, all are
    foreground probabilities from 0 to 1, and masks among them 0 or 1: cast label images that are
    stored as floats. No opinion is taken as firmer than `ErrorRate` allows. A prior that varies in
    space is one more probability image, with the weight T.
    """

    method = "log-opinion-pool"
    takes_probabilities = True
    summary = (
        "Assumes opinions whose confidence means something: probability maps of networks, or "
        "masks of equal error. Weights of 1 treat raters as independent. Genest & Zidek 1986."
    )

    RaterWeights = Parameter(
        optional(Reals(low=0.0)),
        None,
        "Exponent of each rater's opinion.",
        default_doc="equal, sum 1",
    )
    Temperature = Parameter(
        Real(low=0.0, exclusive=True), 1.0, "Divides the exponents; above 1 the pool doubts more."
    )
    Prior = prior_parameter("equal shares")
    ErrorRate = Parameter(
        Real(0.0, 0.5, exclusive=True),
        PoolSettings.error_rate,
        "Probability that a label is wrong; probabilities are kept as far from 0 and 1.",
    )
    TieRule = Parameter(
        Choice(TIE_RULES), PoolSettings.tie_rule, "What labels of equal probability become."
    )

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        if not any(array is not None and array.dtype.kind == "f" for array in arrays):
            return super()._make_stack(arrays, **common)
        missing, given = common.pop("missing_label"), common.pop("rater_masks")
        masks = given or (None,) * len(arrays)  # should their number differ, the stack says so
        if missing is not None:
            masks = [_without(missing, *pair) for pair in zip(arrays, masks, strict=False)]
        for index, (array, mask) in enumerate(zip(arrays, masks, strict=False)):
            self._check_probabilities(array, (mask, common["mask"]), index)
        # Their thresholded masks stand for the raters in diagnostics.
        votes = [None if array is None else (array >= 0.5).view(np.uint8) for array in arrays]
        gaps = None if all(mask is None for mask in masks) else masks
        return LabelStack.binary(votes, 1, rater_masks=gaps, **common)

    def _check_probabilities(
        self, array: NDArray[Any] | None, masks: Sequence[NDArray[Any] | None], index: int
    ) -> None:
        if array is None:
            return
        wrong = ~((array >= 0) & (array <= 1))
        for mask in masks:
            if mask is not None:
                wrong &= mask != 0
        if wrong.any():
            raise InputError(
                f"{self.GetName()}: input {index} must hold labels of an integer type or, as some "
                f"input is of a floating type, probabilities from 0 to 1, found {array[wrong][0]:g}"
            )

    def _fuse(self, case: FusionCase) -> Fusion:
        settings = self._settings(case)
        if case.stack.foreground is None:
            return pool_votes(case.patterns, settings)
        return fuse_probabilities(
            case.loaded.arrays, case.stack.rater_masks, case.stack.mask, case.patterns, settings
        )

    def _settings(self, case: FusionCase) -> PoolSettings:
        weights = self._weights(case.patterns.number_of_raters)
        if weights is None:
            present = np.asarray(case.patterns.present.any(axis=0))
            weights = present / np.count_nonzero(present)
        prior = label_prior(self.Prior, self._label_values(case), self.GetName())
        return settings_from(self, PoolSettings, exponents=weights / self.Temperature, prior=prior)


def _without(
    missing: int, array: NDArray[Any] | None, mask: NDArray[Any] | None
) -> NDArray[Any] | None:
    """Where a rater gave an opinion: inside its mask, and not the missing value."""
    if array is None:
        return mask
    given = np.asarray(array != missing)
    return given if mask is None else given & (mask != 0)
