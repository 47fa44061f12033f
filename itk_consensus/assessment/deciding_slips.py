"""Slips that decide a result: whoever swapped labels or sides and carried the vote with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.readers import Readers
from itk_consensus.fusing.fusion_result import FusionResult

#: Slips after which a mask says something else than it was drawn for.
SWAPS = ("swapped labels", "swapped structures", "mirrored mask")

#: So much Dice farther from the vote of the others than from everybody's, a result follows slips.
DECIDES = 0.05


def readers_who_decide(
    findings: Sequence[Finding], result: FusionResult[Any], readers: Readers
) -> tuple[Finding, ...]:
    """The findings; swaps are no longer to be looked at, but decide, where the result is theirs.

    That is so if half of the raters swapped, or if the result is farther from what the others
    would have voted than from what everybody did.
    """
    swapped = sorted({rater for one in findings if one.rule in SWAPS for rater in one.who})
    if not swapped:
        return tuple(findings)
    decides = 2 * len(swapped) >= len(readers.annotating) or _follows(result, swapped)
    severity = "do not use" if decides else "look"
    return tuple(
        replace(one, severity=severity) if one.rule in SWAPS and one.who else one  # type: ignore[arg-type]
        for one in findings
    )


def _follows(result: FusionResult[Any], swapped: Sequence[int]) -> bool:
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
        # A tie goes to what the result has: nobody can say that it is wrong.
        votes[every, own] += 0.5
        return _dice(own, votes.argmax(axis=1), table.counts, table.labels)

    return dice_to_vote(range(patterns.number_of_raters)) - dice_to_vote(others) > DECIDES


def _dice(
    own: NDArray[Any], other: NDArray[Any], counts: NDArray[np.int64], labels: NDArray[Any]
) -> float:
    """Of all labels but background together."""
    drawn = np.append(labels != 0, False)
    same = counts[(own == other) & drawn[own]].sum()
    both = counts[drawn[own]].sum() + counts[drawn[other]].sum()
    return float(2 * same / both) if both else 1.0
