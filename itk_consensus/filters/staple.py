"""STAPLEImageFilter: SimpleITK's binary STAPLE, and what can be added to it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.expectation_maximization import StopRule
from itk_consensus.algorithms.staple import VARIANTS, StapleResult, StapleSettings, staple
from itk_consensus.errors import ConsensusWarning, InputError, ParameterError
from itk_consensus.filters.expectation_maximization import (
    ExpectationMaximizationFilter,
    from_variant,
    with_voxels,
)
from itk_consensus.filters.fusion import Fusion, FusionCase, PatternFusion
from itk_consensus.filters.kinds import Choice, ImageLike, Integer, Real, Reals, optional
from itk_consensus.filters.parameters import Measurement, Parameter
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.label_stack import LabelStack, label_table


class STAPLEImageFilter(ExpectationMaximizationFilter):
    """Foreground probability and each rater's sensitivity and specificity, by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and answers. Execute returns the
    float64 foreground probability; GetLabelImage() the label map (probability >= 0.5).
    """

    positional = ("ConfidenceWeight", "ForegroundValue", "MaximumIterations")
    variants = VARIANTS
    laws = frozenset({"rater permutation", "unanimity"})
    method = "staple"
    summary = (
        "Assumes raters independent given the truth, each with one sensitivity and specificity. "
        "Use Variant=Advanced for small structures."
    )

    ConfidenceWeight: Parameter[float] = Parameter(
        Real(), 1.0, "Scales the prior, which is the mean of the masks."
    )
    ForegroundValue: Parameter[float] = Parameter(
        Real(), 1.0, "The pixel value that is foreground; every other value is background."
    )
    MaximumIterations: Parameter[int] = Parameter(
        Integer(1, 2**32 - 1), 2**32 - 1, "Most iterations of EM.", default_doc="no cap"
    )
    Tolerance: Parameter[float] = Parameter(
        Real(low=0.0), 1e-7, "EM stops when no sensitivity or specificity changes by more."
    )
    Prior: Parameter[Any] = Parameter(
        optional(Real(0.0, 1.0, exclusive=True), ImageLike()),
        None,
        "Foreground prior: a number, or a probability image on the inputs' grid.",
        default_doc="mean of the masks",
    )
    SensitivityPrior: Parameter[Any] = Parameter(
        Reals(low=1.0, length=2),
        from_variant("SensitivityPrior"),
        "Beta(a, b) prior of the sensitivities; adds a-1 and b-1 to the counts.",
        default_doc="from Variant",
    )
    SpecificityPrior: Parameter[Any] = Parameter(
        Reals(low=1.0, length=2),
        from_variant("SpecificityPrior"),
        "Beta(a, b) prior of the specificities.",
        default_doc="from Variant",
    )
    Initialization: Parameter[Any] = Parameter(
        Choice(("Mean", "MajorityVote", "Theta")),
        from_variant("Initialization"),
        "First start: Mean of the masks, MajorityVote, or Theta (.9999 for every rater).",
        default_doc="from Variant",
    )

    Sensitivity: Measurement[tuple[float, ...]] = Measurement(
        "tuple[float, ...]", "Each rater's sensitivity; NaN where undefined."
    )
    Specificity: Measurement[tuple[float, ...]] = Measurement(
        "tuple[float, ...]", "Each rater's specificity; NaN where undefined."
    )
    PositivePredictiveValue: Measurement[tuple[float, ...]] = Measurement(
        "tuple[float, ...]", "Probability that a rater's foreground vote is right."
    )
    NegativePredictiveValue: Measurement[tuple[float, ...]] = Measurement(
        "tuple[float, ...]", "Probability that a rater's background vote is right."
    )
    EstimatedPrior: Measurement[float] = Measurement("float", "Foreground prior at the end.")

    def _check_parameters(self) -> None:
        explicit = self.Prior is not None or self.EstimatePrior or self.SmoothnessWeight != 0
        if explicit and self.ConfidenceWeight != 1.0:
            raise ParameterError(
                f"{self.GetName()}: ConfidenceWeight scales the mean of the masks; with Prior, "
                "EstimatePrior or SmoothnessWeight it must stay 1, "
                f"got {self.ConfidenceWeight:g}"
            )

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        return LabelStack.binary(arrays, self.ForegroundValue, **common)

    def _strata(self, loaded: LoadedImages) -> NDArray[np.uint32] | None:
        if self.Prior is None or isinstance(self.Prior, float):
            return None
        prior = np.asarray(self._load_one(self.Prior, loaded, "Prior"), dtype=np.float32)
        if not ((prior > 0) & (prior < 1)).all():
            raise ParameterError(
                f"{self.GetName()}: Prior must be an image of probabilities inside (0, 1), "
                f"got values from {np.min(prior):g} to {np.max(prior):g}"
            )
        # Equal votes under different priors are different patterns; float32 bits tell them apart.
        return np.ascontiguousarray(prior).view(np.uint32)

    def _fuse(self, case: FusionCase) -> Fusion:
        self._check_foreground(case)
        result = staple(
            case.patterns,
            self._settings(case),
            field=self._field(case),
            observer=self._after_iteration,
            owner=self.GetName(),
        )
        self._store(result)
        self._warn(result)
        posterior = np.stack([1 - result.posterior, result.posterior], axis=1)
        answer = PatternFusion(case.patterns, result.decision, posterior)
        if result.voxels is None:
            return answer
        foreground = result.voxels.beliefs[1] >= 0.5
        return with_voxels(answer, result.voxels, foreground.astype(np.int32))

    def _run(self, patterns: DecisionPatterns, settings: Any) -> StapleResult:
        return staple(patterns, settings, owner=self.GetName())

    def _settings(self, case: FusionCase) -> StapleSettings:
        patterns, prior = case.patterns, self.Prior
        if patterns.strata is not None:
            prior = patterns.strata.view(np.float32).astype(np.float64)
        settings = StapleSettings(
            self.ConfidenceWeight,
            prior,
            self.EstimatePrior,
            self.ExcludeConsensusVoxels,
            self.SensitivityPrior,
            self.SpecificityPrior,
            self.Damping,
            StopRule(self.Tolerance, self.MaximumIterations),
            self._plan(self.Initialization),
        )
        asks = settings.pseudo_counts.any() or settings.plan.number > 1 or prior is not None
        if not self._check_raters(patterns, bool(asks)):
            warnings.warn(
                f"{self.GetName()}: one rater only; the answer is that rater's mask",
                ConsensusWarning,
                stacklevel=4,
            )
        return settings

    def _check_foreground(self, case: FusionCase) -> None:
        """A foreground value that occurs nowhere is a mistake, unless all is background 0."""
        if bool((case.patterns.patterns == 1).any()):
            return
        values = label_table(case.stack.arrays, self.GetName(), self.NumberOfThreads)
        others = [int(v) for v in values if v not in (0, self.MissingLabel)]
        if others and case.patterns.outside_code is None:
            raise InputError(
                f"{self.GetName()}: ForegroundValue {self.ForegroundValue:g} occurs in no input; "
                f"the inputs hold {_listed([int(v) for v in values])}"
            )
        if self.ForegroundValue != int(self.ForegroundValue):
            raise InputError(
                f"{self.GetName()}: ForegroundValue must be a label that the inputs can hold, "
                f"got {self.ForegroundValue:g}"
            )

    def _store(self, result: StapleResult) -> None:
        super()._store(result)
        self.Sensitivity = _floats(result.sensitivity)
        self.Specificity = _floats(result.specificity)
        self.PositivePredictiveValue = _floats(result.positive_predictive_value)
        self.NegativePredictiveValue = _floats(result.negative_predictive_value)
        self.EstimatedPrior = result.prior

    def _warn(self, result: StapleResult) -> None:
        names = ("Sensitivity", "Specificity")
        measures = (result.sensitivity, result.specificity)
        undefined = [n for n, m in zip(names, measures, strict=True) if np.isnan(m).all()]
        if undefined:
            warnings.warn(
                f"{self.GetName()}: {' and '.join(undefined)} undefined (NaN): the raters marked "
                f"{'nothing' if 'Sensitivity' in undefined else 'every voxel'}",
                ConsensusWarning,
                stacklevel=4,
            )
        if result.starts.switched[result.starts.winner]:
            warnings.warn(
                f"{self.GetName()}: label-switched optimum: the mean rater does worse than "
                "chance; foreground and background may have changed places",
                ConsensusWarning,
                stacklevel=4,
            )

    def _label_values(self, case: FusionCase) -> list[int]:
        foreground = int(self.ForegroundValue)
        return [0 if foreground else 1, foreground]

    def _primary_output(self) -> Any:
        return self._probability_image(1)


def _floats(values: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _listed(values: list[int]) -> str:
    shown = ", ".join(str(value) for value in values[:10])
    return f"the values {shown}{', ...' if len(values) > 10 else ''}"
