"""Rules that state when not to trust a fused segmentation, each with the value it is based on.

There are three grades: "note" is for information, "look" asks for inspection of the result before
use, and "do not use" rejects it. ``examples/benchmarks/findings/diagnostics_evidence.py`` prints
how often each rule fires for bad and for good results; the thresholds below were chosen with it.
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
from itk_consensus.space.boxes import format_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.ties import UNDECIDED

LOW_PREVALENCE = 0.10  # critical prevalence, section 4.3 of "When Does Consensus Beat Voting?"
VOLUME_RATIO = (0.4, 1.6)  # relative to the majority vote
#: Chosen by `examples/benchmarks/findings/verdict_evidence.py --choose` on seeds 1000 to 1007.
FAR_FROM_CONSENSUS = 0.95  # Dice with Consensus; below it, look before use ...
OTHER_VOLUME = 0.12  # ... if the volume also differs from the vote's by more than this share
#: The same two limits for readers whose mean Dice is at least the first value.
CLOSE_READERS, FAR_AMONG_CLOSE, OTHER_AMONG_CLOSE = 0.85, 0.965, 0.08
FARTHEST_FROM_CONSENSUS = 0.75  # below it, no result was observed to be good
FAR_FROM_VOTE = 0.8  # Dice with the vote; below it, look before use, unless the vote is noisy ...
OTHER_THAN_VOTE = 0.958  # ... or below this ...
VOLUME_OF_OTHER = 0.06  # ... if the volume also differs by more than this share
# Dice with the full vote; below it, counting copies only once has changed the result
COPIES_DECIDE = 0.95
# share of the result's voxels that no rater supports, for methods that use neighbouring voxels
BEYOND_SHARE = 0.05
FEWEST_FOR_VOTE = 3  # with two raters, every voxel on which they differ is tied
# a mask smaller than this share of the median volume of those who drew the label is a speck
SPECK = 0.1
SAME_ANSWER = 0.95  # Dice from which the results of two settings are considered equal
# gain in Dice with Consensus, over the current setting, from which another setting is suggested
CLOSER = 0.01


def diagnose(judged: JudgedFusion) -> Iterator[Finding]:
    """Apply every rule whose input values are available."""
    yield from near_identical_raters(judged)
    yield from presence(judged)
    yield from empty_result(judged)
    yield prevalence(judged)
    yield undecided_voxels(judged)
    yield volume_against_vote(judged)
    yield beyond_the_raters(judged)
    if judged.answer_facts.vote_dice is not None:
        yield far_from_the_vote(judged)
    if judged.consensus_dice is not None:
        yield far_from_the_consensus(judged, judged.consensus_dice)
    yield from diagnose_model(judged)


def near_identical_raters(judged: JudgedFusion) -> Iterator[Finding]:
    """Find raters whose masks are too similar to be independent; they count as a single opinion."""
    rule, raters = "near-identical raters", judged.patterns.number_of_raters
    if raters > MOST_RATERS:
        yield Finding(rule, None, None, kind="many", facts={"number": raters})
        return
    groups = [tuple(group) for group in judged.copies]
    kind = "merged" if groups and judged.answer_facts.merges_copies else ""
    dice = judged.answer_facts.vote_dice
    facts, severity = {}, "note"
    if kind and dice is not None and dice < COPIES_DECIDE:
        kind, facts, severity = "decides", {"dice": dice}, "look"
    # Identical masks are reported even with too few raters to infer copying.
    groups = groups or [tuple(map(int, group)) for group in same_masks(judged.patterns)]
    number = sum(len(group) - 1 for group in groups)
    for group in groups:
        yield Finding(rule, number, severity, group, facts=facts, kind=kind)  # type: ignore[arg-type]
    if not groups:
        yield Finding(rule, 0, None, kind="fine")


def presence(judged: JudgedFusion) -> Iterator[Finding]:
    """Find labels that some raters left empty and that may therefore not be present at all."""
    rule, table = "presence", judged.patterns
    annotated = table.present.any(axis=0)
    raters = int(annotated.sum())
    drew = _number_of_drawers(judged)
    result = table.labels[np.unique(judged.decision[judged.decision >= 0])]
    drawn = (table.labels != 0) & (drew > 0)
    found = []
    for index in np.flatnonzero(drawn & (drew < raters)):
        has = bool(np.isin(table.labels[index], result))
        # Whether at least half of the raters contradict the result.
        against = 2 * drew[index] <= raters if has else 2 * drew[index] >= raters
        severity: Severity = "look" if against else "note"
        if 2 * drew[index] == raters and raters > 1:
            severity = "do not use"
        facts: dict[str, Any] = {"empty": raters - int(drew[index]), "number": raters}
        facts["has"] = "has" if has else "does not have"
        kind = "" if severity != "note" else "fact"
        about = _label(judged, index)
        share = float(drew[index] / raters)
        who = _raters_without_label(judged, int(index))
        found.append(Finding(rule, share, severity, who, about, facts, kind=kind))
    # Sort by severity; at equal severity, the label drawn by the fewest raters comes first.
    found.sort(key=lambda one: (-one.grade, one.value))
    yield from found or [Finding(rule, None, None, kind="fine")]


def _raters_without_label(judged: JudgedFusion, index: int) -> tuple[int, ...]:
    """Return the raters who annotated the image but did not use a label."""
    table = judged.patterns
    missing = ~(table.patterns == index).any(axis=0) & table.present.any(axis=0)
    return tuple(np.flatnonzero(missing).tolist())


def empty_result(judged: JudgedFusion) -> Iterator[Finding]:
    """Find labels that are (nearly) empty in the result although most raters drew them."""
    table, found = judged.patterns, list[Finding]()
    raters = int(table.present.any(axis=0).sum())
    voxels = np.stack([_voxels_by_label(table, column) for column in table.patterns.T])
    decided = _voxels_by_label(table, judged.decision)
    for index in np.flatnonzero((table.labels != 0) & (2 * _number_of_drawers(judged) > raters)):
        sizes = voxels[:, index]
        usual, own = float(np.median(sizes[sizes > 0])), int(decided[index])
        if own < SPECK * usual:
            result = f"a speck of {format_volume(judged.spacing, own)}" if own else "empty"
            facts = {"result": result, "drew": int((sizes > 0).sum()), "number": raters}
            facts["usual"] = format_volume(judged.spacing, usual)
            about = _label(judged, index)
            found.append(
                Finding("empty result", own / usual, "do not use", label=about, facts=facts)
            )
    yield from found or [Finding("empty result", None, None, kind="fine")]


def _voxels_by_label(table: DecisionPatterns, said: NDArray[Any]) -> NDArray[np.int64]:
    """Return the (K,) number of voxels per label from (P,) label indices; other values are
    ignored.
    """
    known = (said >= 0) & (said < table.number_of_labels)
    return np.bincount(said[known], table.counts[known], table.number_of_labels).astype(np.int64)


def _label(judged: JudgedFusion, index: np.integer[Any]) -> int | None:
    """Return the label value for a finding; None if raters drew only one label."""
    drawn = (judged.patterns.labels != 0) & (_number_of_drawers(judged) > 0)
    return int(judged.patterns.labels[index]) if drawn.sum() > 1 else None


def _number_of_drawers(judged: JudgedFusion) -> NDArray[np.int64]:
    """Return the (K,) number of raters who used each label."""
    table = judged.patterns
    drew = np.zeros(table.number_of_labels + 1, np.int64)
    for column in table.patterns.T:
        drew[np.unique(column)] += 1
    return drew[:-1]


def prevalence(judged: JudgedFusion) -> Finding:
    """Warn of small structures, which are most affected by a prior for the whole image
    (section 4.3 of "When Does Consensus Beat Voting?").
    """
    share = judged.volume(judged.foreground) / judged.patterns.number_of_voxels
    is_low = share < LOW_PREVALENCE
    if is_low and judged.answer_facts.holds_prior:
        overlap = _overlap_with(judged, "Variant=advanced")
        if overlap < SAME_ANSWER:
            facts = {"share": share, "dice": overlap}
            return Finding("prevalence", share, "look", facts=facts, kind="held")
    severity: Severity = "note" if is_low and judged.answer_facts.theta is not None else None
    return Finding("prevalence", share, severity, facts={"share": share})


def _overlap_with(judged: JudgedFusion, setting: str) -> float:
    """Return the Dice with the same filter's result in another setting; 1 if there is no
    such result.
    """
    if setting not in judged.answer_facts.alternatives:
        return 1.0
    other = JudgedFusion.of(judged.answer_facts.alternatives[setting](), judged.patterns)
    both = judged.volume(judged.foreground & other.foreground)
    total = judged.volume(judged.foreground) + other.volume(other.foreground)
    return 2 * both / total if total else 1.0


def undecided_voxels(judged: JudgedFusion) -> Finding:
    """Report the share of voxels at which the vote is tied."""
    share = judged.volume(judged.decision == -1) / judged.patterns.number_of_voxels
    if not share:
        return Finding("undecided", 0.0, None, kind="fine")
    return Finding("undecided", share, "note", facts={"share": share})


def plain_vote(judged: JudgedFusion) -> JudgedFusion:
    """Return the majority vote, with ties set to background."""
    vote = majority_vote(judged.patterns, ties="background").decision
    return JudgedFusion(judged.patterns, vote, judged.posterior)


def clear_vote(judged: JudgedFusion) -> JudgedFusion:
    """Return the majority vote, with ties resolved in favour of the result."""
    vote = majority_vote(judged.patterns).decision
    decision = np.where(vote == UNDECIDED, judged.decision, vote)
    return JudgedFusion(judged.patterns, decision, judged.posterior)


def volume_ratio(judged: JudgedFusion, vote: JudgedFusion) -> float | None:
    """Return the ratio of the foreground volumes of result and vote; None if the vote is empty."""
    size = vote.volume(vote.foreground)
    return judged.volume(judged.foreground) / size if size else None


def volume_against_vote(judged: JudgedFusion) -> Finding:
    """Warn of a result much larger or smaller than the plain vote."""
    ratio = volume_ratio(judged, plain_vote(judged))
    if ratio is None:
        mine = judged.volume(judged.foreground)
        facts = {"volume": format_volume(judged.spacing, mine)}
        severity: Severity = "look" if mine else None
        return Finding("volume against vote", None, severity, facts=facts, kind="empty vote")
    usual = VOLUME_RATIO[0] <= ratio <= VOLUME_RATIO[1] or not has_majorities(judged)
    severity = None if usual else "look"
    return Finding("volume against vote", ratio, severity, facts={"ratio": ratio})


def beyond_the_raters(judged: JudgedFusion) -> Finding:
    """Count voxels at which the result contradicts all raters.

    For methods that use neighbouring voxels this can occur along contours; for others it is an
    error.
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
    """Return whether enough raters annotated to form a majority at voxels on which they differ."""
    return int(judged.patterns.present.any(axis=0).sum()) >= FEWEST_FOR_VOTE


