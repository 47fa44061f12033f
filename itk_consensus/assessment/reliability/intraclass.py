"""Intraclass correlation of a quantity that several raters measure for each of several cases.

Six forms by Shrout and Fleiss (Psychol Bull 86:420-428, 1979), with the intervals of McGraw and
Wong (Psychol Methods 1:30-46, 1996):

========  ============================================  ======================
form      raters                                        a systematic bias
========  ============================================  ======================
ICC(1,1)  different ones for each case                  counts as disagreement
ICC(2,1)  the same for all cases, a random sample       counts as disagreement
ICC(3,1)  the same for all cases, no others matter      is ignored
========  ============================================  ======================

ICC(., k) is the reliability of the mean of k raters instead of that of a single rater.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError

LEVEL = 0.95
"""Confidence level of the intervals."""


@dataclass(frozen=True)
class IntraclassCorrelation:
    """One form of the coefficient."""

    form: str  #: Name of the form, e.g. "ICC(2,1)"
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class MeanSquares:
    """The two-way analysis of variance of a table of cases by raters."""

    cases: int
    raters: int
    between: float  #: Mean square between cases
    of_raters: float  #: Mean square between raters
    error: float  #: Residual mean square

    @classmethod
    def of(cls, values: ArrayLike) -> MeanSquares:
        """Analyse an (N, J) table without missing values, at least two by two."""
        table = complete_table(values)
        n, k = table.shape
        grand = table.mean()
        of_cases = k * np.square(table.mean(axis=1) - grand).sum()
        of_raters = n * np.square(table.mean(axis=0) - grand).sum()
        rest = max(float(np.square(table - grand).sum() - of_cases - of_raters), 0.0)
        between, of_rater = float(of_cases) / (n - 1), float(of_raters) / (k - 1)
        return cls(n, k, between, of_rater, rest / ((n - 1) * (k - 1)))

    @property
    def within(self) -> float:
        """Mean square within cases (one-way analysis, without a rater effect)."""
        n, k = self.cases, self.raters
        return (self.of_raters * (k - 1) + self.error * (n - 1) * (k - 1)) / (n * (k - 1))


def complete_table(values: ArrayLike) -> Floats:
    """Convert values to an (N, J) table and check it.

    Raises
    ------
    InputError
        There are fewer than two cases or two raters, or a value is missing.
    """
    table = np.asarray(values, np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise InputError(
            "values must be a table with at least two cases (rows) and two raters (columns), got "
            f"shape {table.shape}"
        )
    if not np.isfinite(table).all():
        raise InputError(
            f"values must be a number for every case and rater; {(~np.isfinite(table)).sum()} are "
            "missing: leave those cases out"
        )
    return table


def intraclass_correlations(values: ArrayLike) -> tuple[IntraclassCorrelation, ...]:
    """Compute all six forms of the coefficient.

    Parameters
    ----------
    values : (N, J) array_like
        A row for each case and a column for each rater, such as volumes.

    Returns
    -------
    tuple of IntraclassCorrelation
        ICC(1,1), (2,1), (3,1), (1,k), (2,k), (3,k); NaN if nothing varies.
    """
    squares = MeanSquares.of(values)
    single = {"1": _one_way(squares), "2": _absolute(squares), "3": _consistent(squares)}
    k = squares.raters
    means = {
        form: tuple(_reliability_of_mean(one, k) for one in found) for form, found in single.items()
    }
    return tuple(
        IntraclassCorrelation(f"ICC({form},{size})", *map(float, numbers))
        for size, found in (("1", single), ("k", means))
        for form, numbers in found.items()
    )


def _reliability_of_mean(single: float, raters: int) -> float:
    """Return the reliability of the mean of several raters (Spearman-Brown formula)."""
    below = 1 + (raters - 1) * single
    return raters * single / below if below else math.nan


def raters_needed(single: float, wanted: float) -> float:
    """Return the number of raters, or readings, whose mean attains a given reliability.

    Parameters
    ----------
    single : float
        Reliability of one rater, above 0 and below 1.
    wanted : float
        Desired reliability of the mean, from 0 to below 1.

    Returns
    -------
    float
        A whole number; infinite if `single` is not above 0.
    """
    if not 0 <= wanted < 1:
        raise InputError(f"wanted must be a reliability from 0 to below 1, got {wanted:g}")
    if not single > 0:
        return math.inf
    if single >= 1:
        return 1.0
    # The tolerance prevents rounding errors from adding a rater.
    return max(1.0, math.ceil(wanted * (1 - single) / (single * (1 - wanted)) - 1e-9))


def _quotient(above: float, below: float) -> float:
    return above / below if below > 0 else math.nan


def _one_way(m: MeanSquares) -> tuple[float, float, float]:
    n, k = m.cases, m.raters
    value = _quotient(m.between - m.within, m.between + (k - 1) * m.within)
    ratio = _quotient(m.between, m.within)
    if math.isnan(ratio):
        return value, value, value
    low, high = _f_bounds(ratio, n - 1, n * (k - 1))
    return value, (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _consistent(m: MeanSquares) -> tuple[float, float, float]:
    n, k = m.cases, m.raters
    value = _quotient(m.between - m.error, m.between + (k - 1) * m.error)
    ratio = _quotient(m.between, m.error)
    if math.isnan(ratio):
        return value, value, value
    low, high = _f_bounds(ratio, n - 1, (n - 1) * (k - 1))
    return value, (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _absolute(m: MeanSquares) -> tuple[float, float, float]:
    n, k = m.cases, m.raters
    below = m.between + (k - 1) * m.error + k * (m.of_raters - m.error) / n
    value = _quotient(m.between - m.error, below)
    if math.isnan(value) or value >= 1 or not m.error:
        return value, value, value
    # Satterthwaite's approximate degrees of freedom.
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    spread = a * m.of_raters + b * m.error
    freedom = spread**2 / (
        (a * m.of_raters) ** 2 / (k - 1) + (b * m.error) ** 2 / ((n - 1) * (k - 1))
    )
    upper, lower = (
        float(scipy.special.fdtri(*degrees, (1 + LEVEL) / 2))
        for degrees in ((n - 1, freedom), (freedom, n - 1))
    )
    rest = k * m.of_raters + (k * n - k - n) * m.error
    low = n * (m.between - upper * m.error) / (upper * rest + n * m.between)
    high = n * (lower * m.between - m.error) / (rest + n * lower * m.between)
    return value, low, high


def _f_bounds(ratio: float, first: float, second: float) -> tuple[float, float]:
    """Return confidence bounds for a ratio of variances, from quantiles of the F distribution."""
    upper = float(scipy.special.fdtri(first, second, (1 + LEVEL) / 2))
    lower = float(scipy.special.fdtri(second, first, (1 + LEVEL) / 2))
    return ratio / upper, ratio * lower


@dataclass(frozen=True)
class LimitsOfAgreement:
    """Limits of agreement of two readings (Bland and Altman, Lancet 1:307-310, 1986)."""

    bias: float  #: Mean of first - second
    bias_low: float  #: Confidence interval of the bias
    bias_high: float
    low: float  #: Lower limit: 2.5 % of the differences are below
    high: float  #: Upper limit: 2.5 % of the differences are above
    cases: int


def limits_of_agreement(first: ArrayLike, second: ArrayLike) -> LimitsOfAgreement:
    """Compute bias and limits of agreement of two raters, or two readings, of the same cases.

    Parameters
    ----------
    first, second : (N,) array_like
        One value per case; pairs with a NaN are ignored.
    """
    one, other = (np.asarray(values, np.float64) for values in (first, second))
    if one.ndim != 1 or one.shape != other.shape:
        raise InputError(
            f"first and second must be lists of equal length, got {one.shape} and {other.shape}"
        )
    differences: NDArray[np.float64] = (one - other)[np.isfinite(one) & np.isfinite(other)]
    number = len(differences)
    if number < 2:
        raise InputError(f"limits of agreement need at least two cases, got {number}")
    bias, spread = float(differences.mean()), float(differences.std(ddof=1))
    reach = float(scipy.special.stdtrit(number - 1, (1 + LEVEL) / 2)) * spread / math.sqrt(number)
    beyond = float(scipy.special.ndtri((1 + LEVEL) / 2)) * spread
    return LimitsOfAgreement(bias, bias - reach, bias + reach, bias - beyond, bias + beyond, number)
