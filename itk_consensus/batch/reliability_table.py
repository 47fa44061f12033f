"""The reliability table of a batch: statistics of volumes and labels for each structure.

Its rows are explained in docs/howto/study_tables.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from itk_consensus.assessment.agreement.chance import ChanceTerms, Region
from itk_consensus.assessment.reliability.intraclass import intraclass_correlations, raters_needed
from itk_consensus.assessment.reliability.repeated_readings import (
    complete_part,
    repeatability,
    variance_components,
)
from itk_consensus.assessment.resampling import draw_cases, percentiles
from itk_consensus.core.array_types import Floats

Row = dict[str, Any]

#: Reliability of the mean over raters for which the table states the required number of raters.
WANTED = 0.9

_BEYOND_CHANCE = {
    "Fleiss' kappa": "kappa",
    "Krippendorff's alpha": "alpha",
    "Gwet's AC1": "ac1",
}
_WHERE: dict[Region, str] = {"grid": "all voxels", "union": "voxels that a rater marked"}


def label_reliability(volumes: Floats, chance: Mapping[Region, Floats], unit: str) -> Iterator[Row]:
    """Compute the rows for one label.

    Parameters
    ----------
    volumes : (N, J, M) ndarray
        Volumes by case, rater and reading; NaN for missing readings.
    chance : mapping of region to (N, T) ndarray
        `ChanceTerms.numbers` for each case.
    unit : str
        Unit of the volumes.
    """
    complete = complete_part(volumes)
    if complete is not None:
        cases, raters = complete.shape
        found = intraclass_correlations(complete)
        for one in found:
            yield _row(f"{one.form} of volume", one.value, one.low, one.high, "", cases, raters)
        needed = raters_needed(found[1].value, WANTED)
        if math.isfinite(needed):
            yield _row(f"raters needed for {WANTED:g}", needed, cases=cases, raters=raters)
    components = variance_components(volumes)
    if components is not None:
        number = components.number_of_cases, components.number_of_raters
        between = math.sqrt(components.raters)
        yield _row("SD between cases", math.sqrt(components.cases), None, None, unit, *number)
        yield _row("SD between raters", between, None, None, unit, *number)
        interaction = math.sqrt(components.interaction)
        yield _row("SD of rater by case", interaction, None, None, unit, *number)
        coefficient = components.reproducibility
        yield _row("reproducibility coefficient", coefficient, None, None, unit, *number)
    again = repeatability(volumes)
    if again is not None:
        low, high = again.low, again.high
        yield _row("SD within raters", again.deviation, low, high, unit, again.pairs)
        yield _row("repeatability coefficient", again.coefficient, unit=unit, cases=again.pairs)
        yield _row("variation within raters", again.variation, cases=again.pairs)
    for region, terms in chance.items():
        if len(terms):
            yield from _beyond_chance(terms, _WHERE[region])


def _beyond_chance(terms: Floats, where: str) -> Iterator[Row]:
    together = ChanceTerms.of_numbers(terms.sum(axis=0))
    drawn = ChanceTerms.of_numbers(terms[draw_cases(len(terms))].sum(axis=1))
    for name, statistic in _BEYOND_CHANCE.items():
        interval = percentiles(getattr(drawn, statistic), len(terms))
        value = float(getattr(together, statistic))
        yield _row(f"{name}, {where}", value, *interval, cases=len(terms))


def _row(
    statistic: str,
    value: float,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    cases: int | None = None,
    raters: int | None = None,
) -> Row:
    return {
        "statistic": statistic,
        "value": _none_if_not_finite(value),
        "low": _none_if_not_finite(low),
        "high": _none_if_not_finite(high),
        "unit": unit,
        "cases": cases,
        "raters": raters,
    }


def _none_if_not_finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(float(value), 6)
