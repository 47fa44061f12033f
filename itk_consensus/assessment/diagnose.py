"""When not to trust a fused segmentation: named rules, each with its number.

Three grades: a note is a fact to know, "look" asks to look before use, and "do not use" means it.
``examples/benchmarks/findings/diagnostics_evidence.py`` prints how often they hit bad results and
how often they disturb good ones, and the thresholds below were chosen by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.assessment.judged_fusion import JudgedFusion
from itk_consensus.assessment.of_models import diagnose_model
from itk_consensus.fusing.near_copies import MOST_RATERS, same_masks
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.space.boxes import shown_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns

LOW_PREVALENCE = 0.10  # critical prevalence, section 4.3 of "When Does Consensus Beat Voting?"
VOLUME_RATIO = (0.4, 1.6)  # to the majority vote
#: Chosen by `examples/benchmarks/findings/verdict_evidence.py --choose` on seeds 1000 to 1007.
FAR_FROM_CONSENSUS = 0.95  # Dice to what the raters share; below, look before use ...
OTHER_VOLUME = 0.12  # ... if the volume also differs by more than this share from the vote's
FARTHEST_FROM_CONSENSUS = 0.75  # below, no good result was seen
FAR_FROM_VOTE = 0.8  # Dice; below, look, unless the vote is noise ...
OTHER_THAN_VOTE = 0.958  # ... or below this ...
VOLUME_OF_OTHER = 0.06  # ... if the volume differs by more than this share, too
COPIES_DECIDE = 0.95  # Dice to the vote below which counting copies once made the answer
BEYOND_SHARE = 0.05  # of the result, where the method looks at neighbours
FEWEST_FOR_VOTE = 3  # of two raters a vote is tied wherever they differ
SPECK = 0.1  # of the volume that who drew it has
SAME_ANSWER = 0.95  # Dice of two settings from which one is as good as the other
CLOSER = 0.01  # a setting is worth naming if it brings the result this much closer


def diagnose(judged: JudgedFusion) -> Iterator[Finding]:
    """Apply every rule that there are numbers for."""
    yield from near_identical_raters(judged)
    yield from presence(judged)
    yield from empty_result(judged)
    yield prevalence(judged)
    yield undecided(judged)
    yield volume_against_vote(judged)
    yield beyond_the_raters(judged)
    if judged.told.vote_dice is not None:
        yield far_from_the_vote(judged, judged.told.vote_dice)
    if judged.consensus_dice is not None:
        yield far_from_the_consensus(judged, judged.consensus_dice)
    yield from diagnose_model(judged)


def near_identical_raters(judged: JudgedFusion) -> Iterator[Finding]:
    """Raters who differ far less than their errors count several times, but are not independent."""
    rule, raters = "near-identical raters", judged.patterns.number_of_raters
    if raters > MOST_RATERS:
        yield Finding(rule, None, None, kind="many", facts={"number": raters})
        return
    groups = [tuple(group) for group in judged.copies]
    kind = "merged" if groups and judged.told.merges_copies else ""
    dice = judged.told.vote_dice
    facts, severity = {}, "note"
    if kind and dice is not None and dice < COPIES_DECIDE:
        kind, facts, severity = "decides", {"dice": dice}, "look"
    # With fewer witnesses than it takes to call it copying, the same mask twice is still a fact.
    groups = groups or [tuple(map(int, group)) for group in same_masks(judged.patterns)]
    number = sum(len(group) - 1 for group in groups)
    for group in groups:
        yield Finding(rule, number, severity, group, facts=facts, kind=kind)  # type: ignore[arg-type]
    if not groups:
        yield Finding(rule, 0, None, kind="fine")


def presence(judged: JudgedFusion) -> Iterator[Finding]:
    """Labels that many raters left empty: are they there at all?"""
    rule, table = "presence", judged.patterns
    annotated = table.present.any(axis=0)
    raters = int(annotated.sum())
    drew = _who_drew(judged)
    result = table.labels[np.unique(judged.decision[judged.decision >= 0])]
    drawn = (table.labels != 0) & (drew > 0)
    found = []
    for index in np.flatnonzero(drawn & (drew < raters)):
        has = bool(np.isin(table.labels[index], result))
        # Against at least half of the raters.
        against = 2 * drew[index] <= raters if has else 2 * drew[index] >= raters
        severity: Severity = "look" if against else "note"
        if 2 * drew[index] == raters and raters > 1:
            severity = "do not use"
        facts: dict[str, Any] = {"empty": raters - int(drew[index]), "number": raters}
        facts["has"] = "has" if has else "does not have"
        kind = "" if severity != "note" else "fact"
        about = _label(judged, index)
        share = float(drew[index] / raters)
        who = _who_did_not_draw(judged, int(index))
        found.append(Finding(rule, share, severity, who, about, facts, kind=kind))
    # The gravest first, of equally grave ones the label that fewest drew.
    found.sort(key=lambda one: (-one.grade, one.value))
    yield from found or [Finding(rule, None, None, kind="fine")]


def _who_did_not_draw(judged: JudgedFusion, index: int) -> tuple[int, ...]:
    """Raters who annotated and did not use a label."""
    table = judged.patterns
    missing = ~(table.patterns == index).any(axis=0) & table.present.any(axis=0)
    return tuple(np.flatnonzero(missing).tolist())


def empty_result(judged: JudgedFusion) -> Iterator[Finding]:
    """Nothing, or a speck, though most raters drew something: they hardly meet."""
    table, found = judged.patterns, list[Finding]()
    raters = int(table.present.any(axis=0).sum())
    voxels = np.stack([_voxels_by_label(table, column) for column in table.patterns.T])
    decided = _voxels_by_label(table, judged.decision)
    for index in np.flatnonzero((table.labels != 0) & (2 * _who_drew(judged) > raters)):
        sizes = voxels[:, index]
        usual, own = float(np.median(sizes[sizes > 0])), int(decided[index])
        if own < SPECK * usual:
            result = f"a speck of {shown_volume(judged.spacing, own)}" if own else "empty"
            facts = {"result": result, "drew": int((sizes > 0).sum()), "number": raters}
            facts["usual"] = shown_volume(judged.spacing, usual)
            about = _label(judged, index)
            found.append(
                Finding("empty result", own / usual, "do not use", label=about, facts=facts)
            )
    yield from found or [Finding("empty result", None, None, kind="fine")]


def _voxels_by_label(table: DecisionPatterns, said: NDArray[Any]) -> NDArray[np.int64]:
    """(K,) voxels of each label, of (P,) label indices; anything else is no label."""
    known = (said >= 0) & (said < table.number_of_labels)
    return np.bincount(said[known], table.counts[known], table.number_of_labels).astype(np.int64)


def _label(judged: JudgedFusion, index: np.integer[Any]) -> int | None:
    """Which label a finding is about; None where raters drew only one."""
    drawn = (judged.patterns.labels != 0) & (_who_drew(judged) > 0)
    return int(judged.patterns.labels[index]) if drawn.sum() > 1 else None


def _who_drew(judged: JudgedFusion) -> NDArray[np.int64]:
    """(K,) how many raters used each label."""
    table = judged.patterns
    drew = np.zeros(table.number_of_labels + 1, np.int64)
    for column in table.patterns.T:
        drew[np.unique(column)] += 1
    return drew[:-1]


def prevalence(judged: JudgedFusion) -> Finding:
    """Small structures: a prior fixed over the whole image changes them most (section 4.3)."""
    share = judged.volume(judged.foreground) / judged.patterns.number_of_voxels
    is_low = share < LOW_PREVALENCE
    if is_low and judged.told.holds_prior:
        overlap = _overlap_with(judged, "Variant=advanced")
        if overlap < SAME_ANSWER:
            facts = {"share": share, "dice": overlap}
            return Finding("prevalence", share, "look", facts=facts, kind="held")
    severity: Severity = "note" if is_low and judged.told.theta is not None else None
    return Finding("prevalence", share, severity, facts={"share": share})


def _overlap_with(judged: JudgedFusion, setting: str) -> float:
    """Dice to the answer of the same filter by another setting; 1 if it has none."""
    if setting not in judged.told.alternatives:
        return 1.0
    other = JudgedFusion.of(judged.told.alternatives[setting](), judged.patterns)
    both = judged.volume(judged.foreground & other.foreground)
    total = judged.volume(judged.foreground) + other.volume(other.foreground)
    return 2 * both / total if total else 1.0


def undecided(judged: JudgedFusion) -> Finding:
    """Tied voxels."""
    share = judged.volume(judged.decision == -1) / judged.patterns.number_of_voxels
    if not share:
        return Finding("undecided", 0.0, None, kind="fine")
    return Finding("undecided", share, "note", facts={"share": share})


def volume_ratio(judged: JudgedFusion) -> float | None:
    """Volume against that of the plain vote; None if the vote is empty."""
    vote = majority_vote(judged.patterns, ties="background").decision
    reference = JudgedFusion(judged.patterns, vote, judged.posterior)
    size = reference.volume(reference.foreground)
    return judged.volume(judged.foreground) / size if size else None


def volume_against_vote(judged: JudgedFusion) -> Finding:
    """A result much larger or smaller than the plain vote needs a reason."""
    ratio = volume_ratio(judged)
    if ratio is None:
        mine = judged.volume(judged.foreground)
        facts = {"volume": shown_volume(judged.spacing, mine)}
        severity: Severity = "look" if mine else None
        return Finding("volume against vote", None, severity, facts=facts, kind="empty vote")
    usual = VOLUME_RATIO[0] <= ratio <= VOLUME_RATIO[1] or not has_majorities(judged)
    severity = None if usual else "look"
    return Finding("volume against vote", ratio, severity, facts={"ratio": ratio})


def beyond_the_raters(judged: JudgedFusion) -> Finding:
    """Foreground that no rater marked, or background inside what all marked.

    Methods that look at neighbours may do so along a contour, all others have no reason to.
    """
    voted, present = judged.voted, judged.patterns.present
    outside = judged.foreground & ~(voted & present).any(axis=1) & present.any(axis=1)
    inside = ~judged.foreground & (voted | ~present).all(axis=1) & present.any(axis=1)
    voxels = judged.volume(outside) + judged.volume(inside)
    severity: Severity = "look" if voxels else None
    if judged.looks_at_neighbours:
        many = voxels > BEYOND_SHARE * max(judged.volume(judged.foreground), 1)
        severity = "note" if many else None
    kind = "" if voxels else "fine"
    return Finding("beyond the raters", voxels, severity, facts={"voxels": voxels}, kind=kind)


def has_majorities(judged: JudgedFusion) -> bool:
    """Whether enough raters annotated for a vote to say who is right; of two it never does."""
    return int(judged.patterns.present.any(axis=0).sum()) >= FEWEST_FOR_VOTE


def far_from_the_vote(judged: JudgedFusion, dice: float) -> Finding:
    """A consensus that differs a lot from the vote, though not by noise, needs a look."""
    ratio = volume_ratio(judged)
    other = ratio is None or abs(ratio - 1) > VOLUME_OF_OTHER
    is_far = dice < FAR_FROM_VOTE or (dice < OTHER_THAN_VOTE and other)
    is_far = is_far and not judged.told.vote_is_noise and has_majorities(judged)
    kind = "noise" if judged.told.vote_is_noise else ""
    severity: Severity = "look" if is_far else None
    return Finding("far from the vote", dice, severity, facts={"dice": dice}, kind=kind)


def far_from_the_consensus(judged: JudgedFusion, dice: float) -> Finding:
    """What raters share is a better reference than the vote, which loses what many overlook.

    Results that are bad nearly always differ in volume from the vote, too.
    """
    rule = "far from the consensus"
    if math.isnan(dice):
        return Finding(rule, None, None, kind="unchecked")
    ratio = volume_ratio(judged)
    other = ratio is None or abs(ratio - 1) > OTHER_VOLUME
    far = dice < FAR_FROM_CONSENSUS and other and has_majorities(judged)
    severity: Severity = "look" if far else None
    if dice < FARTHEST_FROM_CONSENSUS and has_majorities(judged):
        severity = "do not use"
    facts: dict[str, Any] = {"dice": dice}
    if severity is not None:
        facts |= _closest_alternative(judged, dice)
    kind = "closer" if "closer" in facts else ""
    return Finding(rule, dice, severity, facts=facts, kind=kind)


def _closest_alternative(judged: JudgedFusion, dice: float) -> dict[str, Any]:
    """The setting of the same filter that, tried, comes closest; nothing if none comes closer."""
    tried = {name: dice_of() for name, dice_of in judged.alternatives.items()}
    best = max(tried, key=lambda name: tried[name], default="")
    if best and tried[best] > dice + CLOSER:
        return {"closer": best, "closer_dice": tried[best]}
    return {}
