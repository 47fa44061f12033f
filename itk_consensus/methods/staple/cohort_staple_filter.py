"""CohortSTAPLEFilter: the same raters over many cases, judged by all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.constraints import Real, Reals, optional
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.process_object import made_later
from itk_consensus.core.results import Memo, Result
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult, MadeBy, common_type
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.label_inputs import LabelInputs
from itk_consensus.images import convert
from itk_consensus.methods.staple.cohort_staple import CohortResult as SharedStaple
from itk_consensus.methods.staple.cohort_staple import cohort_staple
from itk_consensus.methods.staple.staple import StapleModel
from itk_consensus.methods.staple.staple_filter import BinaryStapleMixin
from itk_consensus.methods.staple.staple_result import StapleEstimate
from itk_consensus.methods.staple.votes_without_patterns import in_pairs
from itk_consensus.votes.fusions import PatternFusion
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.votes import patterns_of


@dataclass(frozen=True, eq=False)
class CohortResult(Result):
    """A result for each case, and what all cases say of the raters together."""

    cases: tuple[FusionResult[None], ...]
    estimate: StapleEstimate
    priors: tuple[float, ...]  #: Foreground prior of each case at the end
    extras: Mapping[str, Any]
    memo: Memo = field(default_factory=Memo, repr=False)


class CohortSTAPLEFilter(BinaryStapleMixin, LabelInputs):
    """STAPLE that estimates the raters from a whole cohort: Execute takes a list of cases.

    Each rater has one sensitivity and one specificity for all cases, each case its own prior. A
    case is a list of images, the same raters in the same order, None for one who did not see it;
    cases need not share a grid. For one case the answer is STAPLE's.
    """

    Prior = Parameter(
        optional(Real(0.0, 1.0, exclusive=True), Reals(0.0, 1.0)),
        None,
        "Foreground prior: a number, or one for each case.",
        default_doc="mean of each case's masks",
    )
    MissingLabel = LabelFusionFilter.MissingLabel

    Priors = Measurement(tuple[float, ...], "Foreground prior of each case at the end.", "priors")

    def Execute(self, cases: Iterable[Any]) -> list[Any]:
        """Fuse every case.

        Parameters
        ----------
        cases : list of cases
            A case is a list of SimpleITK or itk images, or of arrays, on one grid; or a vector
            image with one rater per component.

        Returns
        -------
        list of images
            The float64 foreground probability of each case, with the family and geometry of its
            first image.
        """
        with self._running() as run:
            self._check_parameters()
            loaded = [self._load(case, index) for index, case in enumerate(self._listed(cases))]
            report(0.5)
            with stage(0.5, 0.99):
                found = self._fuse(loaded)
            run.result = CohortResult(
                tuple(
                    self._result_of(case, posterior).detached()
                    for case, posterior in zip(loaded, found.posteriors, strict=True)
                ),
                StapleModel.of(found.shared),
                tuple(float(prior) for prior in found.priors),
                {"expected votes": found.shared.expected_votes},
            )
            return self.GetProbabilityImages()

    @made_later
    def GetProbabilityImages(self) -> list[Any]:
        """Foreground probability of each case of the last Execute."""
        return [one.probability_image(one.labels[1]) for one in self.GetResult().cases]

    @made_later
    def GetLabelImages(self) -> list[Any]:
        """Label map of each case of the last Execute: foreground where its probability >= 0.5."""
        return [one.label_image() for one in self.GetResult().cases]

    def GetResult(self) -> CohortResult:
        """What the last Execute made: a result for each case, and what all cases share."""
        result: CohortResult = super().GetResult()
        return result

    def _result_of(self, case: FusionCase, posterior: NDArray[np.float64]) -> FusionResult[None]:
        labels = self._both_labels()
        dtype = common_type(case.loaded.arrays, labels)
        decision = (posterior >= 0.5).astype(np.int64)
        fusion = PatternFusion(case.patterns, decision, in_pairs(posterior))
        return FusionResult(case, Fused(fusion, None), tuple(labels), dtype, 0, MadeBy.of(self))

    def _check_parameters(self) -> None:
        self._reject_two_priors("Prior")
        self._check_prior_counts()
        if self.Prior is not None or self.EstimatePrior:
            self._reject_confidence_weight("Prior or EstimatePrior")

    def _listed(self, cases: Any) -> list[Any]:
        if isinstance(cases, (str, bytes)) or not isinstance(cases, Iterable):
            raise InputError(
                f"a list of cases wanted, each a list of images, got {type(cases).__name__}",
                owner=self.GetName(),
            )
        listed = list(cases)
        if not listed:
            raise InputError("at least one case wanted, got none", owner=self.GetName())
        return listed

    def _load(self, images: Any, index: int) -> FusionCase:
        owner = f"{self.GetName()}: case {index}"
        loaded = convert.load(images, owner=owner, **self._loading(), **self._of_labels())
        stack = LabelStack.binary(
            loaded.arrays, self.ForegroundValue, missing_label=self.MissingLabel, owner=owner
        )
        return FusionCase(loaded, patterns_of(stack))

    def _fuse(self, cases: list[FusionCase]) -> SharedStaple:
        self._check_foreground(cases, self.MissingLabel)
        result = cohort_staple(
            [case.patterns for case in cases],
            self._settings_with(self.Prior),
            owner=self.GetName(),
        )
        self._warn_of(result.shared)
        return result
