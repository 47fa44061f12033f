"""STAPLEImageFilter: SimpleITK's binary STAPLE, and what can be added to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.packed_staple import packed_staple
from itk_consensus.algorithms.soft_staple import soft_staple
from itk_consensus.algorithms.staple import staple
from itk_consensus.algorithms.staple_result import StapleEstimate
from itk_consensus.algorithms.staple_settings import StapleSettings
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.constraints import Real, optional
from itk_consensus.filters.expectation_maximization import ExpectationMaximizationFilter
from itk_consensus.filters.fusion_case import FusionCase
from itk_consensus.filters.image_constraints import ImageLike
from itk_consensus.filters.parameters import Measurement, Parameter
from itk_consensus.filters.probability_inputs import SoftInputsMixin
from itk_consensus.filters.staple_parameters import BinaryStapleMixin
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.fusions import Fusion
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.packed_votes import PackedVotes


class STAPLEImageFilter(BinaryStapleMixin, ExpectationMaximizationFilter, SoftInputsMixin):
    """Foreground probability and each rater's sensitivity and specificity, by EM.

    Drop-in for ``sitk.STAPLEImageFilter``: same names, defaults and answers. Execute returns the
    float64 foreground probability; GetLabelImage() the label map (probability >= 0.5). Inputs
    that are probabilities count as fractions of a vote, from one start.
    """

    # Patterns are made unless they turn out to be too many.
    needs = "votes"
    positional = ("ConfidenceWeight", "ForegroundValue", "MaximumIterations")
    laws = frozenset({"rater permutation", "unanimity"})
    method = "staple"
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
    EstimatedPrior = Measurement(float, "Foreground prior at the end.")

    @property
    def _prior_is_open(self) -> bool:
        return self.Prior is None

    def _check_parameters(self) -> None:
        self._reject_two_priors("Prior")
        if self.Prior is not None or self.EstimatePrior or self.SmoothnessWeight != 0:
            self._reject_confidence_weight("Prior, EstimatePrior or SmoothnessWeight")

    def _make_stack(self, arrays: Sequence[Any], **common: Any) -> LabelStack:
        if self._are_soft(arrays):
            return super()._make_stack(arrays, **common)
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
        if self._soft:
            return self._fuse_soft(case)
        if self._is_plain and case.packed is not None:
            return self._fuse_packed(case, case.packed)
        self._check_foreground([case], self.MissingLabel)
        result = staple(
            case.patterns,
            self._settings(case),
            field=self._field(case),
            observer=self._after_iteration,
            owner=self.GetName(),
        )
        self._store(result)
        self._warn_of(result)
        return self._fusion(result, lambda beliefs: (beliefs[1] >= 0.5).astype(np.int32))

    @property
    def _is_plain(self) -> bool:
        """Whether nothing is asked for that needs patterns."""
        several = self.NumberOfInitializations > 1
        return not (several or self.ExcludeConsensusVoxels or self.SmoothnessWeight != 0)

    def _fuse_packed(self, case: FusionCase, packed: PackedVotes) -> Fusion:
        result = packed_staple(
            packed,
            self._settings_with(self.Prior),
            observer=self._after_iteration,
            owner=self.GetName(),
        )
        self._store(result)
        self._warn_of(result)
        return result.fusion if packed.counts is None else result.fusion.on(case.patterns)

    def _fuse_soft(self, case: FusionCase) -> Fusion:
        if not self._is_plain or not isinstance(self.Prior, (float, type(None))):
            raise ParameterError(
                f"{self.GetName()}: probabilities among the inputs are fused from one start, under "
                "one prior, without SmoothnessWeight and ExcludeConsensusVoxels"
            )
        if self._classes > 2:
            raise InputError(
                f"{self.GetName()}: inputs must hold labels or probabilities of two classes, got "
                f"{self._classes} classes; use ProbabilityAverageFilter or MajorityVoteFilter"
            )
        result = soft_staple(
            self._opinions(case) or [],
            case.stack.rater_masks,
            case.stack.mask,
            self._settings_with(self.Prior),
            observer=self._after_iteration,
            owner=self.GetName(),
        )
        self._store(result)
        self._warn_of(result)
        return result.fusion

    def _settings(self, case: FusionCase) -> StapleSettings:
        patterns, prior = case.patterns, self.Prior
        if patterns.strata is not None:
            prior = patterns.strata.view(np.float32).astype(np.float64)
        settings = self._settings_with(prior)
        asks = np.any(settings.pseudo_counts) or settings.plan.number > 1 or prior is not None
        if not self._check_raters(patterns, bool(asks)):
            self._warn("one rater only; the answer is that rater's mask")
        return settings

    def _store(self, result: StapleEstimate) -> None:
        super()._store(result)
        self.EstimatedPrior = float(result.prior[1])

    def _label_values(self, case: FusionCase) -> list[int]:
        return self._both_labels()

    def _primary_output(self) -> Any:
        return self.GetProbabilityImage()
