"""When not to believe a fused segmentation: named rules, each with its number and what to do.

Every rule runs on decision patterns and is therefore nearly free, re-running the estimate on a ten
times larger background included. Equation numbers are those of "When Does Consensus Beat Voting?".
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from itk_consensus.algorithms.findings import Diagnostics, Estimate, Finding
from itk_consensus.algorithms.initialization import StartSummary
from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.algorithms.thresholding import ThresholdEquivalence, equivalent_threshold
from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns

LOW_PREVALENCE = 0.10  # the paper's critical prevalence, section 4.3
FEW_RATERS = 3  # section 2.4.2
RATER_AT_CHANCE = 0.5  # diagonal dominance, section 2.4.1
LITTLE_INFORMATION = 0.2  # sensitivity + specificity - 1
SAME_AS_THRESHOLD = 0.99  # Dice from which a result is a thresholded vote, section 4.1
ONE_NAT = 1.0  # a start this far below the best is suboptimal, section 4.2
START_DICE = 0.95  # label maps of two starts that overlap less differ
AGREEMENT_BEYOND_MODEL = 0.3  # share of the unexplained agreement between two raters
VOLUME_RATIO = (0.8, 1.25)  # to the majority vote
BACKGROUND_FACTOR = 10.0
BACKGROUND_CHANGE = 0.05  # change in volume on that much more background


def diagnose(estimate: Estimate) -> Diagnostics:
    """Apply every rule that the estimate has the numbers for."""
    findings = [few_raters(estimate), prevalence(estimate), undecided(estimate)]
    findings += [volume_against_vote(estimate), beyond_the_raters(estimate)]
    if estimate.theta is not None:
        findings += list(performance(estimate, estimate.theta))
        findings.append(correlated_raters(estimate, estimate.theta))
        findings.append(background_size(estimate))
        if estimate.patterns.number_of_labels == 2:
            findings.append(thresholding(estimate))
    if estimate.starts is not None:
        findings += list(start_disagreement(estimate.starts))
    return Diagnostics(tuple(findings))


def few_raters(estimate: Estimate) -> Finding:
    """Fewer than three raters cannot tell who is right (section 2.4.2)."""
    raters = int(estimate.patterns.present.any(axis=0).sum())
    concern = raters < FEW_RATERS
    advice = "Two raters who disagree cannot be resolved; add raters or a prior." if concern else ""
    return Finding("few raters", raters, concern, f"{raters} raters annotated.", advice)


def prevalence(estimate: Estimate) -> Finding:
    """Small structures: a prior fixed over the whole image weighs on them (section 4.3)."""
    share = estimate.volume(estimate.foreground) / estimate.patterns.number_of_voxels
    concern = share < LOW_PREVALENCE and estimate.theta is not None
    advice = (
        "Use Variant=Advanced, which estimates the prior, or a mask around the structure."
        if concern
        else ""
    )
    message = f"The result fills {share:.2%} of the fused voxels."
    return Finding("prevalence", share, concern, message, advice)


def undecided(estimate: Estimate) -> Finding:
    """Voxels that no label won."""
    share = estimate.volume(estimate.decision == -1) / estimate.patterns.number_of_voxels
    advice = "Choose a tie rule, or an odd number of raters." if share else ""
    return Finding("undecided", share, share > 0, f"{share:.2%} of the voxels are tied.", advice)


def volume_against_vote(estimate: Estimate) -> Finding:
    """A result much larger or smaller than the plain vote needs a reason."""
    vote = majority_vote(estimate.patterns, ties="background").decision
    reference = Estimate(estimate.patterns, vote, estimate.posterior)
    size = reference.volume(reference.foreground)
    mine = estimate.volume(estimate.foreground)
    if size == 0:
        message = f"The majority vote is empty; the result has {mine} voxels."
        return Finding("volume against vote", None, mine > 0, message, "Look at it." * (mine > 0))
    ratio = mine / size
    concern = not VOLUME_RATIO[0] <= ratio <= VOLUME_RATIO[1]
    advice = "Compare the two maps; with few voxels trust the vote." if concern else ""
    message = f"The result has {ratio:.2f} times the volume of the majority vote."
    return Finding("volume against vote", ratio, concern, message, advice)


def beyond_the_raters(estimate: Estimate) -> Finding:
    """Foreground that no rater marked, or background inside what all marked."""
    voted, present = estimate.voted, estimate.patterns.present
    outside = estimate.foreground & ~(voted & present).any(axis=1) & present.any(axis=1)
    inside = ~estimate.foreground & (voted | ~present).all(axis=1) & present.any(axis=1)
    voxels = estimate.volume(outside) + estimate.volume(inside)
    advice = "No rater supports these voxels; do not use the result." if voxels else ""
    message = f"{voxels} voxels lie outside the raters' union or inside their intersection."
    return Finding("beyond the raters", voxels, voxels > 0, message, advice)


def performance(estimate: Estimate, theta: Floats) -> Iterator[Finding]:
    """Raters under one half, or with estimates that no human rater has (sections 2.4.1, 5.2 R2)."""
    diagonal = np.einsum("jkk->jk", theta)
    defined = np.where(np.isnan(diagonal), 1.0, diagonal)
    lowest = float(defined.min())
    rater = int(defined.min(axis=1).argmin())
    poor = lowest < RATER_AT_CHANCE
    message = f"Rater {rater} has the lowest performance, {lowest:.3f}."
    advice = "Look at that rater's segmentation; it may show something else." if poor else ""
    yield Finding("rater under one half", lowest, poor, message, advice)
    labels = diagonal.shape[1]
    information = (defined.sum(axis=1) - 1) / max(labels - 1, 1)
    infallible = int(((diagonal == 1) & (estimate.patterns.number_of_raters > 1)).any(1).sum())
    concern = bool((information < LITTLE_INFORMATION).any()) or infallible > 0
    message = (
        f"Least informative rater: {information.min():.3f} (0 is chance, 1 perfect); "
        f"raters taken as infallible for a class: {infallible}."
    )
    advice = (
        "An infallible rater outvotes all others; SensitivityPrior and SpecificityPrior, or "
        "PseudoCounts, keep estimates off 1, and other starts show other optima."
        if concern
        else ""
    )
    yield Finding("implausible performance", float(information.min()), concern, message, advice)


def correlated_raters(estimate: Estimate, theta: Floats) -> Finding:
    """Agreement between two raters beyond what independent raters would show (section 2.4.4)."""
    beyond = agreement_beyond_model(estimate.patterns, estimate.posterior, theta)
    if not np.isfinite(beyond).any():
        return Finding("correlated raters", None, False, "No two raters share a voxel.")
    first, second = np.unravel_index(np.nanargmax(beyond), beyond.shape)
    value = float(beyond[first, second])
    concern = value > AGREEMENT_BEYOND_MODEL
    message = (
        f"Raters {first} and {second} agree on {value:.0%} of what independent raters would not."
    )
    advice = (
        "They count as two witnesses but may be one; drop or down-weight one." if concern else ""
    )
    return Finding("correlated raters", value, concern, message, advice)


def agreement_beyond_model(patterns: DecisionPatterns, posterior: Floats, theta: Floats) -> Floats:
    """(J, J) (observed - expected) / (1 - expected) agreement of each pair, NaN on the diagonal."""
    raters, labels, _ = theta.shape
    votes = patterns.one_hot
    together = (votes.T @ votes.multiply(patterns.counts[:, None]).tocsr()).tocoo()
    i, d = np.divmod(together.row, labels)
    j, e = np.divmod(together.col, labels)
    both = np.zeros((raters, raters))
    same = np.zeros((raters, raters))
    np.add.at(both, (i, j), together.data)
    np.add.at(same, (i[d == e], j[d == e]), together.data[d == e])
    mass = patterns.counts @ posterior
    safe = np.nan_to_num(theta, nan=0.0)
    expected = np.einsum("idt,jdt,t->ij", safe, safe, mass / mass.sum())
    with np.errstate(invalid="ignore", divide="ignore"):
        beyond = (same / both - expected) / (1 - expected)
    # Raters without any error leave nothing to explain.
    beyond[expected >= 1 - 1e-12] = np.nan
    np.fill_diagonal(beyond, np.nan)
    return np.asarray(beyond)


def background_size(estimate: Estimate) -> Finding:
    """Does the answer change when only more empty background is added (section 2.3.5)?"""
    rule = "background size"
    if estimate.fuse_again is None:
        message = "The amount of background cannot change the result."
        return Finding(rule, 0.0, False, message)
    larger = with_more_background(estimate.patterns, BACKGROUND_FACTOR)
    decision = estimate.fuse_again(larger)
    before = estimate.volume(estimate.foreground)
    moved = Estimate(estimate.patterns, decision, estimate.posterior)
    change = (moved.volume(moved.foreground) - before) / max(before, 1)
    concern = abs(change) > BACKGROUND_CHANGE
    advice = (
        "The crop decides the answer; use Variant=Advanced or Restricted, or a mask."
        if concern
        else ""
    )
    message = f"On {BACKGROUND_FACTOR:g} times the background the volume changes by {change:+.1%}."
    return Finding(rule, change, concern, message, advice)


def with_more_background(patterns: DecisionPatterns, factor: float) -> DecisionPatterns:
    """The table of an image padded until its agreed background is `factor` times larger."""
    values = np.append(patterns.labels, -1)[patterns.patterns]
    background = patterns.unanimous & (np.where(patterns.present, values, 0) == 0).all(axis=1)
    counts = np.where(background, np.rint(factor * patterns.counts), patterns.counts)
    return DecisionPatterns(
        patterns.patterns, counts.astype(np.int64), patterns.labels, patterns.strata
    )


def thresholding(estimate: Estimate) -> Finding:
    """Is the answer a thresholded average of the masks (section 2.3.4, eqs. 27-29)?"""
    found: ThresholdEquivalence = equivalent_threshold(estimate.patterns, estimate.foreground)
    concern = found.dice >= SAME_AS_THRESHOLD
    message = (
        f"Dice {found.dice:.3f} to the vote fraction thresholded at {found.threshold:.3f} "
        f"(slope {found.slope:.1f}, offset {found.offset:.1f})."
    )
    advice = "The result is a thresholded vote; the raters were not told apart." if concern else ""
    return Finding("thresholding", found.dice, concern, message, advice)


def start_disagreement(starts: StartSummary) -> Iterator[Finding]:
    """Do other starts end elsewhere, and in better or mirrored places (section 4.2)?"""
    number = len(starts.log_posterior)
    if number == 1:
        message = "Only one start was run."
        yield Finding("start disagreement", None, False, message)
        return
    best = np.nanmax(starts.log_posterior)
    suboptimal = float((starts.log_posterior < best - ONE_NAT).mean())
    spread = float(1 - starts.dice[starts.winner].min())
    message = (
        f"{suboptimal:.0%} of {number} starts end more than 1 nat below the best; "
        f"their label maps differ by up to {spread:.3f} Dice."
    )
    concern = suboptimal > 0 and spread > 1 - START_DICE
    advice = "The likelihood has several optima; compare them, or vote." if concern else ""
    yield Finding("start disagreement", suboptimal, concern, message, advice)
    overlap = float(starts.dice[starts.winner, 0])
    far = overlap < START_DICE
    message = f"The winner, start {starts.winner}, has Dice {overlap:.3f} to the first start."
    advice = "The most likely answer is far from the usual one; look at both." if far else ""
    yield Finding("winner far from first start", overlap, far, message, advice)
    switched = float(starts.switched.mean())
    higher = bool((starts.log_posterior[starts.switched] > best - ONE_NAT).any())
    concern = higher or bool(starts.switched[starts.winner])
    message = f"{switched:.0%} of the starts ended label-switched."
    advice = (
        "The data do not tell foreground from background; set priors above 1." if concern else ""
    )
    yield Finding("label switching", switched, concern, message, advice)
