"""When not to trust a fused segmentation: named rules, each with its number and what to do.

Three grades: a note is a fact to know, a caution asks to look before use, and "do not use" means
it. ``examples/benchmarks/findings/diagnostics_evidence.py`` prints how often cautions hit bad
results and how often they disturb good ones, and the thresholds below were chosen by it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Diagnostics, Finding, JudgedFusion, Severity
from itk_consensus.assessment.of_models import diagnose_model
from itk_consensus.fusing.near_copies import MOST_RATERS, same_masks
from itk_consensus.methods.voting.majority_vote import majority_vote

LOW_PREVALENCE = 0.10  # critical prevalence, section 4.3 of "When Does Consensus Beat Voting?"
VOLUME_RATIO = (0.4, 1.6)  # to the majority vote
#: Chosen by `examples/benchmarks/findings/diagnostics_evidence.py --choose` on seeds 1000 to 1059.
FAR_FROM_CONSENSUS = 0.945  # Dice to what the raters share; below, look before use ...
OTHER_VOLUME = 0.125  # ... if the volume also differs by more than this share from the vote's
FARTHEST_FROM_CONSENSUS = 0.75  # below, no good result was seen
FAR_FROM_VOTE = 0.8  # Dice; below, look, unless the vote is noise
COPIES_DECIDE = 0.95  # Dice to the vote below which counting copies once made the answer
BEYOND_SHARE = 0.05  # of the result, where the method looks at neighbours
CLOSER = 0.01  # a setting is worth naming if it brings the result this much closer


def diagnose(judged: JudgedFusion) -> Diagnostics:
    """Apply every rule that there are numbers for."""
    findings = [
        near_identical_raters(judged),
        presence(judged),
        prevalence(judged),
        undecided(judged),
        volume_against_vote(judged),
        beyond_the_raters(judged),
    ]
    if judged.told.vote_dice is not None:
        findings.append(far_from_the_vote(judged, judged.told.vote_dice))
    if judged.consensus_dice is not None:
        findings.append(far_from_the_consensus(judged, judged.consensus_dice))
    return Diagnostics((*findings, *diagnose_model(judged)))


def near_identical_raters(judged: JudgedFusion) -> Finding:
    """Raters who differ far less than their errors count several times, but are not independent."""
    rule, raters = "near-identical raters", judged.patterns.number_of_raters
    if raters > MOST_RATERS:
        return Finding(
            rule, None, None, f"{raters} raters are too many to compare with each other."
        )
    groups = [list(group) for group in judged.copies]
    merged = bool(groups) and judged.told.merges_copies
    # With fewer witnesses than it takes to call it copying, the same mask twice is still a fact.
    groups = groups or same_masks(judged.patterns)
    number = sum(len(group) - 1 for group in groups)
    if not groups:
        return Finding(rule, 0, None, "No rater is nearly a copy of another.")
    names = "; ".join(" and ".join(map(str, group)) for group in groups)
    if merged:
        message = f"Raters {names} are nearly copies of each other and were counted once."
        decides = judged.told.vote_dice is not None and judged.told.vote_dice < COPIES_DECIDE
        advice = f"That decides the outcome (Dice {judged.told.vote_dice:.3f} to the vote); look."
        return Finding(rule, number, "caution" if decides else "note", message, advice)
    message = f"Raters {names} are nearly copies of each other."
    advice = "They count several times but are not independent; leave the copies out."
    return Finding(rule, number, "note", message, advice)


def presence(judged: JudgedFusion) -> Finding:
    """A label that many raters left empty: is it there at all?"""
    rule, table = "presence", judged.patterns
    annotated = table.present.any(axis=0)
    raters = int(annotated.sum())
    drew = _who_drew(judged)
    result = judged.patterns.labels[np.unique(judged.decision[judged.decision >= 0])]
    drawn = (table.labels != 0) & (drew > 0)
    if not drawn.any() or not (drew[drawn] < raters).any():
        return Finding(rule, None, None, "Every rater drew every label.")
    share = np.where(drawn, drew / max(raters, 1), 1.0)
    has = np.isin(table.labels, result)
    # Against at least half of the raters.
    against = drawn & np.where(has, share <= 0.5, share >= 0.5)
    worst = int(np.where(against, share - 2, share).argmin())
    label, empty = table.labels[worst], raters - int(drew[worst])
    message = f"{empty} of {raters} raters left label {label} empty; the result "
    message += "has it." if has[worst] else "does not have it."
    advice = "First decide whether it is there." if against[worst] else ""
    severity: Severity = "caution" if against[worst] else "note"
    return Finding(rule, float(share[worst]), severity, message, advice)


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
    severity: Severity = (
        "note" if share < LOW_PREVALENCE and judged.told.theta is not None else None
    )
    message = f"The result fills {share:.2%} of the fused voxels."
    advice = "A label prior for the whole image distorts small structures."
    return Finding("prevalence", share, severity, message, advice)


def undecided(judged: JudgedFusion) -> Finding:
    """Tied voxels."""
    share = judged.volume(judged.decision == -1) / judged.patterns.number_of_voxels
    advice = "TieRule decides them." * ("TieRule" in judged.parameters)
    message = f"{share:.2%} of the voxels are tied."
    return Finding("undecided", share, "note" if share else None, message, advice)


def volume_ratio(judged: JudgedFusion) -> float | None:
    """Volume against that of the plain vote; None if the vote is empty."""
    vote = majority_vote(judged.patterns, ties="background").decision
    reference = JudgedFusion(judged.patterns, vote, judged.posterior)
    size = reference.volume(reference.foreground)
    return judged.volume(judged.foreground) / size if size else None


def volume_against_vote(judged: JudgedFusion) -> Finding:
    """A result much larger or smaller than the plain vote needs a reason."""
    ratio = volume_ratio(judged)
    mine = judged.volume(judged.foreground)
    advice = "Compare the two maps."
    if ratio is None:
        message = f"The majority vote is empty; the result has {mine} voxels."
        severity: Severity = "caution" if mine else None
        return Finding("volume against vote", None, severity, message, advice)
    severity = None if VOLUME_RATIO[0] <= ratio <= VOLUME_RATIO[1] else "caution"
    message = f"The result has {ratio:.2f} times the volume of the majority vote."
    return Finding("volume against vote", ratio, severity, message, advice)


def beyond_the_raters(judged: JudgedFusion) -> Finding:
    """Foreground that no rater marked, or background inside what all marked.

    Methods that look at neighbours may do so along a contour, all others have no reason to.
    """
    voted, present = judged.voted, judged.patterns.present
    outside = judged.foreground & ~(voted & present).any(axis=1) & present.any(axis=1)
    inside = ~judged.foreground & (voted | ~present).all(axis=1) & present.any(axis=1)
    voxels = judged.volume(outside) + judged.volume(inside)
    severity: Severity = "caution" if voxels else None
    if judged.looks_at_neighbours:
        many = voxels > BEYOND_SHARE * max(judged.volume(judged.foreground), 1)
        severity = "note" if many else None
    lie = "voxel lies" if voxels == 1 else "voxels lie"
    message = f"{voxels} {lie} outside the raters' union or inside their intersection."
    return Finding("beyond the raters", voxels, severity, message, "No rater supports them.")


def far_from_the_vote(judged: JudgedFusion, dice: float) -> Finding:
    """A consensus that differs a lot from the vote, though not by noise, needs a look."""
    severity: Severity = None
    if dice < FAR_FROM_VOTE and not judged.told.vote_is_noise:
        severity = "caution"
    noise = "; the vote has specks of noise" if judged.told.vote_is_noise else ""
    message = f"Dice {dice:.3f} to the plain vote{noise}."
    return Finding("far from the vote", dice, severity, message, "Compare the two maps.")


def far_from_the_consensus(judged: JudgedFusion, dice: float) -> Finding:
    """What raters share is a better reference than the vote, which loses what many overlook.

    Results that are bad nearly always differ in volume from the vote, too.
    """
    rule = "far from the consensus"
    if math.isnan(dice):
        return Finding(rule, None, None, "Not checked: it takes as long as fusing by Consensus.")
    ratio = volume_ratio(judged)
    other = ratio is None or abs(ratio - 1) > OTHER_VOLUME
    severity: Severity = "caution" if dice < FAR_FROM_CONSENSUS and other else None
    if dice < FARTHEST_FROM_CONSENSUS:
        severity = "do not use"
    message = f"Dice {dice:.3f} to what the raters share (Consensus)."
    advice = ""
    if severity is not None:
        closer = _closest_alternative(judged, dice)
        advice = f"{closer} comes closer." if closer else "Compare it with Consensus."
    return Finding(rule, dice, severity, message, advice)


def _closest_alternative(judged: JudgedFusion, dice: float) -> str:
    """The setting of the same filter that, tried, comes closest; empty if none comes closer."""
    tried = {name: dice_of() for name, dice_of in judged.alternatives.items()}
    best = max(tried, key=lambda name: tried[name], default="")
    return f"{best} (Dice {tried[best]:.3f})" if best and tried[best] > dice + CLOSER else ""
