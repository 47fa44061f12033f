"""Which finding explains which, so that a cause is told once and the rest below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from itk_consensus.assessment.findings import GRADED_RULES, Finding
from itk_consensus.assessment.readers import Readers
from itk_consensus.fusing.reader_limits import graded

#: What one reader's file may be, the plainest reason first: each explains those after it.
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
    "deviating rater",
    "lone label",
    "rater below chance",
    "rater under one half",
    "implausible performance",
)

#: Slips that explain why readers agree less.
_LOWERS_AGREEMENT = SLIPS[: SLIPS.index("lone label")]

#: Each says in its own way how far the result is from what readers drew.
_FAR = ("empty result", "label switching", "far from the consensus", "far from the vote",
        "volume against vote", "beyond the raters")  # fmt: skip


#: Dice to the vote above which specks of noise are all that is wrong with it.
MOSTLY_SIGNAL = 0.8


def with_causes(findings: Sequence[Finding], readers: Readers) -> tuple[Finding, ...]:
    """The findings, each of which names the rule of the one that explains it."""
    ordered = sorted(findings, key=_order)
    told: list[Finding] = []
    named: dict[int, Finding] = {}
    for one in ordered:
        if one.severity is None:
            continue
        cause = next((other for other in told if _explains(other, one, readers)), None)
        if cause is None:
            told.append(one)
        else:
            named[id(one)] = replace(one, because=cause.rule)
    return tuple(named.get(id(one), one) for one in findings)


def milder(findings: Sequence[Finding], readers: Readers) -> tuple[Finding, ...]:
    """The findings, where poor agreement is a note if it says nothing of the result.

    That is so if readers differ by specks of noise that the result does not have, and of labels
    that fewer than half of the readers drew and the result leaves out.
    """
    # Of a vote that is noise more than structure nobody can say what the structure is.
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
    """Slips before what they lead to; else the gravest first."""
    slip = SLIPS.index(one.rule) if one.rule in SLIPS else len(SLIPS)
    return (slip, -one.grade)


def _explains(cause: Finding, one: Finding, readers: Readers) -> bool:
    same_label = None in (cause.label, one.label) or cause.label == one.label
    if cause.rule == one.rule:
        # The same about another label, and of other pairs the same grade, is told once.
        return cause.who == one.who if cause.rule in SLIPS else cause.kind == one.kind != "pair"
    if cause.rule in SLIPS and one.rule in SLIPS:
        return bool(set(cause.who) & set(one.who)) and same_label
    if one.rule in (*GRADED_RULES, "two camps"):
        if cause.rule in (*GRADED_RULES, "two camps", "apart"):
            return cause.grade >= one.grade and same_label
        return cause.rule in _LOWERS_AGREEMENT and same_label and _lowers(cause, one, readers)
    if one.rule in _FAR and cause.rule in _LOWERS_AGREEMENT:
        # Who slipped moves the vote; a graver finding than the slip stands by itself.
        return cause.grade >= max(one.grade, 2) and same_label
    explains = {"presence": ("empty mask", "empty result"), **dict.fromkeys(_FAR, _FAR)}
    return cause.rule in explains.get(one.rule, ()) and same_label


def _lowers(cause: Finding, one: Finding, readers: Readers) -> bool:
    """Whether readers agree better without those of a slip."""
    limits, values = readers.limits, readers.patterns.labels.tolist()
    others = [rater for rater in readers.annotating if rater not in cause.who]
    labels = readers.shared_labels if one.label is None else [values.index(one.label)]
    dice = readers.dice[labels]
    left = dice[:, others][:, :, others]
    known = np.isfinite(left).any(axis=(1, 2))
    if not known.any():
        return True  # nobody else is left to disagree
    before = np.nanmean(dice[known], axis=(1, 2)).min()
    after = np.nanmean(left[known], axis=(1, 2)).min()
    grades = ["poor", "moderate", "good"]
    grade = [grades.index(graded(x, limits.good_dice, limits.poor_dice)) for x in (before, after)]
    return bool(grade[1] > grade[0] or (grade[1] == 2 and after > before))
