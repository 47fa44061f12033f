"""The parameters of EM, and of binary STAPLE, for every filter that has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from itk_consensus.algorithms.initialization import StartPlan, StartSummary
from itk_consensus.algorithms.iteration import StopRule
from itk_consensus.algorithms.staple_result import StapleEstimate
from itk_consensus.algorithms.staple_settings import (
    VARIANTS,
    StapleSettings,
    beta_pseudo_counts,
)
from itk_consensus.array_types import Floats
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.constraints import Boolean, Choice, Integer, Real, Reals
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.parameters import Deferred, Measurement, Parameter
from itk_consensus.filters.process_object import ProcessObject
from itk_consensus.labels.label_stack import label_table
from itk_consensus.labels.label_types import fits


def from_variant(of: Callable[[StapleSettings], Any]) -> Callable[[Any], Any]:
    """A default that follows the filter's Variant until the parameter is set itself."""
    return lambda filter_: of(filter_.defaults.for_variant(filter_.Variant))


def _beta_prior(settings: StapleSettings) -> tuple[float, float]:
    right, wrong = settings.pseudo_counts
    return 1 + right, 1 + wrong


class ExpectationMaximizationMixin(ProcessObject):
    """Variants, starts and damping; what a run of EM leaves behind."""

    #: What holds without a variant.
    defaults: ClassVar[StapleSettings] = StapleSettings()

    Variant = Parameter(
        Choice(tuple(VARIANTS)),
        "basic",
        "basic is SimpleITK's; restricted leaves consensus voxels out; advanced estimates the "
        "prior, expects raters better than chance and starts from the vote. "
        "Parameters that are set themselves win over it.",
    )
    ExcludeConsensusVoxels = Parameter(
        Boolean(),
        from_variant(lambda settings: settings.exclude_consensus),
        "Leave voxels where all raters agree out of the estimation; they keep their label.",
        default_doc="from Variant",
    )
    EstimatePrior = Parameter(
        Boolean(),
        lambda filter_: (
            filter_._prior_is_open and filter_.defaults.for_variant(filter_.Variant).estimate_prior
        ),
        "Estimate the label prior in every iteration instead of fixing it.",
        default_doc="from Variant, unless a prior is given",
    )
    Damping = Parameter(Real(0.0, 0.9), 0.0, "Share of the old performance kept in each iteration.")
    NumberOfInitializations = Parameter(
        Integer(1, 10_000),
        1,
        "Starts of EM: first Initialization, then the other of mean and majority_vote, then random "
        "ones; the highest log posterior wins.",
    )
    RandomSeed = Parameter(Integer(low=0), 0, "Seed of the random starts.")
    InitializationRange = Parameter(
        Reals(0.0, 1.0, length=2, increasing=True),
        (0.5, 1.0),
        "Range from which random starts draw each rater's performance.",
    )

    ElapsedIterations = Measurement(
        int, "Index of the iteration that met the stop rule, or the cap."
    )
    Converged = Measurement(bool, "Whether the stop rule was met.")
    LogLikelihood = Measurement(float, "Log likelihood of the votes under the estimate.")
    LogPosterior = Measurement(
        float, "Log likelihood plus the log of the parameters' prior, which picks the winner."
    )
    LogLikelihoods = Measurement(tuple[float, ...], "Log likelihood that each start reached.")
    Starts = Measurement(
        StartSummary, "Every start's likelihood, iterations, trace, overlap with the others."
    )

    #: Which start comes first; each filter has its own choice.
    Initialization: Parameter[Any]

    @property
    def _prior_is_open(self) -> bool:
        """Whether no label prior is given, so that one may be estimated."""
        return True

    def _reject_two_priors(self, name: str) -> None:
        if not self._prior_is_open and self.EstimatePrior:
            raise ParameterError(
                f"{self.GetName()}: EstimatePrior must be False beside {name}, which fixes it"
            )

    def _common_settings(self, prior: Any, **others: Any) -> StapleSettings:
        """The settings that every STAPLE has, from the parameters above, and others."""
        low, high = self.InitializationRange
        return replace(
            self.defaults,
            prior=prior,
            estimate_prior=self.EstimatePrior,
            exclude_consensus=self.ExcludeConsensusVoxels,
            damping=self.Damping,
            plan=StartPlan(
                self.Initialization, self.NumberOfInitializations, self.RandomSeed, low, high
            ),
            **others,
        )

    def _store(self, result: StapleEstimate) -> None:
        self.ElapsedIterations = result.iterations
        self.Converged = result.converged
        self.LogLikelihood = result.log_likelihood
        self.LogPosterior = result.log_posterior
        self.LogLikelihoods = tuple(result.starts.log_likelihood.tolist())
        self.Starts = result.starts


