"""Recalibration of probabilities, fitted to reference segmentations (Guo et al., 2017).

See section 2.8.1 of "When Does Consensus Beat Voting?". A temperature alone cannot correct the bias
of STAPLE, so a bias per label is added by default. Isotonic regression assumes only monotonicity.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import le, lt
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.calibration.probabilities import (
    ProbabilityCase,
    box_around,
    clip_probability,
    log_odds,
    one_per_label,
)
from itk_consensus.calibration.record import CalibrationRecord
from itk_consensus.calibration.reliability import Reliability, ScalingComparison, ScalingReport
from itk_consensus.core.array_types import Floats
from itk_consensus.core.constraints import Boolean, Choice, Integer, Real, Text, optional
from itk_consensus.space.distance import signed_distance
from itk_consensus.storage.record import Each, Members, OnePart, Part

METHODS = ("temperature_bias", "temperature", "isotonic")

_HIGHEST_TEMPERATURE = 100.0
_LARGEST_BIAS = 1e6


@dataclass(frozen=True)
class ScalingTable:
    """Distinct probabilities of the fitted voxels, with counts of their reference labels."""

    probabilities: Floats  #: (N, K)
    counts: Floats  #: (N, K) voxels with these probabilities, by reference label

    @classmethod
    def of(cls, probabilities: Sequence[NDArray[Any]], labels: NDArray[Any]) -> ScalingTable:
        """Build the table from flat arrays, one per label or for the foreground only."""
        if len(probabilities) == 1:
            distinct, row = np.unique(np.asarray(probabilities[0], np.float64), return_inverse=True)
            rows = np.stack([1 - distinct, distinct], axis=1)
        else:
            stacked = np.stack([np.asarray(p, np.float64) for p in probabilities], axis=1)
            rows, row = np.unique(stacked, axis=0, return_inverse=True)
        number = rows.shape[1]
        cells = row.ravel() * number + labels
        counts = np.bincount(cells, minlength=rows.size).reshape(rows.shape)
        return cls(rows, counts.astype(np.float64))

    @classmethod
    def concatenate(cls, tables: Sequence[ScalingTable]) -> ScalingTable:
        """Concatenate several tables."""
        return cls(
            np.concatenate([table.probabilities for table in tables]),
            np.concatenate([table.counts for table in tables]),
        )


@dataclass(frozen=True)
class LogitScaling(Part):
    """``softmax(ln p / temperature + bias)``."""

    # Slightly wider than the bounds of the fit, to allow for rounding of the logarithm
    #: Values above 1 soften probabilities, values below 1 sharpen them.
    temperature: Annotated[float, Real(0.99 / _HIGHEST_TEMPERATURE, 1.01 * _HIGHEST_TEMPERATURE)]
    #: Constant added to the logit of each label; 0 for the background.
    bias: Annotated[tuple[float, ...], Each(Real(-_LARGEST_BIAS, _LARGEST_BIAS), 2)]

    @property
    def labels(self) -> int:
        """Number of labels, K, including the background."""
        return len(self.bias)

    @classmethod
    def fit(cls, table: ScalingTable, *, with_bias: bool) -> LogitScaling:
        """Fit temperature and optional bias by maximum likelihood, which is a convex problem."""
        logits = np.log(clip_probability(table.probabilities))
        rows, voxels = table.counts.sum(axis=1, keepdims=True), table.counts.sum()
        number = logits.shape[1]

        def loss(parameters: Floats) -> tuple[float, Floats]:
            sharpness = np.exp(parameters[0])
            scaled = sharpness * logits + np.concatenate([[0.0], parameters[1:]])
            nats = -(table.counts * scipy.special.log_softmax(scaled, axis=1)).sum()
            slope = rows * scipy.special.softmax(scaled, axis=1) - table.counts
            gradient = np.append((slope * logits).sum() * sharpness, slope.sum(axis=0)[1:])
            return float(nats / voxels), gradient / voxels

        limit = np.log(_HIGHEST_TEMPERATURE)
        biases = [(None, None) if with_bias else (0.0, 0.0)] * (number - 1)
        found = scipy.optimize.minimize(
            loss,
            np.zeros(number),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-limit, limit), *biases],
            options={"ftol": 1e-14, "gtol": 1e-9},
        )
        return cls(float(np.exp(-found.x[0])), (0.0, *map(float, found.x[1:])))

    def apply(self, probabilities: Sequence[NDArray[Any]]) -> list[Floats]:
        """Scale probabilities: one array per label, or only that of the foreground."""
        if len(probabilities) == 1:
            odds = log_odds(probabilities[0])
            odds /= self.temperature
            odds += self.bias[1]
            return [scipy.special.expit(odds, out=odds)]
        logits = [
            np.log(clip_probability(p)) / self.temperature + b
            for p, b in zip(probabilities, self.bias, strict=True)
        ]
        return list(scipy.special.softmax(np.stack(logits), axis=0))


@dataclass(frozen=True)
class IsotonicScaling(Part):
    """A non-decreasing, piecewise linear curve per label."""

    knots: Annotated[tuple[tuple[float, ...], ...], Each(Each(Real(0.0, 1.0), 1), 2)]
    values: Annotated[tuple[tuple[float, ...], ...], Each(Each(Real(0.0, 1.0), 1), 2)]

    @property
    def labels(self) -> int:
        """Number of labels, K, including the background."""
        return len(self.knots)

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields: knots without values, or decreasing curves."""
        if [len(x) for x in self.knots] != [len(y) for y in self.values]:
            yield "knots", "must be as many as values"
        for rises, curves in ((lt, self.knots), (le, self.values)):
            if not all(rises(*two) for curve in curves for two in pairwise(curve)):
                yield "knots and values", "must rise"

    @classmethod
    def fit(cls, table: ScalingTable) -> IsotonicScaling:
        """Fit the curves by isotonic least squares."""
        curves = [
            _isotonic_curve(p, hits, table.counts.sum(axis=1))
            for p, hits in zip(table.probabilities.T, table.counts.T, strict=True)
        ]
        knots, values = zip(*curves, strict=True)
        return cls(knots, values)

    def apply(self, probabilities: Sequence[NDArray[Any]]) -> list[Floats]:
        """Scale probabilities: one array per label, or only that of the foreground."""
        if len(probabilities) == 1:
            return [np.interp(probabilities[0], self.knots[1], self.values[1])]
        curves = zip(probabilities, self.knots, self.values, strict=True)
        scaled = np.stack([np.interp(p, knots, values) for p, knots, values in curves])
        total = scaled.sum(axis=0)
        # If all curves are 0, there were no reference data, so all labels get the same probability.
        scaled[:, total == 0] = 1.0
        return list(scaled / scaled.sum(axis=0))


