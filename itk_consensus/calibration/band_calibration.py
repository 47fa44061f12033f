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


def find_thresholds(cases: Sequence[CaseDistributions], options: BandOptions) -> BandThresholds:
    """Thresholds of the calibration cases, each given by its labels' score distributions.

    Infinite where the cases are too few or too far off.
    """
    groups = _label_groups(len(cases[0]), options.mondrian)
    columns = [[[case[label] for label in group] for case in cases] for group in groups]
    if options.unit == "voxel":
        pooled = [
            ScoreDistribution.pooled([part for case in column for part in case])
            for column in columns
        ]
        tau = tuple(_pooled_threshold(voxels, options.alpha) for voxels in pooled)
        missed = [
            [ScoreDistribution.pooled(case).missed(limit) for case in column]
            for column, limit in zip(columns, tau, strict=True)
        ]
        number = min(voxels.total for voxels in pooled)
        return BandThresholds(tau, number, _by_case(missed), None)
    if options.risk == "fnr":
        tau = tuple(risk_threshold(column, options.alpha) for column in columns)
        missed = [
            [case_loss(case, limit) for case in column]
            for column, limit in zip(columns, tau, strict=True)
        ]
        return BandThresholds(tau, len(cases), _by_case(missed), None)
    scores = [[case_score(case, group, options) for case in cases] for group in groups]
    tau = tuple(conformal_threshold(column, options.alpha) for column in scores)
    coverage = coverage_range(options.alpha, len(cases)) if inf not in tau else None
    return BandThresholds(tau, len(cases), _by_case(scores), coverage)


def case_score(
    case: CaseDistributions, labels: Sequence[int], options: BandOptions
) -> float:
    """The smallest threshold that covers a case: each label's voxels but a tolerated share."""
    return max(case[label].threshold_for(options.label_tolerance(label)) for label in labels)


def _label_groups(number: int, mondrian: bool) -> list[list[int]]:
    """Labels that share a threshold."""
    return [[label] for label in range(number)] if mondrian else [list(range(number))]


def _pooled_threshold(voxels: ScoreDistribution, alpha: float) -> float:
    rank = conformal_rank(alpha, voxels.total)
    return voxels.smallest(rank) if rank <= voxels.total else inf


def _by_case(columns: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(zip(*columns, strict=True))
