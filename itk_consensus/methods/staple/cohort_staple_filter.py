"""CohortSTAPLEFilter: STAPLE with one performance per rater, estimated from many cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.core.constraints import Real, Reals, optional
from itk_consensus.core.errors import InputError
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.process_object import output_method
from itk_consensus.core.results import Memo, Result
from itk_consensus.core.work import report, stage
from itk_consensus.fusing.estimates import AnswerFacts, Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult, MadeBy, common_type
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.fusing.label_inputs import LabelInputs
from itk_consensus.fusing.paired_gain import Gain, left_out_groups
from itk_consensus.images import convert
from itk_consensus.methods.staple.cohort_staple import CohortResult as SharedStaple
from itk_consensus.methods.staple.cohort_staple import cohort_staple
from itk_consensus.methods.staple.staple import StapleModel
from itk_consensus.methods.staple.staple_filter import BinaryStapleMixin
from itk_consensus.methods.staple.staple_result import StapleEstimate
from itk_consensus.methods.staple.votes_without_patterns import in_pairs
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion, PatternFusion, StoredShares, VolumeFusion
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.votes import patterns_of

#: Minimum number of known truths for which the gain is estimated.
FEWEST_TRUTHS = 5


@dataclass(frozen=True)
class CaseEstimate(Estimate):
    """Estimate stored in the result of one case; it describes the whole cohort."""

    shared: StapleModel

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Return the cohort's performances and starts; refitting would require all cases."""
        facts = self.shared.answer_facts(patterns)
        return replace(facts, refit=None, alternatives={})


@dataclass(frozen=True, eq=False)
class CohortResult(Result):
    """One result per case, and the shared estimate of rater performance."""

    cases: tuple[FusionResult[CaseEstimate], ...]
    estimate: StapleEstimate
    priors: tuple[float, ...]  #: Final foreground prior of each case
    truth_gain: Gain  #: Cross-validated gain from the known truths; NaN for fewer than five
    extras: Mapping[str, Any]
    memo: Memo = field(default_factory=Memo, repr=False)