Scaling = LogitScaling | IsotonicScaling


def fit_scaling(table: ScalingTable, method: str) -> Scaling:
    """Fit a scaling by one of `METHODS`."""
    if method == "isotonic":
        return IsotonicScaling.fit(table)
    return LogitScaling.fit(table, with_bias=method == "temperature_bias")


def region_of(case: ProbabilityCase, margin: float) -> NDArray[np.bool_]:
    """Return the union of the raters' masks, or else the consensus, dilated by a margin in mm."""
    union = reduce(np.logical_or, [np.asarray(m) != 0 for m in case.raters or (case.consensus,)])
    region = np.zeros(union.shape, dtype=bool)
    if union.any():
        box = box_around(union, margin, case.spacing)
        region[box] = signed_distance(union[box], case.spacing) <= margin
    return region


def compare(
    case: ProbabilityCase, scaled: Sequence[NDArray[Any]], region: NDArray[np.bool_]
) -> ScalingComparison:
    """Compare the reliability of a case's probabilities before and after scaling."""
    reference = case.reference_labels()
    before, after = one_per_label(case.probabilities), one_per_label(scaled)
    return ScalingComparison(
        Reliability.of([p[region] for p in before], reference[region]),
        Reliability.of([p[region] for p in after], reference[region]),
        Reliability.of(before, reference),
        Reliability.of(after, reference),
    )