class BinaryStapleMixin(ExpectationMaximizationMixin):
    """The parameters and measurements of binary STAPLE."""

    ConfidenceWeight = Parameter(Real(), 1.0, "Scales the prior, which is the mean of the masks.")
    ForegroundValue = Parameter(
        Real(), 1.0, "The pixel value that is foreground; every other value is background."
    )
    MaximumIterations = Parameter(
        Integer(1, 2**32 - 1), 2**32 - 1, "Most iterations of EM.", default_doc="no cap"
    )
    Tolerance = Parameter(
        Real(low=0.0),
        1e-7,
        "EM stops when no sensitivity or specificity changes by more; 0: until nothing "
        "changes, after 10,000 iterations at most.",
    )
    SensitivityPrior = Parameter(
        Reals(low=1.0, length=2),
        from_variant(_beta_prior),
        "Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts.",
        default_doc="from Variant",
    )
    SpecificityPrior = Parameter(
        Reals(low=1.0, length=2),
        from_variant(_beta_prior),
        "Beta(a, b) prior of the specificities.",
        default_doc="from Variant",
    )
    Initialization = Parameter(
        Choice(("mean", "majority_vote", "theta")),
        from_variant(lambda settings: settings.plan.initialization),
        "First start: mean of the masks, majority_vote, or theta (.9999 for every rater).",
        default_doc="from Variant",
    )

    Sensitivity = Measurement(tuple[float, ...], "Each rater's sensitivity; NaN where undefined.")
    Specificity = Measurement(tuple[float, ...], "Each rater's specificity; NaN where undefined.")
    PositivePredictiveValue = Measurement(
        tuple[float, ...], "Probability that a rater's foreground vote is right."
    )
    NegativePredictiveValue = Measurement(
        tuple[float, ...], "Probability that a rater's background vote is right."
    )

    def _settings_with(self, prior: Any) -> StapleSettings:
        return self._common_settings(
            prior,
            confidence_weight=self.ConfidenceWeight,
            pseudo_counts=beta_pseudo_counts(self.SensitivityPrior, self.SpecificityPrior),
            stop=StopRule(self.Tolerance, self.MaximumIterations),
        )

    def _reject_confidence_weight(self, beside: str) -> None:
        """Where the prior is not the mean of the masks, there is nothing to scale."""
        if self.ConfidenceWeight != 1.0:
            raise ParameterError(
                f"{self.GetName()}: ConfidenceWeight scales the mean of the masks; with {beside} "
                f"it must stay 1, got {self.ConfidenceWeight:g}"
            )

    def _both_labels(self) -> list[int]:
        """The values of background and foreground in a label map."""
        foreground = int(self.ForegroundValue)
        return [0 if foreground else 1, foreground]

    def _check_foreground(self, cases: Sequence[FusionCase], missing: int | None) -> None:
        """A foreground value that occurs in no case is a mistake, unless all is background 0."""
        if any(bool((case.patterns.patterns == 1).any()) for case in cases):
            return
        arrays = [array for case in cases for array in case.stack.arrays]
        values = label_table(arrays, self.GetName(), self.NumberOfThreads)
        if self.ForegroundValue in values:
            return  # it occurs, but only outside the mask
        others = [int(value) for value in values if value not in (0, missing)]
        if others:
            raise InputError(
                f"{self.GetName()}: ForegroundValue {self.ForegroundValue:g} occurs in no input; "
                f"the inputs hold {_listed([int(value) for value in values])}"
            )
        types = {array.dtype for array in arrays if array is not None}
        if not any(fits(self.ForegroundValue, dtype) for dtype in types):
            raise InputError(
                f"{self.GetName()}: ForegroundValue must be a label that the inputs can hold, "
                f"got {self.ForegroundValue:g}"
            )

    def _store(self, result: StapleEstimate) -> None:
        super()._store(result)
        self.Sensitivity = tuple(result.sensitivity.tolist())
        self.Specificity = tuple(result.specificity.tolist())
        self.PositivePredictiveValue = Deferred(
            lambda: tuple(result.predictive_values[:, 1].tolist())
        )
        self.NegativePredictiveValue = Deferred(
            lambda: tuple(result.predictive_values[:, 0].tolist())
        )

    def _warn_of(self, result: StapleEstimate) -> None:
        """Warn of a result that is undefined or label-switched."""
        measures = {"Sensitivity": result.sensitivity, "Specificity": result.specificity}
        undefined = [name for name, values in measures.items() if np.isnan(values).all()]
        if undefined:
            self._warn(
                f"{' and '.join(undefined)} undefined (NaN): the raters marked "
                f"{'nothing' if 'Sensitivity' in undefined else 'every voxel'}"
            )
        if result.starts.switched[result.starts.winner]:
            self._warn(
                "label-switched optimum: the mean rater does worse than chance; foreground and "
                "background may have changed places"
            )


def _column(values: Floats, label: int) -> tuple[float, ...]:
    return tuple(values[:, label].tolist())


def _listed(values: list[int]) -> str:
    shown = ", ".join(str(value) for value in values[:10])
    return f"the values {shown}{', ...' if len(values) > 10 else ''}"
