"""LearnedFusionFilter: Consensus with rater weights learned from cases with a known truth."""

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
from itk_consensus.fusing.paired_gain import Gain
from itk_consensus.fusing.probability_inputs import SoftInputsMixin
from itk_consensus.images import convert
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.storage.files import PathLike
from itk_consensus.votes.label_stack import LabelStack

_MISSING = object()


@dataclass(frozen=True)
class LearnedEstimate(Estimate):
    """Changes made by the learned rules."""

    learned_labels: tuple[int, ...]  #: Labels with a rule
    changed_voxels: int


class RaterWeight(NamedTuple):
    """Weight of a rater's vote on a label, in log-odds, with a 95 % interval."""

    rater: str
    weight: float
    low: float
    high: float


class LearnedFusionFilter(RecordKeeper[LearnedRecord], SoftInputsMixin):
    """Consensus with rater weights learned from cases with a known truth, if they help.

    Fit learns from at least five cases, label by label, how reliable each rater is at voxels on
    which raters disagree. Execute assigns the most probable label to those voxels; all other voxels
    keep the label of Consensus, as do all voxels if cross-validation shows no gain. Raters must be
    the same people or networks, in the same order.

    >>> learned = LearnedFusionFilter()
    >>> learned.Fit(cases, truths)
    >>> print(learned.GetExplanation())
    >>> fused = learned.Execute(images)
    """

    record_class = LearnedRecord
    learns_by = "Fit"
    chunking_unsupported_reason = (
        "its learned rules read the probabilities of Consensus at all disputed voxels at once"
    )
    bytes_per_voxel = 28
    method = "learned"
    summary = (
        "Assumes that raters are the same as in cases with a truth. Use with at least ten such "
        "cases: it reports whether learning helps, and equals Consensus if not."
    )
    laws = ConsensusFilter.laws

    LearnedLabels = Measurement(
        tuple[int, ...], "Labels with a learned rule.", "estimate.learned_labels"
    )
    ChangedVoxels = Measurement(
        int, "Number of voxels that differ from Consensus.", "estimate.changed_voxels"
    )

    # -- learning -----------------------------------------------------------------------------

    def Fit(
        self,
        cases: Iterable[Any],
        truths: Iterable[Any],
        *,
        records: Sequence[LearnedRecord | PathLike] = (),
    ) -> None:
        """Learn from cases whose true segmentation is known.

        Parameters
        ----------
        cases : iterable of lists of images
            The raters' images of each case, in the same order, with None for a missing rater; or
            dicts keyed by rater name.
        truths : iterable of label images
            The true segmentations, with the same label values.
        records : sequence of LearnedRecord or paths, optional
            Other records of the same raters, whose cases are added to the given ones.
        """
        with self._running():
            self._record = None
            known = [self._open(record) for record in records]
            self._record = self._unite([*known, *self._learn_cases(cases, truths)])
            self._tell(self._record.doubts())

    def _learn_cases(self, cases: Iterable[Any], truths: Iterable[Any]) -> list[LearnedRecord]:
        """Create a record of each case; only one case is in memory at a time."""
        # The number of cases of a generator is unknown, so no progress is reported.
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
                with stage(min(1.0, number * part), min(1.0, (number + 1) * part)):
                    found.append(self._learn_case(images, truth, labels))
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

    def _learn_case(
        self, images: Any, truth: Any, labels: tuple[set[int], set[int]]
    ) -> LearnedRecord:
        """Make the record of one case, and add the labels of raters and truth to `labels`."""
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
        """Return the mask of each label of the true segmentation, inside MaskImage."""
        array = convert.load_one(
            image,
            case.loaded,
            owner=self.GetName(),
            parameter="truth",
            **self._tolerances(),
            **self._label_options(),
        )
        labels = LabelStack.multilabel([array], owner=f"{self.GetName()}: truth").labels
        patterns = case.patterns
        every = np.ones(len(patterns.counts), bool)
        inside = patterns.expand(every, outside=False)
        return {int(label): np.asarray((array == label) & inside) for label in labels}

    def _unite(self, records: Sequence[LearnedRecord]) -> LearnedRecord:
        """Merge records into one that contains all their cases."""
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
                f"case {twice[1]} is a copy of case {twice[0]}, votes and truth; give each case "
                "once",
                owner=self.GetName(),
            )
        return united

    def _open(self, record: Any) -> LearnedRecord:
        if isinstance(record, LearnedRecord):
            return record
        return LearnedRecord.from_json(text_of(record), str(record))

    # -- what was learned ---------------------------------------------------------------------

    def GetExplanation(self) -> str:
        """Describe in words the learned rules and whether they help."""
        return self._known_record().meaning

    def GetHeldOutGain(self) -> dict[int, Gain]:
        """Return each label's cross-validated gain in Dice over Consensus for the best rule.

        The gain has a 95 % interval; a rule is used only if this interval is above 0.
        """
        return {rule.label: rule.gain for rule in self._known_record().rules}

    def GetRaterWeights(self) -> dict[int, tuple[RaterWeight, ...]]:
        """Return the raters' weights for each label, with jackknife intervals over cases."""
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
        """Return each label's mean cross-validated difference between probabilities and
        frequencies.
        """
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
        return Fused(decided.fusion, estimate, {"consensus": consensus.detach()})

    def GetConsensusResult(self) -> FusionResult[Any]:
        """Return the result of Consensus in the last Execute."""
        result: FusionResult[Any] = self.fused.extras["consensus"]
        return result


def case_raters(case: FusionCase) -> KnownRaters:
    """Return the number and names of a case's raters, and whether they gave probabilities."""
    return KnownRaters(case.votes.number_of_raters, case.names, case.opinions is not None)
