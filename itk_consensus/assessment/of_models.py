"""Rules about a model's estimate of the raters' performance.

All rules work on decision patterns and are fast, including the refit with ten times the background.
Equation and section numbers refer to "When Does Consensus Beat Voting?". According to
``examples/benchmarks/findings/diagnostics_evidence.py``, the rules fire nearly as often for good
results as for bad ones; therefore all are notes, except those for a label-switched optimum and for
a rater below chance. Equations 27-29 test whether a map is merely a thresholded average of the
masks (Van Leemput & Sabuncu, MICCAI 2014).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.assessment.judged_fusion import JudgedFusion
from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.near_copies import MOST_RATERS
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice_of

if TYPE_CHECKING:
    from itk_consensus.methods.staple.staple_result import StartSummary

RATER_AT_CHANCE = 0.5  # minimum performance for diagonal dominance, section 2.4.1
# a rater whose sensitivity + specificity - 1 is below this contributes little information
LITTLE_INFORMATION = 0.2
# a start whose log posterior is below the best by more than this is suboptimal, section 4.2
ONE_NAT = 1.0
START_DICE = 0.95  # label maps of two starts with a lower Dice are considered different
CERTAIN = 0.01  # a probability within this distance of 0 or 1 is considered certain
OVERCONFIDENT = 0.5  # maximum share of disputed voxels whose probability is certain
# minimum Dice with a thresholded vote at which a map counts as equivalent to it
NEARLY_A_VOTE = 0.95
# excess agreement between two raters, as a share of the agreement not expected by chance
AGREEMENT_BEYOND_MODEL = 0.3
BACKGROUND_FACTOR = 10.0
BACKGROUND_CHANGE = 0.05  # relative change in volume caused by the additional background

_ROUNDING = 1e-9


def diagnose_model(judged: JudgedFusion) -> Iterator[Finding]:
    """Apply the rules whose input values are available."""
    if judged.answer_facts.theta is not None:
        yield from performance(judged, judged.answer_facts.theta)
        yield correlated_raters(judged, judged.answer_facts.theta)
        yield background_size(judged)
        yield overconfidence(judged)
        yield regularisation_target(judged)
        if judged.patterns.number_of_labels == 2:
            yield thresholding(judged)
    if judged.answer_facts.starts is not None:
        yield from start_disagreement(judged.answer_facts.starts)


def performance(judged: JudgedFusion, theta: Floats) -> Iterator[Finding]:
    """Find raters with a performance below 1/2 or an implausible one (sections 2.4.1 and
    5.2, R2).
    """
    diagonal = np.einsum("jkk->jk", theta)
    defined = np.where(np.isnan(diagonal), 1.0, diagonal)
    lowest = float(defined.min())
    worst = (int(defined.min(axis=1).argmin()),)
    note: Severity = "note" if lowest < RATER_AT_CHANCE else None
    facts = {"lowest": lowest}
    kind = "" if note else "fine"
    yield Finding("rater under one half", lowest, note, worst, facts=facts, kind=kind)
    rule, labels = "implausible performance", diagonal.shape[1]
    information = (defined.sum(axis=1) - 1) / max(labels - 1, 1)
    yield from _below_chance(information)
    annotated = np.asarray(judged.patterns.present.any(axis=0))
    infallible = np.argwhere((diagonal == 1) & annotated[:, None])
    least = float(information.min())
    found = False
    few = (information < LITTLE_INFORMATION) & (information >= -_ROUNDING)
    for rater in np.flatnonzero(few):
        facts, found = {"information": float(information[rater])}, True
        yield Finding(rule, least, "note", (int(rater),), facts=facts, kind="guesses")
    who = tuple(sorted(set(infallible[:, 0].tolist())))
    if len(who) > 1 and len(who) == annotated.sum():
        # Every rater appears infallible, so none can outvote the others.
        yield Finding(rule, least, "note", kind="everybody")
    elif len(who) == 1:
        errs = _errors_never_made(judged.patterns.labels, set(infallible[:, 1].tolist()))
        yield Finding(rule, least, "note", who, facts={"errs": errs})
    elif who:
        yield Finding(rule, least, "note", who, kind="several")
    found = found or bool(who)
    if not found:
        yield Finding(rule, least, None, kind="fine")


def _below_chance(information: Floats) -> Iterator[Finding]:
    """Find raters whose votes support the opposite label (no diagonal dominance, section 2.4.1)."""
    rule, least = "rater below chance", float(information.min())
    for rater in np.flatnonzero(information < -_ROUNDING):
        facts = {"information": float(information[rater])}
        yield Finding(rule, least, "look", (int(rater),), facts=facts)
    if least >= -_ROUNDING:
        yield Finding(rule, least, None, kind="fine")


def _errors_never_made(labels: NDArray[Any], classes: set[int]) -> str:
    """Name the errors that a rater with perfect performance for these classes never makes."""
    if len(labels) > 2 or len(classes) > 1 or labels[0] != 0:
        return "errs"
    return "marks too much" if classes == {0} else "leaves anything out"


def correlated_raters(judged: JudgedFusion, theta: Floats) -> Finding:
    """Find two raters who agree more often than independent raters would (section 2.4.4)."""
    rule = "correlated raters"
    if len(theta) > MOST_RATERS:
        return Finding(rule, None, None, kind="many", facts={"number": len(theta)})
    kept, patterns, posterior = _without_copies(judged)
    if len(kept) < len(theta):
        # Copies make each other appear infallible and others poor; estimate again without them.
        from itk_consensus.methods.staple.staple import MULTILABEL, staple

        alone = staple(patterns, MULTILABEL.for_variant("advanced"))
        theta, posterior = alone.theta, alone.posterior
    beyond = agreement_beyond_model(patterns, posterior, theta)
    if not np.isfinite(beyond).any():
        return Finding(rule, None, None, kind="fine")
    pair = np.unravel_index(np.nanargmax(beyond), beyond.shape)
    value = float(beyond[pair])
    severity: Severity = "note" if value > AGREEMENT_BEYOND_MODEL else None
    who = tuple(sorted(int(kept[rater]) for rater in pair))
    kind = "" if severity else "fine"
    return Finding(rule, value, severity, who, facts={"beyond": value}, kind=kind)


def _without_copies(judged: JudgedFusion) -> tuple[NDArray[np.intp], DecisionPatterns, Floats]:
    """Keep one rater per group of copies; return their indices, their votes and the posterior."""
    copies = {rater for group in judged.copies for rater in sorted(group)[1:]}
    raters = judged.patterns.number_of_raters
    kept = np.array([rater for rater in range(raters) if rater not in copies], np.intp)
    if not copies:
        return kept, judged.patterns, judged.posterior()
    table = judged.patterns
    votes = np.ascontiguousarray(table.patterns[:, kept])
    return kept, DecisionPatterns(votes, table.counts, table.labels), judged.posterior()


def agreement_beyond_model(patterns: DecisionPatterns, posterior: Floats, theta: Floats) -> Floats:
    """Return the (J, J) excess agreement (observed - expected) / (1 - expected); NaN on the
    diagonal.
    """
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
    # Undefined for raters without errors, for whom the expected agreement is 1.
    beyond[expected >= 1 - 1e-12] = np.nan
    np.fill_diagonal(beyond, np.nan)
    return np.asarray(beyond)


def background_size(judged: JudgedFusion) -> Finding:
    """Test whether adding empty background changes the result (section 2.3.5)."""
    rule = "background size"
    if judged.answer_facts.refit is None:
        return Finding(rule, 0.0, None, kind="fine")
    larger = with_more_background(judged.patterns, BACKGROUND_FACTOR)
    decision = judged.answer_facts.refit(larger)
    before = judged.volume(judged.foreground)
    moved = JudgedFusion(judged.patterns, decision, judged.posterior)
    change = (moved.volume(moved.foreground) - before) / max(before, 1)
    severity: Severity = "note" if abs(change) > BACKGROUND_CHANGE else None
    facts = {"times": BACKGROUND_FACTOR, "change": change}
    return Finding(rule, change, severity, facts=facts, kind="" if severity else "fine")


def with_more_background(patterns: DecisionPatterns, factor: float) -> DecisionPatterns:
    """Multiply the unanimous background voxels of a pattern table by `factor`."""
    values = np.append(patterns.labels, -1)[patterns.patterns]
    background = patterns.unanimous & (np.where(patterns.present, values, 0) == 0).all(axis=1)
    counts = np.where(background, np.rint(factor * patterns.counts), patterns.counts)
    return DecisionPatterns(
        patterns.patterns, counts.astype(np.int64), patterns.labels, patterns.strata
    )


def thresholding(judged: JudgedFusion) -> Finding:
    """Test whether the result is a thresholded average of the masks (section 2.3.4, eqs. 27-29)."""
    told = judged.answer_facts
    found = equivalent_threshold(
        judged.patterns, judged.foreground, told.pseudo_counts, told.prior_counts
    )
    facts = {
        "threshold": found.threshold,
        "dice": found.dice,
        "implied": found.implied,
        "dice_implied": found.dice_implied,
    }
    kind = "" if found.dice_implied >= NEARLY_A_VOTE else "differs"
    return Finding("thresholding", found.dice, None, facts=facts, kind=kind)


def overconfidence(judged: JudgedFusion) -> Finding:
    """Find probabilities near 0 or 1 at voxels where raters differ (section 5.2, R4)."""
    rule, table = "overconfidence", judged.patterns
    disputed = table.present.any(axis=1) & ~table.unanimous
    number = judged.volume(disputed)
    if not number:
        return Finding(rule, None, None, kind="fine")
    certain = judged.posterior().max(axis=1) > 1 - CERTAIN
    share = judged.volume(disputed & certain) / number
    severity: Severity = "note" if share > OVERCONFIDENT else None
    facts = {"share": share, "near": CERTAIN}
    return Finding(rule, share, severity, facts=facts, kind="" if severity else "fine")


def regularisation_target(judged: JudgedFusion) -> Finding:
    """Warn if the requested regularisation target was replaced because it was implausible
    (section 5.1, c).
    """
    rule = "regularisation target"
    if judged.answer_facts.replaced_target:
        return Finding(rule, None, "look")
    return Finding(rule, None, None, kind="fine")


def start_disagreement(starts: StartSummary) -> Iterator[Finding]:
    """Test whether other starts converge to different, better or label-switched optima
    (section 4.2).
    """
    number = len(starts.log_posterior)
    if number == 1:
        yield Finding("start disagreement", None, "note", kind="one")
        return
    best = np.nanmax(starts.log_posterior)
    suboptimal = float((starts.log_posterior < best - ONE_NAT).mean())
    spread = float(1 - starts.dice[starts.winner].min())
    several: Severity = "note" if suboptimal > 0 and spread > 1 - START_DICE else None
    facts: dict[str, Any] = {"share": suboptimal, "number": number, "apart": spread}
    yield Finding("start disagreement", suboptimal, several, facts=facts)
    overlap = float(starts.dice[starts.winner, 0])
    far: Severity = "note" if overlap < START_DICE else None
    yield Finding("winner far from first start", overlap, far, facts={"dice": overlap})
    switched = float(starts.switched.mean())
    higher = bool((starts.log_posterior[starts.switched] > best - ONE_NAT).any())
    winner = bool(starts.switched[starts.winner])
    mirrored: Severity = "do not use" if winner else "look" if higher else None
    facts = {"share": switched, "which": f"the chosen one {'' if winner else 'not '}among them"}
    yield Finding("label switching", switched, mirrored, facts=facts)


@dataclass(frozen=True)
class ThresholdEquivalence:
    """Similarity of a binary map to a thresholded vote fraction."""

    threshold: float  #: Threshold of the vote fraction that gives the closest map
    dice: float  #: Dice with that map
    slope: float  #: Slope of the log odds as a linear function of the vote fraction (eqs. 28, 29)
    offset: float  #: Offset of this linear function
    #: Dice with the vote fraction thresholded at the value for which the log odds are zero
    dice_implied: float

    @property
    def implied(self) -> float:
        """The vote fraction at which the log odds are zero."""
        return -self.offset / self.slope if self.slope else float("nan")


def equivalent_threshold(
    patterns: DecisionPatterns,
    foreground: NDArray[np.bool_],
    pseudo_counts: Floats | float = 0.0,
    prior_counts: Floats | float = 0.0,
) -> ThresholdEquivalence:
    """Return the level (l - 1/2) / J at which the thresholded vote is closest to the map.

    Parameters
    ----------
    pseudo_counts, prior_counts : (K, K) and (K,) ndarray, or float
        alpha[d, t] and alpha[t] of the model, which determine the threshold implied by the log
        odds.
    """
    raters = patterns.number_of_raters
    votes = patterns.votes()
    fraction = votes[:, 1] / np.maximum(votes.sum(axis=1), 1)
    levels = (np.arange(raters) + 0.5) / raters
    slope, offset = log_odds_line(patterns, foreground, pseudo_counts, prior_counts)
    implied = -offset / slope if slope else np.nan
    # The tolerance includes fractions that equal a threshold up to rounding.
    maps = fraction[:, None] >= np.append(levels, implied) - _ROUNDING
    counts = patterns.counts.astype(np.float64)
    both = counts @ (maps & foreground[:, None])
    total = counts @ maps + counts @ foreground
    dice = dice_of(both, total)
    best = int(dice[:-1].argmax())
    return ThresholdEquivalence(
        float(levels[best]), float(dice[best]), slope, offset, float(dice[-1])
    )


def log_odds_line(
    patterns: DecisionPatterns,
    foreground: NDArray[np.bool_],
    pseudo_counts: Floats | float = 0.0,
    prior_counts: Floats | float = 0.0,
) -> tuple[float, float]:
    """Return the slope and offset of the conditional log odds around a map, eqs. 27-29."""
    truth = np.stack([~foreground, foreground], axis=1) * patterns.counts[:, None]
    table = patterns.tally(truth) + pseudo_counts + 1
    c = np.log(table / table.sum(axis=1, keepdims=True))
    mean = c.mean(axis=0)
    raters = patterns.number_of_raters
    prior = np.log(truth.sum(axis=0) + prior_counts + 1)
    slope = raters * (mean[0, 0] + mean[1, 1] - mean[1, 0] - mean[0, 1])
    offset = raters * (mean[0, 1] - mean[0, 0]) + prior[1] - prior[0]
    return float(slope), float(offset)
