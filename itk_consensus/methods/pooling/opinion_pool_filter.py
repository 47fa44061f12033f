"""LogOpinionPoolFilter: weighted geometric mean of the raters' probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from itk_consensus.core.constraints import Choice, OneOf, Real, Reals, optional
from itk_consensus.core.parameters import Parameter, settings_from
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.label_fusion import UndecidedLabelMixin
from itk_consensus.fusing.probability_inputs import ProbabilityInputsMixin
from itk_consensus.fusing.shared_parameters import RaterWeightsMixin, label_prior, prior_parameter
from itk_consensus.methods.pooling.opinion_pool import (
    PoolSettings,
    pool_probabilities,
    pool_votes,
)
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.ties import TIE_RULES

#: Lower bound of the raters' temperatures, if these are given as a list.
TEMPERATURE_FLOOR = 1e-6


class LogOpinionPoolFilter(UndecidedLabelMixin, RaterWeightsMixin, ProbabilityInputsMixin):
    """Weighted geometric mean of opinions, ``p ~ prior * prod p_a^(w_a/T_a)``.

    Inputs of integer type are label images. If any input has a floating-point type, all inputs are
    foreground probabilities from 0 to 1, and masks among them have values 0 and 1; label images
    stored as floats must be cast. Vector images of floating-point type, lists of one image per
    class, and arrays with `ClassAxis` are class probabilities. Probabilities are clipped according
    to `ErrorRate`. To use a spatially varying prior, add it as another probability image with
    weight T.
    """

    chunking_unsupported_reason = ""
    method = "log-opinion-pool"
    summary = (
        "Assumes opinions with meaningful confidence: probability maps of networks, or "
        "masks of equal error. Weights of 1 treat raters as independent. Genest & Zidek 1986."
    )

    # Padding with background adds a label if the images contain none, which changes error rates.
    laws = frozenset({"rater permutation", "relabelling", "unanimity", "clean background padding"})

    RaterWeights = Parameter(
        optional(Reals(low=0.0)),
        None,
        "Exponent of each rater's opinion.",
        default_doc="equal, sum 1",
    )
    Temperature = Parameter(
        OneOf((Real(low=0.0, exclusive=True), Reals(low=TEMPERATURE_FLOOR))),
        1.0,
        "Divides the exponents; one number, or one per rater. Above 1 the result is less certain.",
    )
    Prior = prior_parameter("equal shares")
    ErrorRate = Parameter(
        Real(0.0, 0.5, exclusive=True),
        PoolSettings.error_rate,
        "Probability that a label is wrong; probabilities stay this far from 0 and 1.",
    )
    TieRule = Parameter(
        Choice(TIE_RULES), PoolSettings.tie_rule, "What to do where labels are equally probable."
    )

    def _fuse(self, case: FusionCase) -> Fusion:
        settings = self._settings(case)
        if case.opinions is None:
            return pool_votes(case.patterns, settings)
        return pool_probabilities(case.opinions, settings)

    def _settings(self, case: FusionCase) -> PoolSettings:
        weights = self.weights_of(case.patterns.number_of_raters)
        if weights is None:
            present = np.asarray(case.patterns.present.any(axis=0))
            weights = present / np.count_nonzero(present)
        prior = label_prior(self.Prior, self._label_values(case), self.GetName())
        exponents = weights / self._temperatures(len(weights))
        return settings_from(self, PoolSettings, exponents=exponents, prior=prior)

    def _temperatures(self, raters: int) -> Any:
        given = np.array(self.Temperature, dtype=np.float64)
        if given.ndim and len(given) != raters:
            raise self._parameter_error(
                "Temperature", f"must be one number or {raters}, got {len(given)}"
            )
        return given
