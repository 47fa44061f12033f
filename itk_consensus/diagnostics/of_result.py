"""What is thought of a result: made once, whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from itk_consensus.diagnostics.diagnose import diagnose
from itk_consensus.diagnostics.findings import UNKNOWN, Diagnostics, JudgedFusion
from itk_consensus.diagnostics.of_readers import diagnose_readers
from itk_consensus.diagnostics.reader_limits import ReaderLimits
from itk_consensus.diagnostics.readers import Readers
from itk_consensus.fusion.coherence.shared_consensus import SharedConsensus, shared_consensus
from itk_consensus.votes.estimates import Told
from itk_consensus.votes.fusions import Fusion

if TYPE_CHECKING:
    from itk_consensus.filters.fusion_result import FusionResult


def diagnose_result(
    result: FusionResult[Any], full: bool = True, limits: ReaderLimits | None = None
) -> Diagnostics:
    """Checks of a result, each with its number.

    Parameters
    ----------
    full : bool
        Whether to compare it with Consensus, too, which takes as long as fusing by it.
    limits : ReaderLimits, optional
        Other limits than usual for what is said of the raters.
    """
    limits = limits or ReaderLimits()
    memo, case = result.memo, result.case
    of_fusion = memo.made(("fusion", full), lambda: diagnose(_judged(result, full)))
    readers = Readers(case.facts, case.spacing, limits)
    of_readers = memo.made(("readers", limits), lambda: tuple(diagnose_readers(readers)))
    return Diagnostics((*of_fusion.findings, *of_readers))


def consensus_of(result: FusionResult[Any]) -> SharedConsensus:
    """What the raters of a result share, whichever method made it."""
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
        told=told,
        consensus_dice=dice,
        alternatives={name: dice_by(make) for name, make in told.alternatives.items()},
        parameters=frozenset(result.made_by.parameters),
        looks_at_neighbours=not fusion.follows_votes,
        copies=case.facts.copies,
    )
