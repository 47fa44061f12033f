"""Reliability of probabilities: ECE, Brier score and log loss (section 2.8.1 of "When Does
Consensus Beat Voting?").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.probabilities import clip_probability, consensus_labels
from itk_consensus.core.constraints import Real
from itk_consensus.storage.record import OnePart, Part

BINS = 15


@dataclass(frozen=True)
class ReliabilityCurve:
    """Sums over voxels in bins of equal width of the predicted probability."""

    counts: NDArray[np.float64]  #: (BINS,) voxels in each bin
    predicted: NDArray[np.float64]  #: (BINS,) sum of the predicted probabilities of these voxels
    observed: NDArray[np.float64]  #: (BINS,) voxels for which the event occurred

    @classmethod
    def of(cls, probability: NDArray[Any], happened: NDArray[np.bool_]) -> ReliabilityCurve:
        """Bin the probabilities of an event by value; p = 1 is in the last bin."""
        bins = np.minimum((probability * BINS).astype(np.intp), BINS - 1)
        ones = np.ones(len(bins))
        sums = [np.bincount(bins, weights, BINS) for weights in (ones, probability, happened)]
        return cls(*(np.asarray(column, dtype=np.float64) for column in sums))

    def __add__(self, other: ReliabilityCurve) -> ReliabilityCurve:
        both = zip(vars(self).values(), vars(other).values(), strict=True)
        return ReliabilityCurve(*(mine + theirs for mine, theirs in both))

    @property
    def expected_calibration_error(self) -> float:
        """ECE: mean absolute difference between predicted and observed frequency, weighted
        by voxels.
        """
        gaps = np.abs(self.predicted - self.observed)
        return float(gaps.sum() / max(self.counts.sum(), 1.0))


@dataclass(frozen=True)
class Reliability:
    """Sums over voxels from which all measures are computed; they can be added over cases."""

    label_curves: tuple[ReliabilityCurve, ...]  #: (K - 1,) one per label except the background
    top_curve: ReliabilityCurve  #: For the most probable label
    squares: float  #: Summed squared error
    surprise: float  #: Summed log loss

    @classmethod
    def of(cls, probabilities: Sequence[NDArray[Any]], labels: NDArray[Any]) -> Reliability:
        """Compare probabilities, one array per label, background first, with reference labels."""
        flat = [np.asarray(p, dtype=np.float64).ravel() for p in probabilities]
        truth = np.asarray(labels).ravel()
        is_label = [truth == label for label in range(len(flat))]
        top_is_right = consensus_labels(flat) == truth
        given = np.select(is_label, flat, np.nan)
        # Half the sum over labels; for two labels this is (p - y)², as in the paper.
        squares = sum(float(((p - y) ** 2).sum()) for p, y in zip(flat, is_label, strict=True)) / 2
        return cls(
            tuple(ReliabilityCurve.of(p, y) for p, y in zip(flat[1:], is_label[1:], strict=True)),
            ReliabilityCurve.of(reduce(np.maximum, flat), top_is_right),
            squares,
            float(-np.log(clip_probability(given)).sum()),
        )

    def __add__(self, other: Reliability) -> Reliability:
        return Reliability(
            tuple(a + b for a, b in zip(self.label_curves, other.label_curves, strict=True)),
            self.top_curve + other.top_curve,
            self.squares + other.squares,
            self.surprise + other.surprise,
        )

    def summary(self) -> ReliabilitySummary:
        """Compute the measures."""
        voxels = max(float(self.top_curve.counts.sum()), 1.0)
        per_label = [curve.expected_calibration_error for curve in self.label_curves]
        return ReliabilitySummary(
            float(np.mean(per_label)),
            self.top_curve.expected_calibration_error,
            self.squares / voxels,
            self.surprise / voxels,
        )


@dataclass(frozen=True)
class ReliabilitySummary(Part):
    """Four measures of calibration; smaller values are better."""

    #: Expected calibration error per label, averaged over the labels except the background.
    class_ece: Annotated[float, Real(0.0)]
    top_label_ece: Annotated[float, Real(0.0)]  #: The same for the most probable label
    brier: Annotated[float, Real(0.0)]  #: Mean squared error
    nll: Annotated[float, Real(0.0)]  #: Mean negative log likelihood, in nats


@dataclass(frozen=True)
class ScalingReport(Part):
    """Reliability before and after scaling, in the region and in the whole image."""

    region_before: Annotated[ReliabilitySummary, OnePart(ReliabilitySummary)]
    region_after: Annotated[ReliabilitySummary, OnePart(ReliabilitySummary)]
    image_before: Annotated[ReliabilitySummary, OnePart(ReliabilitySummary)]
    image_after: Annotated[ReliabilitySummary, OnePart(ReliabilitySummary)]

    def __str__(self) -> str:
        rows = [("", *(name.replace("_", " ") for name in asdict(self.region_before)))]
        rows += [
            (place.replace("_", " "), *(f"{value:.4f}" for value in measures.values()))
            for place, measures in asdict(self).items()
        ]
        return "\n".join(
            f"{row[0]:<14}" + "".join(f"{cell:>15}" for cell in row[1:]) for row in rows
        )


@dataclass(frozen=True)
class ScalingComparison:
    """Sums from which a report and reliability diagrams are computed; they can be added
    over cases.
    """

    region_before: Reliability
    region_after: Reliability
    image_before: Reliability
    image_after: Reliability

    def __add__(self, other: ScalingComparison) -> ScalingComparison:
        both = zip(vars(self).values(), vars(other).values(), strict=True)
        return ScalingComparison(*(mine + theirs for mine, theirs in both))

    def report(self) -> ScalingReport:
        """Compute the measures."""
        return ScalingReport(*(place.summary() for place in vars(self).values()))