def far_from_the_vote(judged: JudgedFusion) -> Finding:
    """Warn of a result that differs greatly from the vote, unless the vote is noisy."""
    vote = clear_vote(judged)
    ratio = volume_ratio(judged, vote)
    both = judged.foreground & (judged.decision == vote.decision)
    total = judged.volume(judged.foreground) + vote.volume(vote.foreground)
    dice = 2 * judged.volume(both) / total if total else 1.0
    other = ratio is None or abs(ratio - 1) > VOLUME_OF_OTHER
    is_far = dice < FAR_FROM_VOTE or (dice < OTHER_THAN_VOTE and other)
    is_far = is_far and not judged.answer_facts.vote_is_noise and has_majorities(judged)
    kind = "" if is_far else "fine" if dice == 1 else "close"
    if judged.answer_facts.vote_is_noise:
        kind = "noise"
    severity: Severity = "look" if is_far else None
    return Finding("far from the vote", dice, severity, facts={"dice": dice}, kind=kind)


def far_from_the_consensus(judged: JudgedFusion, dice: float) -> Finding:
    """Warn of a result far from Consensus, which keeps structures that many raters overlook.

    The volume must also differ from the vote's, as it nearly always does for bad results.
    """
    rule = "far from the consensus"
    if math.isnan(dice):
        return Finding(rule, None, None, kind="unchecked")
    ratio = volume_ratio(judged, clear_vote(judged))
    are_close = judged.agreement >= CLOSE_READERS
    limit = FAR_AMONG_CLOSE if are_close else FAR_FROM_CONSENSUS
    most = OTHER_AMONG_CLOSE if are_close else OTHER_VOLUME
    other = ratio is None or abs(ratio - 1) > most
    far = dice < limit and other and has_majorities(judged)
    severity: Severity = "look" if far else None
    if dice < FARTHEST_FROM_CONSENSUS and has_majorities(judged):
        severity = "do not use"
    facts: dict[str, Any] = {"dice": dice}
    if severity is not None:
        facts |= _closest_alternative(judged, dice)
    kind = "closer" if "closer" in facts else ""
    return Finding(rule, dice, severity, facts=facts, kind=kind)


def _closest_alternative(judged: JudgedFusion, dice: float) -> dict[str, Any]:
    """Return the filter's setting whose result is closest to Consensus; {} if no setting is
    closer.
    """
    tried = {name: dice_of() for name, dice_of in judged.alternatives.items()}
    best = max(tried, key=lambda name: tried[name], default="")
    if best and tried[best] > dice + CLOSER:
        return {"closer": best, "closer_dice": tried[best]}
    return {}
