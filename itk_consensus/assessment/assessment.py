"""Assess a fusion result: agreement between its raters, and whether the result can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import AgreementSettings, study_agreement
from itk_consensus.assessment.causes import attach_causes, soften_poor_agreement
from itk_consensus.assessment.counted_slips import counted_slips
from itk_consensus.assessment.deciding_slips import readers_who_decide, readers_who_outvote
from itk_consensus.assessment.diagnose import diagnose
from itk_consensus.assessment.directions import attach_directions
from itk_consensus.assessment.findings import Diagnostics, Finding
from itk_consensus.assessment.judged_fusion import UNKNOWN, JudgedFusion
from itk_consensus.assessment.of_readers import diagnose_readers
from itk_consensus.assessment.places import attach_places
from itk_consensus.assessment.readers import Readers
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.fusing.agreement_limits import AgreementLimits
from itk_consensus.fusing.estimates import AnswerFacts
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.near_copies import MOST_RATERS
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.label_stack import LabelStack

if TYPE_CHECKING:
    from itk_consensus.calibration.samples import VolumeInterval
    from itk_consensus.methods.consensus.shared_consensus import SharedConsensus

#: Name of the result's column in tables that compare it with the raters.
CONSENSUS = "consensus"


@dataclass(frozen=True)
class Assessment:
    """Findings, verdict and agreement of a result, computed lazily and cached with the result."""

    result: FusionResult[Any]
    limits: AgreementLimits
    #: Findings about the raters from other sources, e.g. the other structures of a plan.
    known: tuple[Finding, ...] = ()

    def findings(self, full: bool = True) -> Diagnostics:
        """Run all checks of the fusion and of its raters.

        Parameters
        ----------
        full : bool
            Whether to also compare the result with Consensus, which takes as long as running it.
        """
        memo, case = self.result.memo, self.result.case
        found = memo.get_or_make(
            ("findings", full, self.limits, self._key), lambda: self._findings(full)
        )
        return found.named(case.names)

    def _findings(self, full: bool) -> Diagnostics:
        case = self.result.case
        of_fusion = tuple(diagnose(_judged_fusion(self.result, full)))
        readers = Readers(case.facts, case.spacing, self.limits)
        of_raters = self.result.memo.get_or_make(
            ("raters", self.limits, self._key),
            lambda: readers_who_decide(
                (*self.known, *diagnose_readers(readers, self.known)), self.result, readers
            ),
        )
        outvoting = readers_who_outvote(self.result, readers)
        counted = counted_slips(of_raters, self.result)
        every = soften_poor_agreement((*of_fusion, *counted, *outvoting, *of_raters), readers)
        every = attach_causes(every, readers)
        return Diagnostics(attach_places(attach_directions(every, self.result.like), self.result))

    @property
    def _key(self) -> str:
        """Return a cache key for the known findings, whose facts may not be hashable."""
        return repr(self.known)

    def verdict(self, full: bool = True) -> Verdict:
        """Return the verdict on whether the result can be used."""
        return Verdict.of(self.findings(full))

    def verdicts(self, full: bool = True) -> dict[int, Verdict]:
        """Return a verdict for each foreground label, from the findings on it and on all labels."""
        found = self.findings(full)
        return {k: Verdict.of(found.of_label(k)) for k in self.result.labels if k != 0}

    def agreement(
        self, settings: AgreementSettings | None = None, *, with_consensus: bool = True
    ) -> AgreementResult:
        """Return the agreement of raters with each other and with the result (last column)."""
        result, settings = self.result, settings or AgreementSettings()
        names = [*result.rater_names, CONSENSUS] if with_consensus else [*result.rater_names]
        found = result.memo.get_or_make(
            ("agreement", settings, with_consensus),
            lambda: study_agreement(
                _add_consensus(result, settings.surfaces)
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
        """Expected volume of another rater's segmentation with its 90 % interval, by label."""
        # Imported here, since only pages need it.
        from itk_consensus.calibration.sample_segmentations import volume_intervals

        return self.result.memo.get_or_make("volumes", lambda: volume_intervals(self.result))


def assess(
    result: FusionResult[Any],
    limits: AgreementLimits | None = None,
    known: Sequence[Finding] = (),
) -> Assessment:
    """Prepare the assessment of a result without computing anything yet.

    Parameters
    ----------
    result : FusionResult
        The result to assess.
    limits : AgreementLimits, optional
        Thresholds for the findings about raters; by default those used when the result was
        computed.
    known : sequence of Finding
        Findings about the raters that cannot be derived from the result alone.
    """
    if limits is None:
        limits = AgreementLimits(**(result.made_by.parameters.get("AgreementLimits") or {}))
    return Assessment(result, limits, tuple(known))


def consensus_of(result: FusionResult[Any]) -> SharedConsensus:
    """Return the consensus of a result's raters, regardless of the method of the result."""
    # imported lazily, since it is slow
    from itk_consensus.methods.consensus.shared_consensus import shared_consensus

    case = result.case
    return result.memo.get_or_make(
        "shared consensus", lambda: shared_consensus(case.patterns, case.spacing, facts=case.facts)
    )


def _judged_fusion(result: FusionResult[Any], full: bool) -> JudgedFusion:
    case, fusion = result.case, result.fusion
    patterns = case.patterns
    full = full and patterns.codes is not None  # volumes fused in chunks have no voxels in memory
    answer = AnswerFacts() if result.estimate is None else result.estimate.answer_facts(patterns)
    if patterns.outside_code is not None:
        # With a MaskImage, the background around it is irrelevant, so there is no refit on a larger
        # one.
        answer = replace(answer, refit=None)

    def dice_of(other: Fusion) -> float:
        return consensus_of(result).overlap(other.volume(), patterns.labels)

    def dice_by(make: Callable[[], Fusion]) -> Callable[[], float]:
        return lambda: dice_of(make())

    dice: float | None = None
    agreement = UNKNOWN
    if full and not answer.is_shared and patterns.number_of_raters <= MOST_RATERS:
        agreement = Readers(case.facts, case.spacing).agreement
    if not answer.is_shared:
        dice = dice_of(fusion) if full else UNKNOWN
    return JudgedFusion.of(
        fusion,
        patterns,
        spacing=case.spacing,
        answer_facts=answer,
        consensus_dice=dice,
        agreement=agreement,
        alternatives={name: dice_by(make) for name, make in answer.alternatives.items()},
        parameters=frozenset(result.made_by.parameters),
        looks_at_neighbours=not fusion.follows_votes,
        copies=case.facts.copies,
    )


def _add_consensus(result: FusionResult[Any], surfaces: bool) -> DecisionPatterns:
    """Append the result to the raters' votes as one more rater.

    This works on the pattern table if possible; surfaces require label maps.
    """
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
