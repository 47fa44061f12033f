"""Link findings to their causes, so that reports can list consequences under their causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from itk_consensus.assessment.findings import GRADED_RULES, SWAPS, Finding
from itk_consensus.assessment.readers import Readers
from itk_consensus.fusing.agreement_limits import grade_agreement

#: Rules about one reader's file, the most specific first; each may explain those that follow it.
SLIPS = (
    "no segmentation",
    "swapped labels",
    "swapped structures",
    "empty mask",
    "mirrored mask",
    "shifted mask",
    "apart",
    "volume apart",
    "gaps between slices",
    "one reader decides",
    "deviating rater",
    "lone label",
    "rater below chance",
    "rater under one half",
    "implausible performance",
)

#: Slips that may explain poor agreement.
_LOWERS_AGREEMENT = SLIPS[: SLIPS.index("lone label")]

#: Rules that measure the distance between the result and the readers' masks.
_FAR = ("empty result", "label switching", "far from the consensus", "far from the vote",
        "volume against vote", "beyond the raters")  # fmt: skip


#: Checks of the position of masks. They do not count as passed if a mask is known to be misplaced.
_PLACE_CHECKS = ("apart", "mirrored mask", "shifted mask")
_WRONG_PLACE = (*SWAPS, "no segmentation", "shifted mask")

#: Dice of result and vote above which they differ only by specks of noise.
MOSTLY_SIGNAL = 0.8


def attach_causes(findings: Sequence[Finding], readers: Readers) -> tuple[Finding, ...]:
    """Set `because` of every finding to the rule of the finding that explains it, if any.

    This includes checks that passed only because a mask is already known to be misplaced.
    """
    ordered = sorted(findings, key=_order)
    causes: list[Finding] = []
    named: dict[int, Finding] = {}
    misplaced = next((one for one in ordered if one.concern and one.rule in _WRONG_PLACE), None)
    for one in ordered:
        if one.severity is None:
            if misplaced is not None and one.rule in _PLACE_CHECKS:
                named[id(one)] = replace(one, because=misplaced.rule)
            continue
        cause = next((other for other in causes if _explains(other, one, readers)), None)
        if cause is None:
            causes.append(one)
        else:
            named[id(one)] = replace(one, because=cause.rule)
    return tuple(named.get(id(one), one) for one in findings)


def soften_poor_agreement(findings: Sequence[Finding], readers: Readers) -> tuple[Finding, ...]:
    """Downgrade poor agreement to a note if it does not affect the result.

    This is the case if readers differ by specks of noise that the result does not contain, and for
    labels that were drawn by fewer than half of the readers and are omitted from the result.
    """
    # Below MOSTLY_SIGNAL the vote is mostly noise, and poor agreement remains a concern.
    noise = any(
        one.rule == "far from the vote"
        and one.kind == "noise"
        and (one.value or 0) >= MOSTLY_SIGNAL
        for one in findings
    )
    values = readers.patterns.labels.tolist()
    absent = {
        int(values[k])
        for k in np.flatnonzero(readers.drawers)
        if 2 * readers.drawers[k] < len(readers.annotating)
    }
    only = absent if (readers.drawers > 0).sum() == 1 else set()

    def is_mild(one: Finding) -> bool:
        is_absent = one.label in absent or (one.label is None and bool(only))
        return one.rule in GRADED_RULES and one.severity == "look" and (noise or is_absent)

    return tuple(replace(one, severity="note") if is_mild(one) else one for one in findings)


def _order(one: Finding) -> tuple[int, int]:
    """Return a sort key: slips in the order of `SLIPS`, then the other findings by severity."""
    slip = SLIPS.index(one.rule) if one.rule in SLIPS else len(SLIPS)
    return (slip, -one.grade)


def _explains(cause: Finding, one: Finding, readers: Readers) -> bool:
    """Return whether one finding is the cause of another."""
    same_label = None in (cause.label, one.label) or cause.label == one.label
    if cause.rule == one.rule:
        # The same slip, or the same grade of agreement, is reported only once for several labels.
        return cause.who == one.who if cause.rule in SLIPS else cause.kind == one.kind != "pair"
    if cause.rule in SLIPS and one.rule in SLIPS:
        return bool(set(cause.who) & set(one.who)) and same_label
    if one.rule in (*GRADED_RULES, "two camps"):
        if cause.rule in (*GRADED_RULES, "two camps", "apart"):
            return cause.grade >= one.grade and same_label
        return cause.rule in _LOWERS_AGREEMENT and same_label and _lowers(cause, one, readers)
    if one.rule in _FAR and cause.rule in _LOWERS_AGREEMENT:
        # A slip can shift the vote, but cannot explain a finding more severe than itself.
        return cause.grade >= max(one.grade, 2) and same_label
    explains = {"presence": ("empty mask", "empty result"), **dict.fromkeys(_FAR, _FAR)}
    return cause.rule in explains.get(one.rule, ()) and same_label


def _lowers(cause: Finding, one: Finding, readers: Readers) -> bool:
    """Return whether agreement among the other readers is better than with the readers who
    slipped.
    """
    limits, values = readers.limits, readers.patterns.labels.tolist()
    others = [rater for rater in readers.annotating if rater not in cause.who]
    labels = readers.shared_labels if one.label is None else [values.index(one.label)]
    dice = readers.dice[labels]
    left = dice[:, others][:, :, others]
    known = np.isfinite(left).any(axis=(1, 2))
    if not known.any():
        return True  # no pair of other readers is available for comparison
    before = np.nanmean(dice[known], axis=(1, 2)).min()
    after = np.nanmean(left[known], axis=(1, 2)).min()
    grades = ["poor", "moderate", "good"]
    grade = [
        grades.index(grade_agreement(x, limits.good_dice, limits.poor_dice))
        for x in (before, after)
    ]
    return bool(grade[1] > grade[0] or (grade[1] == 2 and after > before))
