"""LearnedFusionFilter: which rater to believe where, learned from cases with a truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from itk_consensus.calibration.learned.case_tables import case_tables
from itk_consensus.calibration.learned.label_rule import FEWEST_CASES
from itk_consensus.calibration.learned.learned_fusion import Decided, learned_fusion
from itk_consensus.calibration.learned.learned_record import (
    KnownRaters,
    LearnedCase,
    LearnedRecord,
    case_twice,
)
from itk_consensus.calibration.record_keeper import RecordKeeper, text_of
from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import ConsensusError, InputError
from itk_consensus.core.parameters import Measurement
from itk_consensus.core.process_object import ITERATION_EVENT
from itk_consensus.core.work import stage
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.fusion_result import Fused, FusionResult
from itk_consensus.fusing.probability_inputs import SoftInputsMixin
from itk_consensus.images import convert
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.storage.files import PathLike
from itk_consensus.votes.gains import Gain
from itk_consensus.votes.label_stack import LabelStack

_MISSING = object()


@dataclass(frozen=True)
class LearnedEstimate(Estimate):
    """What was changed by what was learned."""

    learned_labels: tuple[int, ...]  #: Labels with a rule
    changed_voxels: int


class RaterWeight(NamedTuple):
    """How far a rater is believed about a label: log-odds of what is said, and a 95 % interval."""

    rater: str
    weight: float
    low: float
    high: float


class LearnedFusionFilter(RecordKeeper[LearnedRecord], SoftInputsMixin):
    """Consensus, corrected by what cases with a truth say of the raters; or Consensus alone.

    Fit learns from five cases or more, label by label, how far each rater is to be believed where
    raters disagree. Execute gives those voxels the label that has probability; all others
    have Consensus' answer, and so has everything if cases left out of the learning do not show
    that it gains. Raters must be the same people or networks, in the same order.

    >>> learned = LearnedFusionFilter()
    >>> learned.Fit(cases, truths)
    >>> print(learned.GetExplanation())
    >>> fused = learned.Execute(images)
    """

    record_class = LearnedRecord
    learns_by = "Fit"
    whole_because = "Consensus, which it corrects, cannot be exact in chunks"
    bytes_per_voxel = 28
    method = "learned"
    summary = (
        "Assumes that raters are the same as in cases with a truth. Use where there are ten such "
        "cases: it says whether that helps, and is Consensus where it does not."
    )
    laws = ConsensusFilter.laws

    LearnedLabels = Measurement(
        tuple[int, ...], "Labels that a learned rule decides.", "estimate.learned_labels"
    )
    ChangedVoxels = Measurement(
        int, "Voxels answered otherwise than by Consensus.", "estimate.changed_voxels"
    )

    # -- learning -----------------------------------------------------------------------------

    def Fit(
        self,
        cases: Iterable[Any],
        truths: Iterable[Any],
        *,
        records: Sequence[LearnedRecord | PathLike] = (),
    ) -> None:
        """Learn from cases whose truth is known.

        Parameters
        ----------
        cases : iterable of lists of images
            Of each case what the raters drew, the same raters in the same order, None for a missing
            one; or of dicts by the raters' names.
        truths : iterable of label images
            Of the same labels.
        records : sequence of LearnedRecord or paths, optional
            What others, or this filter, learned of the same raters: their cases are added.
        """
        with self._running():
            self._record = None
            known = [self._opened(record) for record in records]
            self._record = self._united([*known, *self._learned(cases, truths)])
            self._tell(self._record.doubts())

    def _learned(self, cases: Iterable[Any], truths: Iterable[Any]) -> list[LearnedRecord]:
        """What each case tells; only one is held at a time."""
        # Of a generator the number of cases is unknown.
        part = 1 / max(len(cases), 1) if isinstance(cases, Sized) else 0.0
        found: list[LearnedRecord] = []
        labels: tuple[set[int], set[int]] = set(), set()
        for number, (images, truth) in enumerate(zip_longest(cases, truths, fillvalue=_MISSING)):
            if images is _MISSING or truth is _MISSING:
                ended = "cases" if images is _MISSING else "truths"
                raise InputError(
                    f"Fit needs a truth for each case; there are only {number} {ended}",
                    owner=self.GetName(),
                )
            try:
                # Of a generator the number of cases is unknown.
                with stage(min(1.0, number * part), min(1.0, (number + 1) * part)):
                    found.append(self._learned_of_case(images, truth, labels))
                if found[0].unlike(found[-1]):
                    raise InputError(f"must be like case 0: {found[0].unlike(found[-1])}")
            except ConsensusError as error:
                raise error.about(owner=f"{self.GetName()}: case {number}") from None
            self._invoke(ITERATION_EVENT)
        if labels[0] and not labels[0] & labels[1]:
            raise InputError(
                f"raters mark the labels {sorted(labels[0])}, the truths "
                f"{sorted(labels[1]) or 'none'}: give both the same labels",
                owner=self.GetName(),
            )
        return found

    def _learned_of_case(
        self, images: Any, truth: Any, labels: tuple[set[int], set[int]]
    ) -> LearnedRecord:
        """The record of a single case; what raters and truth mark is added to the labels."""
        case = self._load(images)
        if case.votes.number_of_raters < 2:
            raise InputError("must have two raters or more, None for a missing one")
        consensus = ConsensusFilter().result_of(case)
        drawn = self._truth(truth, case)
        for known, own in zip(labels, (consensus.labels, drawn), strict=True):
            known.update(label for label in own if label)
        tables = LearnedCase(case_tables(case, consensus, drawn))
        return LearnedRecord.of(case_raters(case), [tables])

    def _truth(self, image: Any, case: FusionCase) -> dict[int, Mask]:
        """By label where the truth marks it, inside the mask."""
        array = convert.load_one(
            image,
            case.loaded,
            owner=self.GetName(),
            parameter="truth",
            **self._tolerances(),
            **self._of_labels(),
        )
        labels = LabelStack.multilabel([array], owner=f"{self.GetName()}: truth").labels
        patterns = case.patterns
        every = np.ones(len(patterns.counts), bool)
        inside = patterns.expand(every, outside=False)
        return {int(label): np.asarray((array == label) & inside) for label in labels}

    def _united(self, records: Sequence[LearnedRecord]) -> LearnedRecord:
        """One record with the cases of all."""
        number = sum(len(record.cases) for record in records)
        if number < FEWEST_CASES:
            raise InputError(
                f"Fit needs at least {FEWEST_CASES} cases, got {number}; with fewer use "
                "ConsensusFilter",
                owner=self.GetName(),
            )
        for other in records:
            if why := records[0].unlike(other):
                raise InputError(f"records must be alike: {why}", owner=self.GetName())
        named = next((record for record in records if record.raters), records[0])
        united = replace(named, cases=tuple(case for one in records for case in one.cases))
        if (twice := case_twice(united.cases)) is not None:
            raise InputError(
                f"case {twice[1]} is case {twice[0]} again, votes and truth; a case counts once, "
                "leave it out",
                owner=self.GetName(),
            )
        return united

    def _opened(self, record: Any) -> LearnedRecord:
        if isinstance(record, LearnedRecord):
            return record
        return LearnedRecord.from_json(text_of(record), str(record))

    # -- what was learned ---------------------------------------------------------------------

    def GetExplanation(self) -> str:
        """What was learned of the raters, and whether it pays, in words."""
        return self._known_record().meaning

    def GetHeldOutGain(self) -> dict[int, Gain]:
        """By label the gain in Dice over Consensus on cases left out, of the best that was found.

        With its 95 % interval; it is used where that is above 0.
        """
        return {rule.label: rule.gain for rule in self._known_record().rules}

    def GetRaterWeights(self) -> dict[int, tuple[RaterWeight, ...]]:
        """By label how far each rater is believed, with intervals from leaving cases out."""
        record = self._known_record()
        return {
            rule.label: tuple(
                RaterWeight(name, float(weight), float(low), float(high))
                for name, weight, (low, high) in zip(
                    record.rater_names,
                    rule.rule.weights[: record.rater_count],
                    rule.intervals(),
                    strict=True,
                )
            )
            for rule in record.rules
        }

    def GetCalibrationErrors(self) -> dict[int, float]:
        """By label how far probabilities are from frequencies on cases left out, on average."""
        return {rule.label: rule.calibration_error for rule in self._known_record().rules}

    # -- fusing -------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._known_record()

    def _fuse(self, case: FusionCase) -> Fused[LearnedEstimate]:
        record = self._known_record()
        if why := record.refuses(case_raters(case)):
            raise InputError(f"{why}; fit again for these", owner=self.GetName())
        with stage(0.0, 0.8):
            consensus = ConsensusFilter().result_of(case)
        decided = Decided(consensus.fusion, 0)
        if record.adopted:
            with stage(0.8, 1.0):
                decided = learned_fusion(case, consensus, record.adopted, record.is_soft)
        labels = tuple(rule.label for rule in record.adopted)
        estimate = LearnedEstimate(labels, decided.changed_voxels)
        return Fused(decided.fusion, estimate, {"consensus": consensus.detached()})

    def GetConsensusResult(self) -> FusionResult[Any]:
        """What Consensus made in the last Execute."""
        result: FusionResult[Any] = self.fused.extras["consensus"]
        return result


def case_raters(case: FusionCase) -> KnownRaters:
    """What is known of a case's raters."""
    return KnownRaters(case.votes.number_of_raters, case.names, case.opinions is not None)