class CohortSTAPLEFilter(BinaryStapleMixin, LabelInputs):
    """STAPLE that estimates rater performance from a whole cohort: Execute takes a list of cases.

    Each rater has one sensitivity and one specificity for all cases; each case has its own prior. A
    case is a list of images of the same raters in the same order, with None for a rater who did not
    annotate it; cases need not share a grid. For a single case the result equals that of STAPLE.

    The true segmentations of some cases may be given. They then replace the estimated ones when
    rater performance is estimated, and GetTruthGain() reports whether this improves the other
    cases.
    """

    Prior = Parameter(
        optional(Real(0.0, 1.0, exclusive=True), Reals(0.0, 1.0)),
        None,
        "Foreground prior: a number, or one for each case.",
        default_doc="mean of each case's masks",
    )
    MissingLabel = LabelFusionFilter.MissingLabel

    Priors = Measurement(tuple[float, ...], "Foreground prior of each case at the end.", "priors")
    TruthGain = Measurement(
        Gain,
        "Gain in Dice from the known truths on cases whose own truth is left out, with its 95 % "
        "interval; NaN for fewer than five.",
        "truth_gain",
    )

    def Execute(
        self, cases: Iterable[Any], truths: Sequence[Any | None] | None = None
    ) -> list[Any]:
        """Fuse every case.

        Parameters
        ----------
        cases : list of cases
            Each case is a list of SimpleITK or ITK images, or of arrays, on one grid; or a vector
            image with one rater per component.
        truths : list of label images, optional
            The true segmentation of each case, or None if it is not known.

        Returns
        -------
        list of images
            The float64 foreground probability of each case, with the family and geometry of its
            first image.
        """
        with self._running() as run:
            self._check_parameters()
            loaded = [self._load(case, index) for index, case in enumerate(self._list_cases(cases))]
            known = self._known(loaded, truths)
            report(0.5)
            counts = [
                None if truth is None else voxels_by_pattern(case.patterns, truth)
                for case, truth in zip(loaded, known, strict=True)
            ]
            with stage(0.5, 0.7):
                found = self._fuse(loaded, counts)
            with stage(0.7, 0.99):
                gain = self._gain(loaded, counts)
            shared = StapleModel.of(found.shared)
            run.result = CohortResult(
                tuple(
                    self._result_of(case, posterior, shared, truth).detach()
                    for case, posterior, truth in zip(loaded, found.posteriors, known, strict=True)
                ),
                shared,
                tuple(float(prior) for prior in found.priors),
                gain,
                {"expected votes": found.shared.expected_votes},
            )
            return self.GetProbabilityImages()

    @output_method
    def GetProbabilityImages(self) -> list[Any]:
        """Return the foreground probability of each case of the last Execute."""
        return [one.probability_image(one.labels[1]) for one in self.GetResult().cases]

    @output_method
    def GetLabelImages(self) -> list[Any]:
        """Return the label map of each case of the last Execute; foreground: probability >= 0.5."""
        return [one.label_image() for one in self.GetResult().cases]

    def GetResult(self) -> CohortResult:
        """Return the result of the last Execute: one per case, and the shared rater estimate."""
        result: CohortResult = super().GetResult()
        return result

    def _result_of(
        self,
        case: FusionCase,
        posterior: NDArray[np.float64],
        shared: StapleModel,
        truth: Mask | None,
    ) -> FusionResult[CaseEstimate]:
        labels = self._both_labels()
        dtype = common_type(case.loaded.arrays, labels)
        fusion: Fusion
        if truth is None:
            decision = (posterior >= 0.5).astype(np.int64)
            fusion = PatternFusion(case.patterns, decision, in_pairs(posterior))
        else:
            shares = StoredShares([(~truth).astype(np.float64), truth.astype(np.float64)])
            fusion = VolumeFusion(truth.astype(np.int32), shares)
        fused = Fused(fusion, CaseEstimate(shared))
        return FusionResult(case, fused, tuple(labels), dtype, 0, MadeBy.of(self))

    def _known(
        self, cases: Sequence[FusionCase], truths: Sequence[Any | None] | None
    ) -> list[Mask | None]:
        """Return the foreground mask of each case whose truth is known, else None."""
        given = [None] * len(cases) if truths is None else list(truths)
        if len(given) != len(cases):
            raise InputError(
                f"truths must have one entry for each of the {len(cases)} cases, None where the "
                f"truth is not known, got {len(given)}",
                owner=self.GetName(),
            )
        return [
            None if truth is None else self._truth(truth, case, index)
            for index, (case, truth) in enumerate(zip(cases, given, strict=True))
        ]

    def _truth(self, image: Any, case: FusionCase, index: int) -> Mask:
        array = convert.load_one(
            image,
            case.loaded,
            owner=self.GetName(),
            parameter=f"truth of case {index}",
            **self._tolerances(),
            **self._label_options(),
        )
        return np.asarray(array == self.ForegroundValue)

    def _gain(self, cases: list[FusionCase], counts: Sequence[NDArray[np.int64] | None]) -> Gain:
        """Return the cross-validated gain in a case's Dice from the known truths of other cases."""
        known = [index for index, truth in enumerate(counts) if truth is not None]
        if len(known) < FEWEST_TRUTHS:
            return Gain(np.nan, np.nan, np.nan)
        without = self._cohort(cases, [None] * len(cases))
        gains = np.zeros(len(known))
        for group in left_out_groups(len(known)):
            out = {known[place] for place in np.flatnonzero(group)}
            found = self._cohort(cases, [None if i in out else t for i, t in enumerate(counts)])
            for place in np.flatnonzero(group):
                index = known[place]
                ours, theirs = (
                    _dice(cases[index].patterns, one.posteriors[index], counts[index])
                    for one in (found, without)
                )
                gains[place] = ours - theirs
        gain = Gain.of(gains)
        if not gain.is_shown:
            self._warn(
                f"the known truths are not shown to help: on cases whose own truth is left out "
                f"they change Dice by {gain}"
            )
        return gain

    def _check_parameters(self) -> None:
        self._reject_two_priors("Prior")
        self._check_prior_counts()
        if self.Prior is not None or self.EstimatePrior:
            self._reject_confidence_weight("Prior or EstimatePrior")

    def _list_cases(self, cases: Any) -> list[Any]:
        if isinstance(cases, (str, bytes)) or not isinstance(cases, Iterable):
            raise InputError(
                f"needs a list of cases, each a list of images, got {type(cases).__name__}",
                owner=self.GetName(),
            )
        listed = list(cases)
        if not listed:
            raise InputError("needs at least one case, got none", owner=self.GetName())
        return listed

    def _load(self, images: Any, index: int) -> FusionCase:
        owner = f"{self.GetName()}: case {index}"
        loaded = convert.load(
            images, owner=owner, **self._loading_options(), **self._label_options()
        )
        stack = LabelStack.binary(
            loaded.arrays, self.ForegroundValue, missing_label=self.MissingLabel, owner=owner
        )
        return FusionCase(loaded, patterns_of(stack))

    def _fuse(
        self, cases: list[FusionCase], truths: Sequence[NDArray[np.int64] | None]
    ) -> SharedStaple:
        self._check_foreground(cases, self.MissingLabel)
        result = self._cohort(cases, truths)
        self._warn_of(result.shared)
        return result

    def _cohort(
        self, cases: list[FusionCase], truths: Sequence[NDArray[np.int64] | None]
    ) -> SharedStaple:
        return cohort_staple(
            [case.patterns for case in cases],
            self._settings_with(self.Prior),
            truths=truths,
            owner=self.GetName(),
        )


def voxels_by_pattern(patterns: DecisionPatterns, where: Mask) -> NDArray[np.int64]:
    """Return (P,) the number of voxels of a mask that have each pattern."""
    assert patterns.codes is not None
    assert patterns.slots is not None
    codes = patterns.codes[where]
    found = np.bincount(codes.reshape(-1), minlength=patterns.number_of_codes)
    return np.asarray(found[patterns.slots], np.int64)


def _dice(
    patterns: DecisionPatterns, posterior: NDArray[np.float64], truth: NDArray[np.int64] | None
) -> float:
    """Return the Dice of a case's label map; `truth` counts the foreground voxels by pattern."""
    assert truth is not None
    chosen = posterior >= 0.5
    total = patterns.counts[chosen].sum() + truth.sum()
    return float(2 * truth[chosen].sum() / total) if total else 1.0