@dataclass(frozen=True)
class ScalingRecord(CalibrationRecord):
    """A fitted scaling."""

    schema = "itk_consensus temperature scaling"

    method: Annotated[str, Choice(METHODS)]
    scaling: Annotated[Scaling, OnePart(LogitScaling, IsotonicScaling)]
    labels: Annotated[int, Integer(2, 2**16)]  #: K, including the background
    number: Annotated[int, Integer(1), "n"]  #: Number of cases to which the scaling was fitted
    region_margin: Annotated[float, Real(0.0), "region_margin_mm"]
    probability_is_vote_fraction: Annotated[bool, Boolean()]
    rater_count: Annotated[int | None, optional(Integer(1))]
    #: Reliability on the cases used in the fit
    report: Annotated[ScalingReport, OnePart(ScalingReport)]
    versions: Annotated[Mapping[str, str], Members(Text(may_be_empty=True))]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the filter that made the record."""
        names = ("method", "region_margin", "probability_is_vote_fraction")
        return {name: getattr(self, name) for name in names}

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield inconsistent fields: method, number of labels, or vote fractions without raters."""
        if (self.method == "isotonic") != isinstance(self.scaling, IsotonicScaling):
            yield "scaling", f"is not of method {self.method}"
        if self.scaling.labels != self.labels:
            yield "scaling", f"is for {self.scaling.labels} labels, not for {self.labels}"
        if self.probability_is_vote_fraction and self.rater_count is None:
            yield "rater_count", "must be known for vote fractions"


def _isotonic_curve(p: Floats, hits: Floats, voxels: Floats) -> tuple[Any, Any]:
    distinct, row = np.unique(p, return_inverse=True)
    weights = np.bincount(row, voxels)
    curve = scipy.optimize.isotonic_regression(np.bincount(row, hits) / weights, weights=weights).x
    # Only the ends of each constant segment are needed as knots.
    changes = np.diff(curve) != 0
    ends = np.append(True, changes) | np.append(changes, True)
    return tuple(distinct[ends].tolist()), tuple(curve[ends].clip(0, 1).tolist())


# -- choosing a method ------------------------------------------------------------------------


#: Maximum number of cross-validation folds.
FOLDS = 5


class ScalingChoice(NamedTuple):
    """A scaling, with the cross-validated mean log loss in nats per voxel."""

    scaling: Scaling  #: The identity if `after` is not below `before`
    before: float  #: Loss without scaling; NaN for a single case, which cannot be cross-validated
    after: float  #: Loss with scaling

    @property
    def is_identity(self) -> bool:
        """Whether the scaling leaves probabilities unchanged."""
        return bool(self.after >= self.before)


def choose_scaling(tables: Sequence[ScalingTable], method: str) -> ScalingChoice:
    """Fit one of `METHODS`; return the identity if cross-validation shows no gain."""
    fitted = fit_scaling(ScalingTable.concatenate(tables), method)
    used = [table for table in tables if len(table.counts)]
    folds = min(FOLDS, len(used))
    if folds < 2:
        return ScalingChoice(fitted, np.nan, np.nan)
    before = after = 0.0
    for fold in range(folds):
        kept = [table for number, table in enumerate(used) if number % folds != fold]
        left_out = ScalingTable.concatenate(used[fold::folds])
        before += log_loss(left_out, None)
        after += log_loss(left_out, fit_scaling(ScalingTable.concatenate(kept), method))
    voxels = sum(float(table.counts.sum()) for table in used)
    choice = ScalingChoice(fitted, before / voxels, after / voxels)
    return choice._replace(scaling=identity(fitted)) if choice.is_identity else choice


def identity(like: Scaling) -> Scaling:
    """Return the identity scaling of the same kind."""
    if isinstance(like, LogitScaling):
        return LogitScaling(1.0, (0.0,) * like.labels)
    return IsotonicScaling(((0.0, 1.0),) * like.labels, ((0.0, 1.0),) * like.labels)


def log_loss(table: ScalingTable, scaling: Scaling | None) -> float:
    """Return the total log loss of all voxels, in nats."""
    shares = table.probabilities
    if scaling is not None:
        shares = np.stack(scaling.apply(list(shares.T)), axis=1)
    return float(-(table.counts * np.log(clip_probability(shares))).sum())
