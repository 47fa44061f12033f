"""Conformal thresholds with a guarantee for the next case, and the guarantee as a sentence.

Split conformal prediction (Vovk et al.; section 2.8.2 of "When Does Consensus Beat Voting?") and
conformal risk control (Angelopoulos et al., 2022). The exchangeable unit is the case, never the
voxel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Annotated

import numpy as np
import scipy

from itk_consensus.calibration.scores import ScoreDistribution, exact_decimal
from itk_consensus.core.constraints import Boolean, Choice, Real
from itk_consensus.storage.record import Part

UNITS = ("case", "voxel")
RISKS = ("miscoverage", "fnr", "max")
SCORES = ("distance", "probability")
NORMALIZATIONS = ("rater_spread", "none")

BACKGROUND_STRICTNESS = 4
"""The region's background is larger than the foreground and gets a smaller tolerance."""

TRUTH = "truth"
HELD_OUT_RATER = "held-out rater"
REFERENCE_KINDS = (TRUTH, HELD_OUT_RATER)

LIMIT = "no statistic of the raters can see an error that all of them share"
#: For each type of reference: two phrases for what is covered, and the limits of the guarantee.
WORDS = {
    TRUTH: ("the true", "the true", LIMIT),
    HELD_OUT_RATER: (
        "a new rater's",
        "that rater's",
        f"this covers a new rater, not the truth: {LIMIT}",
    ),
}


@dataclass(frozen=True)
class BandOptions(Part):
    """Settings on which a threshold depends; filters with equal settings can share a record."""

    alpha: Annotated[float, Real(0.0, 1.0)]  #: Probability of failure, or expected share missed
    #: Share of a case's foreground that may be missed; for the background, a quarter of it.
    tolerance: Annotated[float, Real(0.0, 1.0)]
    unit: Annotated[str, Choice(UNITS)]
    risk: Annotated[str, Choice(RISKS)]
    score: Annotated[str, Choice(SCORES)]
    normalization: Annotated[str, Choice(NORMALIZATIONS)]
    #: Whether there is one threshold per label instead of one for all
    mondrian: Annotated[bool, Boolean()]
    region_margin: Annotated[float, Real(0.0)]  #: Width in mm of the region around the consensus
    probability_is_vote_fraction: Annotated[bool, Boolean()]

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield options that are incompatible with each other."""
        if self.alpha in (0, 1):
            yield "Alpha", f"must be between 0 and 1, got {self.alpha:g}"
        if self.unit == "voxel" and self.risk != "miscoverage":
            yield "Risk", f"must be miscoverage with Unit voxel, got {self.risk}"

    @property
    def uses_spread(self) -> bool:
        """Whether scores are divided by the raters' spread."""
        return self.score == "distance" and self.normalization == "rater_spread"

    def label_tolerance(self, label: int) -> float:
        """Return the share of a label's voxels that a covered case may miss."""
        if self.risk == "max":
            return 0.0
        return self.tolerance if label else self.tolerance / BACKGROUND_STRICTNESS


@dataclass(frozen=True)
class Thresholds:
    """Thresholds, one for all labels or one per label, and the score of each case."""

    tau: tuple[float, ...]
    #: Number of exchangeable units (cases or voxels) from which the thresholds were computed
    number: int
    #: Score of each case for each threshold; for `fnr` and voxel-wise scores, the missed share.
    case_scores: tuple[tuple[float, ...], ...]
    coverage_range: tuple[float, float] | None  #: 10-90 % range of the coverage of new cases


CaseDistributions = Sequence[ScoreDistribution]
"""Scores of one case's reference voxels, one distribution per label."""


def conformal_rank(alpha: float, n: int) -> int:
    """Return k = ceil((1 - alpha)(n + 1)); the threshold is the k-th smallest of n scores."""
    return n + 1 - int(exact_decimal(alpha) * (n + 1))


def cases_needed(alpha: float) -> int:
    """Return the smallest number of cases for which the threshold is finite: ceil(1 /
    alpha) - 1.
    """
    return ceil(1 / exact_decimal(alpha)) - 1


def conformal_threshold(scores: Sequence[float], alpha: float) -> float:
    """Return the k-th smallest score; infinite if k exceeds the number of scores."""
    rank = conformal_rank(alpha, len(scores))
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else inf


def coverage_range(alpha: float, n: int) -> tuple[float, float]:
    """Return the 10th and 90th percentiles of the true coverage over calibration sets.

    Given the n calibration cases the coverage of further cases is Beta(k, n + 1 - k).
    """
    rank = conformal_rank(alpha, n)
    low, high = scipy.special.betaincinv(rank, n + 1 - rank, [0.1, 0.9])
    return float(low), float(high)


def case_loss(case: Sequence[ScoreDistribution], threshold: float) -> float:
    """Return the largest share of any label's voxels that is missed with a threshold."""
    return max(label.missed_share(threshold) for label in case)


