"""Find readers who determine a result, by swapped labels or by outvoting the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import SWAPS, Finding
from itk_consensus.assessment.reader_slips import find_suspects
from itk_consensus.assessment.readers import Readers
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.near_copies import MOST_RATERS
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.ties import UNDECIDED

#: A result is considered to follow swapped raters if its Dice with the full vote exceeds its Dice
#: with the vote without them by more than this.
DECIDES = 0.05

#: A reader is reported if the result follows this reader against most others in at least this share
#: of the structure. Chosen on seeds 1000 to 1023 of
#: `examples/benchmarks/findings/verdict_evidence.py`.
OUTVOTED = 0.07

#: Maximum number of masks that are examined, starting with those farthest from the others.
MOST_TRIED = 12

#: Minimum number of readers, since neither of two readers can outvote the other.
FEWEST_TO_OUTVOTE = 3


def readers_who_decide(
    findings: Sequence[Finding], result: FusionResult[Any], readers: Readers
) -> tuple[Finding, ...]:
    """Raise the severity of swaps from "look" to "do not use" if the result follows them.

    A result follows swapped raters if they are at least half of all raters, or if it is closer to
    the full vote than to the vote without them.
    """
    swapped = sorted({rater for one in findings if one.rule in SWAPS for rater in one.who})
    if not swapped:
        return tuple(findings)
    decides = 2 * len(swapped) >= len(readers.annotating) or _follows_swaps(result, swapped)
    severity = "do not use" if decides else "look"
    return tuple(
        replace(one, severity=severity) if one.rule in SWAPS and one.who else one  # type: ignore[arg-type]
        for one in findings
    )


def readers_who_outvote(result: FusionResult[Any], readers: Readers) -> Iterator[Finding]:
    """Find outlying readers whom the result follows although most other readers disagree."""
    rule = "one reader decides"
    if (
        len(readers.annotating) < FEWEST_TO_OUTVOTE
        or readers.patterns.number_of_raters > MOST_RATERS
    ):
        return
    table, _, decision = result.fusion.as_table(readers.patterns)[:3]
    found = []
    for one in find_suspects(readers)[:MOST_TRIED]:
        share = _outvoted_share(table, decision, one.label, one.rater)
        if readers.drawers[one.label] >= FEWEST_TO_OUTVOTE and share >= OUTVOTED:
            facts = {"share": share, "own": one.dice, "among": one.others_dice}
            who, label = (one.rater,), readers.label(one.label)
            found.append(Finding(rule, share, "look", who, label, facts))
    yield from found or [Finding(rule, 0.0, None, kind="fine")]


def _outvoted_share(
    table: DecisionPatterns, decision: NDArray[Any], label: int, rater: int
) -> float:
    """Return the share of a label's voxels at which the result follows one rater against most.

    The denominator is the union of the result and the majority of the others. Undecided voxels
    follow no rater; voxels at which the others are tied are not counted.
    """
    own = decision == label
    said, present = table.patterns == label, table.present
    others = said.sum(axis=1) - said[:, rater]
    annotated = present.sum(axis=1) - present[:, rater]
    by_most, by_few = 2 * others > annotated, 2 * others < annotated
    follows = (own == said[:, rater]) & present[:, rater] & (decision != UNDECIDED)
    follows &= np.where(own, by_few, by_most)
    follows &= 2 * said.sum(axis=1) != present.sum(axis=1)
    return float(table.counts[follows].sum() / max(table.counts[own | by_most].sum(), 1))


def _follows_swaps(result: FusionResult[Any], swapped: Sequence[int]) -> bool:
    """Return whether a result agrees better with the full vote than with the vote of
    unswapped raters.
    """
    patterns = result.case.patterns
    others = [j for j in range(patterns.number_of_raters) if j not in swapped]
    table, _, decision = result.fusion.as_table(patterns)[:3]
    labels = table.number_of_labels
    own = np.where(decision < 0, labels, decision)

    def dice_to_vote(raters: Sequence[int]) -> float:
        votes = np.zeros((len(own), labels + 1))
        every = np.arange(len(own))
        for rater in raters:
            votes[every, table.patterns[:, rater]] += 1
        votes[:, labels] = 0
        # Resolve ties in favour of the result's label, so that they never count against it.
        votes[every, own] += 0.5
        return _dice(own, votes.argmax(axis=1), table.counts, table.labels)

    return dice_to_vote(range(patterns.number_of_raters)) - dice_to_vote(others) > DECIDES


def _dice(
    own: NDArray[Any], other: NDArray[Any], counts: NDArray[np.int64], labels: NDArray[Any]
) -> float:
    """Return the Dice computed over all foreground labels together."""
    drawn = np.append(labels != 0, False)
    same = counts[(own == other) & drawn[own]].sum()
    both = counts[drawn[own]].sum() + counts[drawn[other]].sum()
    return float(2 * same / both) if both else 1.0
