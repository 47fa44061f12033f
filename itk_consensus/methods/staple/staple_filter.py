"""STAPLEImageFilter: SimpleITK's binary STAPLE, with variants, priors and a Markov field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import Choice, ImageLike, Integer, Real, Reals, optional
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused
from itk_consensus.fusing.probability_inputs import SoftInputsMixin
from itk_consensus.images.families.image_family import LoadedImages
from itk_consensus.methods.staple.shared_em_parameters import (
    ExpectationMaximizationFilter,
    ExpectationMaximizationMixin,
    from_variant,
)
from itk_consensus.methods.staple.staple import (
    StapleModel,
    StapleSettings,
    beta_pseudo_counts,
    staple,
)
from itk_consensus.methods.staple.staple_result import (
    StapleEstimate,
    StapleResult,
    predictive_values,
)
from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack, can_hold, label_table
from itk_consensus.votes.packed_votes import PackedVotes
from itk_consensus.votes.votes import pack_if_many


def _predictive_values(result: Any) -> NDArray[np.float64]:
    """Return the (J, K) predictive values, cached on the result."""
    expected = result.extras["expected votes"]
    values: NDArray[np.float64] = result.memo.get_or_make(
        "predictive values", lambda: predictive_values(expected())
    )
    return values


def _beta_prior(settings: StapleSettings) -> tuple[float, float]:
    right, wrong = settings.pseudo_counts
    return 1 + right, 1 + wrong


class BinaryStapleMixin(ExpectationMaximizationMixin):
    """Parameters and measurements of binary STAPLE."""

    ConfidenceWeight = Parameter(Real(), 1.0, "Scales the prior, which is the mean of the masks.")
    ForegroundValue = Parameter(
        Real(), 1.0, "The pixel value that is foreground; every other value is background."
    )
    MaximumIterations = Parameter(
        Integer(1, 2**32 - 1), 2**32 - 1, "Maximum number of EM iterations.", default_doc="no cap"
    )
    Tolerance = Parameter(
        Real(low=0.0),
        StapleSettings().stop.tolerance,
        "EM stops when no sensitivity or specificity changes by more than this; 0: until nothing "
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
        "First start: mean of the masks, majority_vote, or theta (InitialPerformance).",
        default_doc="from Variant",
    )

    Sensitivity = Measurement(
        tuple[float, ...],
        "Each rater's sensitivity; NaN where undefined.",
        "estimate.sensitivity",
        one_of=float,
    )
    Specificity = Measurement(
        tuple[float, ...],
        "Each rater's specificity; NaN where undefined.",
        "estimate.specificity",
        one_of=float,
    )
    PositivePredictiveValue = Measurement(
        tuple[float, ...],
        "Probability that a rater's foreground vote is right.",
        lambda result: _predictive_values(result)[:, 1],
    )
    NegativePredictiveValue = Measurement(
        tuple[float, ...],
        "Probability that a rater's background vote is right.",
        lambda result: _predictive_values(result)[:, 0],
    )

    #: Declared by each filter, since the accepted types differ.
    Prior: Parameter[Any]

    @property
    def _prior_is_open(self) -> bool:
        return self.Prior is None

    def _settings_with(self, prior: Any) -> StapleSettings:
        return self._common_settings(
            prior,
            2,
            self.Tolerance,
            self.MaximumIterations,
            confidence_weight=self.ConfidenceWeight,
            pseudo_counts=beta_pseudo_counts(self.SensitivityPrior, self.SpecificityPrior),
        )

    def _reject_confidence_weight(self, other: str) -> None:
        """Raise if ConfidenceWeight is set although `other` replaces the prior that it scales."""
        if self.ConfidenceWeight != 1.0:
            raise self._parameter_error(
                "ConfidenceWeight",
                f"scales the mean of the masks; with {{{other}}} "
                f"it must stay 1, got {self.ConfidenceWeight:g}",
                other,
            )

    @property
    def foreground(self) -> float:
        """Pixel value of the foreground."""
        return float(self.ForegroundValue)

    def _both_labels(self) -> list[int]:
        """Return the pixel values of background and foreground in a label map."""
        foreground = int(self.ForegroundValue)
        return [0 if foreground else 1, foreground]

    def _check_foreground(self, cases: Sequence[FusionCase], missing: int | None) -> None:
        """Raise if the foreground value occurs in no case, unless all inputs are background 0."""
        if any(bool((case.patterns.patterns == 1).any()) for case in cases):
            return
        arrays = [array for case in cases for array in case.loaded.arrays]
        values = label_table(arrays, self.GetName())
        if self.ForegroundValue in values:
            return  # The value occurs, but only outside the mask.
        others = [int(value) for value in values if value not in (0, missing)]
        if others:
            raise InputError(
                f"{self.ForegroundValue:g} occurs in no input; "
                f"the inputs hold {_format_values([int(value) for value in values])}",
                owner=self.GetName(),
                parameter="ForegroundValue",
            )
        types = {array.dtype for array in arrays if array is not None}
        if not any(can_hold(self.ForegroundValue, dtype) for dtype in types):
            raise InputError(
                f"must be a label that the inputs can hold, got {self.ForegroundValue:g}",
                owner=self.GetName(),
                parameter="ForegroundValue",
            )

    def _warn_of(self, result: StapleResult) -> None:
        """Warn if the result is undefined or label-switched."""
        measures = {"Sensitivity": result.sensitivity, "Specificity": result.specificity}
        undefined = [name for name, values in measures.items() if np.isnan(values).all()]
        if undefined:
            self._warn(
                f"{' and '.join(undefined)} undefined (NaN): the raters marked "
                f"{'nothing' if 'Sensitivity' in undefined else 'every voxel'}"
            )
        if result.starts.winner_is_switched:
            self._warn(
                "label-switched optimum: the mean rater does worse than chance; foreground and "
                "background may have changed places"
            )


class STAPLEImageFilter(BinaryStapleMixin, ExpectationMaximizationFilter, SoftInputsMixin):
    """Foreground probability and each rater's sensitivity and specificity, estimated by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and results. Execute returns the
    float64 foreground probability; GetLabelImage() returns the label map (probability >= 0.5).
    Probability images among the inputs count as fractional votes; EM then runs from a single start.
    """

    positional = ("ConfidenceWeight", "ForegroundValue", "MaximumIterations")
    laws = frozenset({"rater permutation", "unanimity"})
    method = "staple"
    fuses_images = True
    returns_labels = False
    summary = (
        "Assumes raters independent given the truth, each with one sensitivity and specificity. "
        "Use Variant=advanced for small structures."
    )

    Prior = Parameter(
        optional(Real(0.0, 1.0, exclusive=True), ImageLike()),
        None,
        "Foreground prior: a number, or a probability image on the inputs' grid.",
        default_doc="mean of the masks",
    )
    EstimatedPrior = Measurement(float, "Foreground prior at the end.", "estimate.foreground_prior")

    def _check_parameters(self) -> None:
        self._reject_two_priors("Prior")
        self._check_prior_counts()
        if self.Prior is not None or self.EstimatePrior or self.SmoothnessWeight != 0:
            self._reject_confidence_weight("Prior, EstimatePrior or SmoothnessWeight")

    @property
    def needs(self) -> str:  # type: ignore[override]
        return "bits" if self._is_plain else "patterns"

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        return LabelStack.binary(arrays, self.ForegroundValue, **common)

    def _strata(self, loaded: LoadedImages) -> NDArray[np.uint32] | None:
        if self.Prior is None or isinstance(self.Prior, float):
            return None
        prior = np.asarray(self._load_one(self.Prior, loaded, "Prior"), dtype=np.float32)
        if not ((prior > 0) & (prior < 1)).all():
            raise self._parameter_error(
                "Prior",
                f"must be an image of probabilities inside (0, 1), "
                f"got values from {np.min(prior):g} to {np.max(prior):g}",
            )
        # Equal votes with different priors are different patterns, distinguished by the prior's
        # float32 bits.
        return np.ascontiguousarray(prior).view(np.uint32)

    def _fuse(self, case: FusionCase) -> Fused[StapleEstimate]:
        votes, settings = self._votes_to_fuse(case), self._settings_with(self.Prior)
        if isinstance(votes, DecisionPatterns):
            self._check_foreground([case], self.MissingLabel)
            settings = self._settings(votes)
        result = staple(votes, settings, field=self._field(case), owner=self.GetName())
        self._warn_of(result)
        extras = {"expected votes": result.expected_votes}
        return Fused(result.fusion, StapleModel.of(result), extras)

    def _votes_to_fuse(self, case: FusionCase) -> DecisionPatterns | PackedVotes | SoftVotes:
        if case.opinions is not None:
            self._require_plain_soft_inputs(case.opinions)
            return case.opinions
        return pack_if_many(case.votes) if self._is_plain else case.patterns

    @property
    def _is_plain(self) -> bool:
        """Whether the parameters allow packed or soft votes, which need no pattern table."""
        several = self.NumberOfInitializations > 1
        return not (several or self.ExcludeConsensusVoxels or self.SmoothnessWeight != 0)

    def _require_plain_soft_inputs(self, votes: SoftVotes) -> None:
        if not self._is_plain or not isinstance(self.Prior, (float, type(None))):
            raise ParameterError(
                "probabilities among the inputs are fused from one start, under "
                "one prior, without {SmoothnessWeight} and {ExcludeConsensusVoxels}",
                owner=self.GetName(),
                mentions=("SmoothnessWeight", "ExcludeConsensusVoxels"),
            )
        if len(votes.labels) > 2:
            raise InputError(
                f"inputs must hold labels or probabilities of two classes, got "
                f"{len(votes.labels)} classes; use ProbabilityAverageFilter or MajorityVoteFilter",
                owner=self.GetName(),
            )

    def _settings(self, patterns: DecisionPatterns) -> StapleSettings:
        prior = self.Prior
        if patterns.strata is not None:
            prior = patterns.strata.view(np.float32).astype(np.float64)
        settings = self._settings_with(prior)
        needs_two = np.any(settings.pseudo_counts) or settings.plan.number > 1 or prior is not None
        if not self._check_raters(patterns, bool(needs_two)):
            self._warn("only one rater: the result is that rater's mask")
        return settings

    def _label_values(self, case: FusionCase) -> list[int]:
        return self._both_labels()


def _format_values(values: list[int]) -> str:
    shown = ", ".join(str(value) for value in values[:10])
    return f"the values {shown}{', ...' if len(values) > 10 else ''}"