def risk_threshold(cases: Sequence[Sequence[ScoreDistribution]], alpha: float) -> float:
    """Return the smallest threshold at which ``(sum of losses + 1) / (n + 1) <= alpha``.

    The expected loss of the next case is then at most alpha, since losses are at most 1 and
    non-increasing in the threshold. The sum changes only at observed scores, so it suffices to
    search these. Infinite if no threshold satisfies the condition.
    """
    occurring = [label.values for case in cases for label in case]
    candidates = np.append(np.unique(np.concatenate(occurring)), inf)
    first, last = 0, len(candidates) - 1
    while first < last:
        middle = (first + last) // 2
        total = sum(case_loss(case, candidates[middle]) for case in cases)
        if (total + 1) / (len(cases) + 1) <= alpha:
            last = middle
        else:
            first = middle + 1
    return float(candidates[first])


def find_thresholds(cases: Sequence[CaseDistributions], options: BandOptions) -> Thresholds:
    """Find thresholds that provide the guarantee of the options; infinite if there are too
    few cases.
    """
    labels = range(len(cases[0]))
    groups = [[label] for label in labels] if options.mondrian else [list(labels)]
    if options.unit == "voxel":
        return _voxel_thresholds(cases, groups, options.alpha)
    if options.risk == "fnr":
        return _risk_thresholds(cases, groups, options.alpha)
    return _coverage_thresholds(cases, groups, options)


def case_score(case: CaseDistributions, labels: Sequence[int], options: BandOptions) -> float:
    """Return the smallest threshold that covers every label up to its tolerated share."""
    return max(case[label].threshold_for(options.label_tolerance(label)) for label in labels)


def _coverage_thresholds(
    cases: Sequence[CaseDistributions], groups: Sequence[Sequence[int]], options: BandOptions
) -> Thresholds:
    scores = [[case_score(case, group, options) for case in cases] for group in groups]
    tau = tuple(conformal_threshold(column, options.alpha) for column in scores)
    n = len(cases)
    return Thresholds(tau, n, _by_case(scores), coverage_range(options.alpha, n))


def _risk_thresholds(
    cases: Sequence[CaseDistributions], groups: Sequence[Sequence[int]], alpha: float
) -> Thresholds:
    tau, missed = [], []
    for group in groups:
        chosen = [[case[label] for label in group] for case in cases]
        tau.append(risk_threshold(chosen, alpha))
        missed.append([case_loss(case, tau[-1]) for case in chosen])
    return Thresholds(tuple(tau), len(cases), _by_case(missed), None)


def _voxel_thresholds(
    cases: Sequence[CaseDistributions], groups: Sequence[Sequence[int]], alpha: float
) -> Thresholds:
    tau, missed, numbers = [], [], []
    for group in groups:
        pooled = [ScoreDistribution.pool([case[label] for label in group]) for case in cases]
        voxels = ScoreDistribution.pool(pooled)
        rank = conformal_rank(alpha, voxels.total)
        tau.append(voxels.smallest(rank) if rank <= voxels.total else inf)
        missed.append([case.missed_share(tau[-1]) for case in pooled])
        numbers.append(voxels.total)
    return Thresholds(tuple(tau), min(numbers), _by_case(missed), None)


def _by_case(columns: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(zip(*columns, strict=True))


def guarantee(options: BandOptions, number: int, labels: int, reference_kind: str) -> str:
    """Return the guarantee as a sentence, given the number of calibration cases (or voxels)."""
    if options.unit == "voxel":
        return (
            f"Of {number} pooled voxels {percent(1 - options.alpha)} had their label in the set, "
            "but voxels are not exchangeable: this promises nothing about any single case."
        )
    whose, again, limit = WORDS[reference_kind]
    foreground = f"{whose} foreground" if labels == 2 else f"each of {whose} labels"
    background = f"{again} background within {options.region_margin:g} mm of the consensus"
    start = f"In a new case drawn like the {number} calibration cases"
    if options.risk == "fnr":
        most = f"at most {percent(options.alpha)} of"
        lost = "are marked as the opposite" if labels == 2 else "lose their label"
        return f"{start}, on average {most} {foreground} and {most} {background} {lost}; {limit}."
    of_foreground, of_background = (least(options.label_tolerance(label)) for label in (1, 0))
    kept = "are marked as such or ambiguous" if labels == 2 else "keep their label in the set"
    separately = " (each with this chance, separately)" if options.mondrian else ""
    return (
        f"{start}, the chance is at least {percent(1 - options.alpha)} that {of_foreground} of "
        f"{foreground} and {of_background} of {background} {kept}{separately}; {limit}."
    )


def least(tolerance: float) -> str:
    return f"at least {percent(1 - tolerance)}" if tolerance else "all"


def percent(share: float) -> str:
    return f"{100 * share:.6g}%"
