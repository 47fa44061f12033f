"""When not to believe a fused segmentation: named rules, each with its number and what to do.

Three grades: a note is a fact to know, a caution asks to look before use, and "do not use" means
it. ``examples/benchmarks/diagnostics_evidence.py`` prints how often cautions hit bad results and
how often they disturb good ones, and the thresholds below were chosen by it.
"""

from __future__ import annotations

import numpy as np

from itk_consensus.algorithms.deviating_rater import farthest_rater
from itk_consensus.algorithms.findings import Diagnostics, Estimate, Finding, Severity
from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.algorithms.model_diagnostics import diagnose_model
from itk_consensus.algorithms.near_copies import MOST_RATERS, near_copies

FEW_RATERS = 3  # section 2.4.2 of "When Does Consensus Beat Voting?"
LOW_PREVALENCE = 0.10  # its critical prevalence, section 4.3
VOLUME_RATIO = (0.4, 1.6)  # to the majority vote
#: Chosen by `examples/benchmarks/diagnostics_evidence.py --choose` on seeds 1000 to 1059.
FAR_FROM_CONSENSUS = 0.945  # Dice to what the raters share; below, look before use ...
OTHER_VOLUME = 0.125  # ... if the volume also differs by more than this share from the vote's
FARTHEST_FROM_CONSENSUS = 0.75  # below, no good result was seen
BEYOND_SHARE = 0.05  # of the result, where the method looks at neighbours
CLOSER = 0.01  # a setting is worth naming if it brings the answer this much closer


def diagnose(estimate: Estimate) -> Diagnostics:
    """Apply every rule that the estimate has the numbers for."""
    findings = [
        few_raters(estimate),
        near_identical_raters(estimate),
        deviating_rater(estimate),
        prevalence(estimate),
        undecided(estimate),
        volume_against_vote(estimate),
        beyond_the_raters(estimate),
    ]
    if estimate.consensus_dice is not None:
        findings.append(far_from_the_consensus(estimate, estimate.consensus_dice))
    return Diagnostics((*findings, *diagnose_model(estimate)))


def few_raters(estimate: Estimate) -> Finding:
    """Fewer than three raters cannot tell who is right (section 2.4.2)."""
    raters = int(estimate.patterns.present.any(axis=0).sum())
    severity: Severity = "note" if raters < FEW_RATERS else None
    advice = "Where raters disagree, nobody can say who is right; a third rater could."
    return Finding("few raters", raters, severity, f"{raters} raters annotated.", advice)


def near_identical_raters(estimate: Estimate) -> Finding:
    """Raters who differ by far less than their errors count as several witnesses but are one."""
    rule, raters = "near-identical raters", estimate.patterns.number_of_raters
    if raters > MOST_RATERS:
        return Finding(
            rule, None, None, f"{raters} raters are too many to compare with each other."
        )
    groups = [group for group in near_copies(estimate.patterns) if len(group) > 1]
    number = sum(len(group) - 1 for group in groups)
    if not groups:
        return Finding(rule, 0, None, "No rater is nearly a copy of another.")
    names = "; ".join(" and ".join(map(str, group)) for group in groups)
    if estimate.merges_copies:
        message = f"Raters {names} are nearly copies of each other and were counted once."
        return Finding(rule, number, None, message)
    message = f"Raters {names} are nearly copies of each other."
    advice = "They count as several witnesses but are one; leave the copies out."
    return Finding(rule, number, "note", message, advice)


def deviating_rater(estimate: Estimate) -> Finding:
    """A rater far from others who are close to each other slipped, or is the only one right."""
    rule, raters = "deviating rater", estimate.patterns.number_of_raters
    if raters > MOST_RATERS:
        return Finding(
            rule, None, None, f"{raters} raters are too many to compare with each other."
        )
    far = farthest_rater(estimate.patterns)
    if far is None:
        return Finding(rule, None, None, "Fewer than three raters met each other.")
    message = (
        f"Rater {far.rater} has a mean Dice of {far.dice:.2f} to the others, who have "
        f"{far.others_dice:.2f} among themselves"
    )
    # Others who marked nothing have no volume to compare with.
    if np.isfinite(far.volume_ratio):
        message += f", and marked {far.volume_ratio:.2f} times their mean volume"
    advice = "Look at this mask: a slip counts as much as any other vote."
    return Finding(rule, far.dice, "note" if far.deviates else None, f"{message}.", advice)


