"""Variance of repeated readings: within a rater, between raters, and between cases.

The model is ``value = mean + case + rater + case x rater + reading``, in which all effects except
the mean are random. Variances are estimated by analysis of variance (Bland and Altman, Stat Methods
Med Res 8:135-160, 1999; Barnhart et al., J Biopharm Stat 17:529-569, 2007).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from itk_consensus.assessment.reliability.intraclass import LEVEL, MeanSquares
from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError

#: Factor from a standard deviation to the 95 % limit of the differences between two readings.
_TWO_READINGS = math.sqrt(2) * float(scipy.special.ndtri((1 + LEVEL) / 2))


@dataclass(frozen=True)
class Repeatability:
    """Variation of repeated readings by the same rater."""

    deviation: float  #: Standard deviation within a rater and case, in the unit of the values
    low: float  #: Its 95 % interval
    high: float
    #: Coefficient of variation: the standard deviation over the mean of all values
    variation: float
    #: Repeatability coefficient: 95 % of the differences between two readings by a rater are
    #: smaller.
    coefficient: float
    pairs: int  #: Number of pairs of case and rater with repeated readings


@dataclass(frozen=True)
class VarianceComponents:
    """Variance components of a measurement; negative estimates are set to 0."""

    cases: float  #: Variance between cases: the quantity of interest
    raters: float  #: Variance between raters: their systematic bias
    #: Interaction of case and rater; includes the variance of readings if none are repeated.
    interaction: float
    readings: float  #: Variance within a rater; NaN without repeated readings
    number_of_cases: int  #: Cases with a reading of every included rater
    number_of_raters: int

    @property
    def reproducibility(self) -> float:
        """Reproducibility coefficient: 95 % of the differences between two raters are smaller."""
        within = 0.0 if math.isnan(self.readings) else self.readings
        return _TWO_READINGS * math.sqrt(self.raters + self.interaction + within)


def readings_table(values: ArrayLike) -> Floats:
    """Convert values to an (N, J, M) array of cases, raters and readings, and check it.

    NaN stands for missing readings.
    """
    table = np.asarray(values, np.float64)
    if table.ndim == 2:
        table = table[:, :, None]
    if table.ndim != 3 or not table.size:
        raise InputError(
            "values must be (cases, raters) or (cases, raters, readings), got shape "
            f"{np.shape(values)}"
        )
    if np.isinf(table).any():
        raise InputError("values must be finite numbers, or NaN where there is no reading")
    return table


def repeatability(values: ArrayLike) -> Repeatability | None:
    """Estimate the variation of repeated readings; None if there are none.

    Parameters
    ----------
    values : (N, J, M) array_like
        Cases, raters and readings; NaN for missing readings.
    """
    table = readings_table(values)
    number = np.isfinite(table).sum(axis=2)
    repeated = number > 1
    if not repeated.any():
        return None
    rows = table[repeated]
    squares = np.nansum(np.square(rows - np.nanmean(rows, axis=1, keepdims=True)))
    freedom = int((number[repeated] - 1).sum())
    deviation = math.sqrt(float(squares) / freedom)
    # chdtri is the inverse of the survival function.
    tail = (1 - LEVEL) / 2
    low, high = (
        deviation * math.sqrt(freedom / float(scipy.special.chdtri(freedom, share)))
        for share in (tail, 1 - tail)
    )
    mean = float(np.nanmean(rows))
    return Repeatability(
        deviation,
        low,
        high,
        deviation / mean if mean else math.nan,
        _TWO_READINGS * deviation,
        int(repeated.sum()),
    )


def variance_components(values: ArrayLike) -> VarianceComponents | None:
    """Estimate the variance components: cases, raters, their interaction, and readings.

    First readings are compared. Raters with readings of fewer than half of the cases are excluded
    first, then cases with a missing rater. Returns None if fewer than two raters or cases remain.

    Parameters
    ----------
    values : (N, J, M) or (N, J) array_like
        Cases, raters and readings; NaN for missing readings.
    """
    table = readings_table(values)
    first = complete_part(table)
    if first is None:
        return None
    squares = MeanSquares.of(first)
    n, k = first.shape
    repeated = repeatability(table)
    within = math.nan if repeated is None else repeated.deviation**2
    return VarianceComponents(
        max((squares.between - squares.error) / k, 0.0),
        max((squares.of_raters - squares.error) / n, 0.0),
        max(squares.error - (0.0 if repeated is None else within), 0.0),
        within,
        n,
        k,
    )


def complete_part(values: ArrayLike) -> Floats | None:
    """Return the complete (N', J') table of first readings; None if it is too small."""
    first = readings_table(values)[:, :, 0]
    read: NDArray[np.bool_] = np.isfinite(first)
    raters = read.sum(axis=0) * 2 >= max(len(first), 1)
    if np.count_nonzero(raters) < 2:
        return None
    cases = read[:, raters].all(axis=1)
    if np.count_nonzero(cases) < 2:
        return None
    return np.asarray(first[np.ix_(cases, raters)])
