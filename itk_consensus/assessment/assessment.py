"""What is thought of a result: how far its raters agree, and whether it can be believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import AgreementSettings, study_agreement
from itk_consensus.assessment.causes import milder, with_causes
from itk_consensus.assessment.deciding_slips import readers_who_decide
from itk_consensus.assessment.diagnose import diagnose
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.assessment.judged_fusion import UNKNOWN, JudgedFusion
from itk_consensus.assessment.of_readers import diagnose_readers
from itk_consensus.assessment.places import with_places
from itk_consensus.assessment.readers import Readers
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.fusing.estimates import Told
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.reader_limits import ReaderLimits
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.label_stack import LabelStack

if TYPE_CHECKING:
    from itk_consensus.calibration.samples import VolumeInterval
    from itk_consensus.methods.consensus.shared_consensus import SharedConsensus

#: What the column of the result is called where raters are compared with it.
CONSENSUS = "consensus"


@dataclass(frozen=True)
class Assessment:
    """The parts of it, each made when somebody asks, and once for all who do."""

    result: FusionResult[Any]
    limits: ReaderLimits
    #: What is known of the raters from elsewhere: of structures of one plan, from the others.
    known: tuple[Finding, ...] = ()

    def findings(self, full: bool = True) -> Diagnostics:
        """Checks of the fusion and of its raters, each with its number.

        Parameters
        ----------
        full : bool
            Whether to compare the result with Consensus, too, which takes as long as fusing by it.
        """
        memo, case = self.result.memo, self.result.case
        found = memo.made(("findings", full, self.limits, self._key), lambda: self._findings(full))
        return found.named(case.names)

    def _findings(self, full: bool) -> Diagnostics:
        case = self.result.case
        of_fusion = tuple(diagnose(_judged(self.result, full)))
        readers = Readers(case.facts, case.spacing, self.limits)
        of_raters = self.result.memo.made(
            ("raters", self.limits, self._key),
            lambda: readers_who_decide(
                (*self.known, *diagnose_readers(readers)), self.result, readers
            ),
        )
        every = with_causes(milder((*of_fusion, *of_raters), readers), readers)
        return Diagnostics(with_places(every, self.result))

    @property
    def _key(self) -> str:
        """Findings hold facts of any kind, which no dictionary takes as a key."""
        return repr(self.known)

    def verdict(self, full: bool = True) -> Verdict:
        """Whether the result may be used."""
        return Verdict.of(self.findings(full))

    def verdicts(self, full: bool = True) -> dict[int, Verdict]:
        """The same for each label but background, from what is said about it and about all."""
        found = self.findings(full)
        return {k: Verdict.of(found.of_label(k)) for k in self.result.labels if k != 0}

    def agreement(
        self, settings: AgreementSettings | None = None, *, with_consensus: bool = True
    ) -> AgreementResult:
        """How raters agree with each other and, as the last column, with the result."""
        result, settings = self.result, settings or AgreementSettings()
        names = [*result.rater_names, CONSENSUS] if with_consensus else [*result.rater_names]
        found = result.memo.made(
            ("agreement", settings, with_consensus),
            lambda: study_agreement(
                _with_consensus(result, settings.surfaces)
                if with_consensus
                else result.case.patterns,
                result.case.spacing,
                names,
                settings,
                reference=CONSENSUS if with_consensus else None,
            ),
        )
        return replace(found, raters=tuple(names))

    @property
    def volumes(self) -> dict[int, VolumeInterval]:
        """By label the volume that another rater is expected to draw, with its interval of 90 %."""
        from itk_consensus.calibration.sample_segmentations import volume_intervals  # for pages

        return self.result.memo.made("volumes", lambda: volume_intervals(self.result))


def assess(
    result: FusionResult[Any],
    limits: ReaderLimits | None = None,
    known: Sequence[Finding] = (),
) -> Assessment:
    """What is thought of a result; `limits` are other ones than usual for what is said of raters.

    Nothing is computed yet. `known` are findings about its raters that the result cannot tell.
    """
    if limits is None:
        limits = ReaderLimits(**(result.made_by.parameters.get("AgreementLimits") or {}))
    return Assessment(result, limits, tuple(known))


def consensus_of(result: FusionResult[Any]) -> SharedConsensus:
    """What the raters of a result share, whichever method made it."""
    from itk_consensus.methods.consensus.shared_consensus import shared_consensus  # where asked

    case = result.case
    return result.memo.made(
        "shared consensus", lambda: shared_consensus(case.patterns, case.spacing, facts=case.facts)
    )


def _judged(result: FusionResult[Any], full: bool) -> JudgedFusion:
    case, fusion = result.case, result.fusion
    patterns = case.patterns
    told = Told() if result.estimate is None else result.estimate.told(patterns)
    if patterns.outside_code is not None:
        told = replace(told, refit=None)  # a mask fixes what is analysed, whatever lies around it

    def dice_of(other: Fusion) -> float:
        return consensus_of(result).overlap(other.volume(), patterns.labels)

    def dice_by(make: Callable[[], Fusion]) -> Callable[[], float]:
        return lambda: dice_of(make())

    dice: float | None = None
    if not told.is_shared:
        dice = dice_of(fusion) if full else UNKNOWN
    return JudgedFusion.of(
        fusion,
        patterns,
        spacing=case.spacing,
        told=told,
        consensus_dice=dice,
        alternatives={name: dice_by(make) for name, make in told.alternatives.items()},
        parameters=frozenset(result.made_by.parameters),
        looks_at_neighbours=not fusion.follows_votes,
        copies=case.facts.copies,
    )


def _with_consensus(result: FusionResult[Any], surfaces: bool) -> DecisionPatterns:
    """The raters' votes and, as one more rater's, the result; voxel by voxel only for surfaces."""
    patterns = result.case.patterns
    if not surfaces and 0 in result.labels:
        table = result.fusion.as_table(patterns)
        settled = np.where(table.decision < 0, result.labels.index(0), table.decision)
        said = np.column_stack([table.patterns.patterns, settled]).astype(patterns.patterns.dtype)
        occurs = np.zeros(len(result.labels) + 1, bool)
        occurs[said] = True
        if occurs[:-1].all():
            return DecisionPatterns(said, table.patterns.counts, patterns.labels)
    missing = max(result.labels) + 1
    maps = result.rater_maps(missing)
    consensus = result.settled_labels().astype(maps[0].dtype)
    inside = None
    if patterns.outside_code is not None:
        inside = np.asarray(patterns.codes != patterns.outside_code)
    stack = LabelStack.multilabel([*maps, consensus], missing_label=missing, mask=inside)
    return DecisionPatterns.from_stack(stack)
