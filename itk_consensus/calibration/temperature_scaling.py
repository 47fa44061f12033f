"""Maps that make probabilities honest, fitted to references (section 2.8.1; Guo et al., 2017).

A temperature alone cannot repair STAPLE: its error has a direction, so a bias per label is added
by default. Isotonic regression assumes nothing but that order is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, log_softmax, softmax

from itk_consensus.calibration.log_odds import clipped, log_odds

METHODS = ("temperature_bias", "temperature", "isotonic")

Floats = NDArray[np.float64]

_HIGHEST_TEMPERATURE = 100.0


@dataclass(frozen=True)
class ScalingTable:
    """Distinct probabilities of the voxels to fit, and how often each label was right.

    Attributes
    ----------
    probabilities : (N, K) ndarray
    counts : (N, K) ndarray
        Voxels with these probabilities whose reference is each label.
    """

    probabilities: Floats
    counts: Floats

    @classmethod
    def of(cls, probabilities: Sequence[NDArray[Any]], labels: NDArray[Any]) -> ScalingTable:
        """Tabulate voxels: one flat array per label, or the foreground's alone."""
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
    def joined(cls, tables: Sequence[ScalingTable]) -> ScalingTable:
        """All voxels of several tables."""
        return cls(
            np.concatenate([table.probabilities for table in tables]),
            np.concatenate([table.counts for table in tables]),
        )


@dataclass(frozen=True)
class LogitScaling:
    """``softmax(ln p / temperature + bias)``.

    Attributes
    ----------
    temperature : float
        Above 1 softens, below 1 sharpens.
    bias : tuple of K float
        Added to each label's logit; the background's is 0.
    """

    temperature: float
    bias: tuple[float, ...]

    @classmethod
    def fit(cls, table: ScalingTable, *, with_bias: bool) -> LogitScaling:
        """The temperature, and bias if wanted, of the highest likelihood; the problem is convex."""
        logits = np.log(clipped(table.probabilities))
        rows, voxels = table.counts.sum(axis=1, keepdims=True), table.counts.sum()
        number = logits.shape[1]

        def loss(parameters: Floats) -> tuple[float, Floats]:
            sharpness = np.exp(parameters[0])
            scaled = sharpness * logits + np.concatenate([[0.0], parameters[1:]])
            nats = -(table.counts * log_softmax(scaled, axis=1)).sum()
            slope = rows * softmax(scaled, axis=1) - table.counts
            gradient = np.append((slope * logits).sum() * sharpness, slope.sum(axis=0)[1:])
            return float(nats / voxels), gradient / voxels

        limit = np.log(_HIGHEST_TEMPERATURE)
        biases = [(None, None) if with_bias else (0.0, 0.0)] * (number - 1)
        found = minimize(
            loss,
            np.zeros(number),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-limit, limit), *biases],
            options={"ftol": 1e-14, "gtol": 1e-9},
        )
        return cls(float(np.exp(-found.x[0])), (0.0, *map(float, found.x[1:])))

    def apply(self, probabilities: Sequence[NDArray[Any]]) -> list[Floats]:
        """Scaled probabilities: as many arrays as were given, one per label or the foreground's."""
        if len(probabilities) == 1:
            odds = log_odds(probabilities[0])
            odds /= self.temperature
            odds += self.bias[1]
            return [expit(odds, out=odds)]
        logits = [
            np.log(clipped(p)) / self.temperature + b
            for p, b in zip(probabilities, self.bias, strict=True)
        ]
        return list(softmax(np.stack(logits), axis=0))


@dataclass(frozen=True)
class IsotonicScaling:
    """A rising curve per label, linear between its knots.

    Attributes
    ----------
    knots, values : tuple of K ndarray
    """

    knots: tuple[Floats, ...]
    values: tuple[Floats, ...]

    @classmethod
    def fit(cls, table: ScalingTable) -> IsotonicScaling:
        """The rising curves with the least squared error."""
        curves = [
            _isotonic_curve(p, hits, table.counts.sum(axis=1))
            for p, hits in zip(table.probabilities.T, table.counts.T, strict=True)
        ]
        knots, values = zip(*curves, strict=True)
        return cls(knots, values)

    def apply(self, probabilities: Sequence[NDArray[Any]]) -> list[Floats]:
        """Scaled probabilities: as many arrays as were given, one per label or the foreground's."""
        if len(probabilities) == 1:
            return [np.interp(probabilities[0], self.knots[1], self.values[1])]
        curves = zip(probabilities, self.knots, self.values, strict=True)
        scaled = np.stack([np.interp(p, knots, values) for p, knots, values in curves])
        total = scaled.sum(axis=0)
        # Where every curve is 0 the references never went; nothing is known there.
        scaled[:, total == 0] = 1.0
        return list(scaled / scaled.sum(axis=0))


Scaling = LogitScaling | IsotonicScaling


def fit_scaling(table: ScalingTable, method: str) -> Scaling:
    """Fit one of `METHODS`."""
    if method == "isotonic":
        return IsotonicScaling.fit(table)
    return LogitScaling.fit(table, with_bias=method == "temperature_bias")


def smoothed_votes(fractions: Sequence[NDArray[Any]], raters: int) -> list[Floats]:
    """``(votes + 1/2) / (raters + labels / 2)``: shares of votes that are never 0 or 1."""
    labels = max(len(fractions), 2)
    return [(np.asarray(f, np.float64) * raters + 0.5) / (raters + labels / 2) for f in fractions]


def _isotonic_curve(p: Floats, hits: Floats, voxels: Floats) -> tuple[Floats, Floats]:
    distinct, row = np.unique(p, return_inverse=True)
    weights = np.bincount(row, voxels)
    curve = isotonic_regression(np.bincount(row, hits) / weights, weights=weights).x
    # Only the ends of each flat piece are needed.
    changes = np.diff(curve) != 0
    ends = np.append(True, changes) | np.append(changes, True)
    return distinct[ends], np.asarray(curve[ends], dtype=np.float64)
