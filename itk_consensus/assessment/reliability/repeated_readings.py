"""How much readings of one case vary: within a rater, between raters, and between cases.

The model is ``value = mean + case + rater + case x rater + reading``, all but the mean random.
Variances come from the analysis of variance of the readings there are (Bland and Altman, Stat
Methods Med Res 8:135-160, 1999; Barnhart et al., J Biopharm Stat 17:529-569, 2007).
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

#: Standard deviations within which 95 % of the differences of two readings lie.
_TWO_READINGS = math.sqrt(2) * float(scipy.special.ndtri((1 + LEVEL) / 2))


@dataclass(frozen=True)
class Repeatability:
    """What a rater's own second reading varies by."""

    deviation: float  #: Standard deviation within a rater and case, in the unit of the values
    low: float  #: Its 95 % interval
    high: float
    variation: float  #: Coefficient of variation: the deviation over the mean of all values
    #: Two readings of one rater differ by less in 95 % of cases.
    coefficient: float
    pairs: int  #: Cases and raters with more than one reading


@dataclass(frozen=True)
class VarianceComponents:
    """Where the variance of a measurement comes from; no component is below 0."""

    cases: float  #: Between cases: what one wants to measure
    raters: float  #: Between raters: who draws large, and who draws small
    #: Case by rater: whom a case leads astray. It holds the readings' variance, too, where nobody
    #: read twice.
    interaction: float
    readings: float  #: Within a rater; NaN where nobody read twice
    number_of_cases: int  #: With a reading of every rater who is counted
    number_of_raters: int

    @property
    def reproducibility(self) -> float:
        """Two raters' readings of one case differ by less in 95 % of cases."""
        within = 0.0 if math.isnan(self.readings) else self.readings
        return _TWO_READINGS * math.sqrt(self.raters + self.interaction + within)


def readings_table(values: ArrayLike) -> Floats:
    """An (N, J, M) array of cases, raters and readings, checked; NaN where there is none."""
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
    """What raters' own repeated readings vary by; None if nobody read a case twice.

    Parameters
    ----------
    values : (N, J, M) array_like
        Cases, raters and readings; NaN where there is none.
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
    # chdtri is the quantile from above.
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
    """Variance between cases, between raters, of both together, and within a rater.

    First readings are compared; raters who read fewer than half of the cases, and then cases that
    lack a rater, are left out. None where fewer than two of either remain.

    Parameters
    ----------
    values : (N, J, M) or (N, J) array_like
        Cases, raters and readings; NaN where there is none.
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
    """(N', J') first readings without gaps; None where fewer than two cases or raters remain."""
    first = readings_table(values)[:, :, 0]
    read: NDArray[np.bool_] = np.isfinite(first)
    raters = read.sum(axis=0) * 2 >= max(len(first), 1)
    if np.count_nonzero(raters) < 2:
        return None
    cases = read[:, raters].all(axis=1)
    if np.count_nonzero(cases) < 2:
        return None
    return np.asarray(first[np.ix_(cases, raters)])
