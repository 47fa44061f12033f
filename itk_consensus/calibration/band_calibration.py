"""From the scores of calibration cases to thresholds, by unit, risk and Mondrian option."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from itk_consensus.calibration.risk_control import (
    case_loss,
    conformal_rank,
    conformal_threshold,
    coverage_range,
    risk_threshold,
)
from itk_consensus.calibration.score_distribution import ScoreDistribution

UNITS = ("case", "voxel")
RISKS = ("miscoverage", "fnr", "max")
SCORES = ("distance", "probability")
NORMALIZATIONS = ("rater_spread", "none")

BACKGROUND_STRICTNESS = 4
"""The region's background is larger than the foreground and gets a smaller tolerance."""


@dataclass(frozen=True)
class BandOptions:
    """What a threshold depends on; two filters with equal options can share it.

    Attributes
    ----------
    alpha : float
        Probability or expected share of failure.
    tolerance : float
        Share of a case's foreground that may be missed; a quarter of it for the background.
    unit, risk, score, normalization : str
        One of `UNITS`, `RISKS`, `SCORES`, `NORMALIZATIONS`.
    mondrian : bool
        One threshold per label instead of one for all.
    region_margin : float
        Width in mm of the region around the consensus.
    probability_is_vote_fraction : bool
    """

    alpha: float
    tolerance: float
    unit: str
    risk: str
    score: str
    normalization: str
    mondrian: bool
    region_margin: float
    probability_is_vote_fraction: bool

    @property
    def uses_spread(self) -> bool:
        """Whether scores are measured in spreads of the raters."""
        return self.score == "distance" and self.normalization == "rater_spread"

    def label_tolerance(self, label: int) -> float:
        """Share of a label's voxels that a covered case may miss."""
        if self.risk == "max":
            return 0.0
        return self.tolerance if label else self.tolerance / BACKGROUND_STRICTNESS


@dataclass(frozen=True)
class BandThresholds:
    """Thresholds, one for all labels or one per label, and how each case stands to them.

    Attributes
    ----------
    tau : tuple of float
    number : int
        Exchangeable units they were made from: cases, or voxels.
    case_scores : tuple of tuple of float
        For each case and threshold the score, or for `fnr` and voxels the share missed.
    coverage_range : (float, float) or None
        10-90 % range of the coverage of further cases.
    """

    tau: tuple[float, ...]
    number: int
    case_scores: tuple[tuple[float, ...], ...]
    coverage_range: tuple[float, float] | None


CaseDistributions = Sequence[ScoreDistribution]
"""Scores of one case's reference voxels, one distribution per label."""


def find_thresholds(cases: Sequence[CaseDistributions], options: BandOptions) -> BandThresholds:
    """Thresholds that keep the promise of the options; infinite if the cases cannot."""
    labels = range(len(cases[0]))
    groups = [[label] for label in labels] if options.mondrian else [list(labels)]
    if options.unit == "voxel":
        return _voxel_thresholds(cases, groups, options.alpha)
    if options.risk == "fnr":
        return _risk_thresholds(cases, groups, options.alpha)
    return _coverage_thresholds(cases, groups, options)


def case_score(case: CaseDistributions, labels: Sequence[int], options: BandOptions) -> float:
    """The smallest threshold that covers a case: all of each label but the tolerated share."""
    return max(case[label].threshold_for(options.label_tolerance(label)) for label in labels)


def _coverage_thresholds(
    cases: Sequence[CaseDistributions], groups: Sequence[Sequence[int]], options: BandOptions
) -> BandThresholds:
    scores = [[case_score(case, group, options) for case in cases] for group in groups]
    tau = tuple(conformal_threshold(column, options.alpha) for column in scores)
    n = len(cases)
    return BandThresholds(tau, n, _by_case(scores), coverage_range(options.alpha, n))


def _risk_thresholds(
    cases: Sequence[CaseDistributions], groups: Sequence[Sequence[int]], alpha: float
) -> BandThresholds:
    tau, missed = [], []
    for group in groups:
        chosen = [[case[label] for label in group] for case in cases]
        tau.append(risk_threshold(chosen, alpha))
        missed.append([case_loss(case, tau[-1]) for case in chosen])
    return BandThresholds(tuple(tau), len(cases), _by_case(missed), None)


def _voxel_thresholds(
    cases: Sequence[CaseDistributions], groups: Sequence[Sequence[int]], alpha: float
) -> BandThresholds:
    tau, missed, numbers = [], [], []
    for group in groups:
        pooled = [ScoreDistribution.pooled([case[label] for label in group]) for case in cases]
        voxels = ScoreDistribution.pooled(pooled)
        rank = conformal_rank(alpha, voxels.total)
        tau.append(voxels.smallest(rank) if rank <= voxels.total else inf)
        missed.append([case.missed(tau[-1]) for case in pooled])
        numbers.append(voxels.total)
    return BandThresholds(tuple(tau), min(numbers), _by_case(missed), None)


def _by_case(columns: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(zip(*columns, strict=True))