def prevalence(estimate: Estimate) -> Finding:
    """Small structures: a prior fixed over the whole image weighs on them (section 4.3)."""
    share = estimate.volume(estimate.foreground) / estimate.patterns.number_of_voxels
    severity: Severity = "note" if share < LOW_PREVALENCE and estimate.theta is not None else None
    message = f"The result fills {share:.2%} of the fused voxels."
    advice = "A label prior over the whole image weighs on small structures."
    return Finding("prevalence", share, severity, message, advice)


def undecided(estimate: Estimate) -> Finding:
    """Voxels that no label won."""
    share = estimate.volume(estimate.decision == -1) / estimate.patterns.number_of_voxels
    advice = "TieRule decides them." * ("TieRule" in estimate.parameters)
    message = f"{share:.2%} of the voxels are tied."
    return Finding("undecided", share, "note" if share else None, message, advice)


def volume_ratio(estimate: Estimate) -> float | None:
    """Volume against that of the plain vote; None if the vote is empty."""
    vote = majority_vote(estimate.patterns, ties="background").decision
    reference = Estimate(estimate.patterns, vote, estimate.posterior)
    size = reference.volume(reference.foreground)
    return estimate.volume(estimate.foreground) / size if size else None


def volume_against_vote(estimate: Estimate) -> Finding:
    """A result much larger or smaller than the plain vote needs a reason."""
    ratio = volume_ratio(estimate)
    mine = estimate.volume(estimate.foreground)
    advice = "Compare the two maps."
    if ratio is None:
        message = f"The majority vote is empty; the result has {mine} voxels."
        severity: Severity = "caution" if mine else None
        return Finding("volume against vote", None, severity, message, advice)
    severity = None if VOLUME_RATIO[0] <= ratio <= VOLUME_RATIO[1] else "caution"
    message = f"The result has {ratio:.2f} times the volume of the majority vote."
    return Finding("volume against vote", ratio, severity, message, advice)


def beyond_the_raters(estimate: Estimate) -> Finding:
    """Foreground that no rater marked, or background inside what all marked.

    Methods that look at neighbours may do so along a contour, all others have no reason to.
    """
    voted, present = estimate.voted, estimate.patterns.present
    outside = estimate.foreground & ~(voted & present).any(axis=1) & present.any(axis=1)
    inside = ~estimate.foreground & (voted | ~present).all(axis=1) & present.any(axis=1)
    voxels = estimate.volume(outside) + estimate.volume(inside)
    severity: Severity = "caution" if voxels else None
    if estimate.looks_at_neighbours:
        many = voxels > BEYOND_SHARE * max(estimate.volume(estimate.foreground), 1)
        severity = "note" if many else None
    lie = "voxel lies" if voxels == 1 else "voxels lie"
    message = f"{voxels} {lie} outside the raters' union or inside their intersection."
    return Finding("beyond the raters", voxels, severity, message, "No rater supports them.")


def far_from_the_consensus(estimate: Estimate, dice: float) -> Finding:
    """What raters share is a better reference than the vote, which loses what many overlook.

    Results that are bad nearly always differ in volume from the vote, too.
    """
    ratio = volume_ratio(estimate)
    other = ratio is None or abs(ratio - 1) > OTHER_VOLUME
    severity: Severity = "caution" if dice < FAR_FROM_CONSENSUS and other else None
    if dice < FARTHEST_FROM_CONSENSUS:
        severity = "do not use"
    message = f"Dice {dice:.3f} to what the raters share (Consensus)."
    advice = ""
    if severity is not None:
        closer = _closest_alternative(estimate, dice)
        advice = f"{closer} comes closer." if closer else "Compare it with Consensus."
    return Finding("far from the consensus", dice, severity, message, advice)


def _closest_alternative(estimate: Estimate, dice: float) -> str:
    """The setting of the same filter that, tried, comes closest; empty if none comes closer."""
    tried = {name: dice_of() for name, dice_of in estimate.alternatives.items()}
    best = max(tried, key=lambda name: tried[name], default="")
    return f"{best} (Dice {tried[best]:.3f})" if best and tried[best] > dice + CLOSER else ""
