"""LogOpinionPoolFilter: the weighted geometric mean of what raters believe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.opinion_pool import (
    PoolSettings,
    decide_log_odds,
    foreground_probability,
    pool_probabilities,
    pool_votes,
)
from itk_consensus.errors import InputError
from itk_consensus.filters.fusion import Fusion, FusionCase, PatternFusion, VolumeFusion
from itk_consensus.filters.kinds import Choice, Real, Reals, optional
from itk_consensus.filters.label_fusion import LabelFusionFilter, UndecidedLabelMixin
from itk_consensus.filters.label_prior import label_prior, prior_parameter
from itk_consensus.filters.parameters import Parameter
from itk_consensus.filters.rater_weights import RaterWeightsMixin
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.ties import BACKGROUND, TIE_RULES


class LogOpinionPoolFilter(UndecidedLabelMixin, RaterWeightsMixin, LabelFusionFilter):
    """Weighted geometric mean of opinions, p ~ prior * prod p_a^(w_a/T).

    Inputs are label images, or foreground probabilities: if any input has values that are no whole
    numbers, all are probabilities from 0 to 1, masks among them being 0 or 1. No opinion is taken
    as firmer than `ErrorRate` allows. A prior that varies in space is one more probability image,
    with the weight T.
    """

    method = "log-opinion-pool"
    takes_probabilities = True
    summary = (
        "Assumes opinions whose confidence means something: probability maps of networks, or "
        "masks of equal error. Weights of 1 treat raters as independent. Genest & Zidek 1986."
    )

    RaterWeights: Parameter[tuple[float, ...] | None] = Parameter(
        optional(Reals(low=0.0)),
        None,
        "Exponent of each rater's opinion.",
        default_doc="equal, sum 1",
    )
    Temperature: Parameter[float] = Parameter(
        Real(low=0.0, exclusive=True), 1.0, "Divides the exponents; above 1 the pool doubts more."
    )
    Prior: Parameter[Any] = prior_parameter("equal shares")
    ErrorRate: Parameter[float] = Parameter(
        Real(0.0, 0.5, exclusive=True),
        PoolSettings.error_rate,
        "Probability that a label is wrong; probabilities are kept as far from 0 and 1.",
    )
    TieRule: Parameter[Any] = Parameter(
        Choice(TIE_RULES), "undecided", "What labels of equal probability become."
    )

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        if not any(_has_fractions(array) for array in arrays):
            return super()._make_stack(arrays, **common)
        missing, given = common.pop("missing_label"), common.pop("rater_masks")
        masks = given or (None,) * len(arrays)
        if missing is not None:
            masks = [_without(missing, *pair) for pair in zip(arrays, masks, strict=True)]
        for index, (array, mask) in enumerate(zip(arrays, masks, strict=True)):
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
                f"{self.GetName()}: input {index} must hold whole-number labels or, as some input "
                f"has fractions, probabilities from 0 to 1, found {array[wrong][0]:g}"
            )

    def _fuse(self, case: FusionCase) -> Fusion:
        self._check_undecided_label(case)
        settings = self._settings(case)
        if case.stack.foreground is None:
            pooled = pool_votes(case.patterns, settings)
            return PatternFusion(case.patterns, pooled.decision, pooled.probabilities)
        return self._fuse_probabilities(case, settings)

    def _fuse_probabilities(self, case: FusionCase, settings: PoolSettings) -> Fusion:
        arrays = case.loaded.arrays
        masks = case.stack.rater_masks or (None,) * len(arrays)
        log_odds = pool_probabilities(arrays, masks, settings)
        decision = decide_log_odds(log_odds, case.patterns, settings.ties)
        inside = None if case.stack.mask is None else case.stack.mask != 0
        if inside is not None:
            decision[~inside] = BACKGROUND

        def probability(label: int) -> NDArray[np.float64]:
            signed = log_odds if label == 1 else -log_odds
            whole = foreground_probability(signed)
            return whole if inside is None else np.where(inside, whole, 0.0)

        return VolumeFusion(decision, probability)

    def _settings(self, case: FusionCase) -> PoolSettings:
        weights = self._weights(case.patterns.number_of_raters)
        if weights is None:
            present = np.asarray(case.patterns.present.any(axis=0))
            weights = present / np.count_nonzero(present)
        prior = label_prior(self.Prior, self._label_values(case), self.GetName())
        return PoolSettings(weights / self.Temperature, prior, self.ErrorRate, self.TieRule)


def _has_fractions(array: NDArray[Any] | None) -> bool:
    """Whether a float image holds anything but whole numbers."""
    if array is None or array.dtype.kind != "f":
        return False
    return bool((array != np.trunc(array)).any())


def _without(
    missing: int, array: NDArray[Any] | None, mask: NDArray[Any] | None
) -> NDArray[Any] | None:
    """Where a rater gave an opinion: inside its mask, and not the missing value."""
    if array is None:
        return mask
    given = np.asarray(array != missing)
    return given if mask is None else given & (mask != 0)
