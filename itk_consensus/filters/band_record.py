"""From scored calibration cases to the record of a conformal band, or to the reason why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, isfinite
from typing import Any

import numpy as np

from itk_consensus.calibration.band_calibration import BandOptions, find_thresholds
from itk_consensus.calibration.calibration_record import BandRecord, hashed
from itk_consensus.calibration.guarantee import REFERENCE_KINDS, TRUTH, guarantee
from itk_consensus.calibration.json_record import library_versions
from itk_consensus.calibration.risk_control import cases_needed
from itk_consensus.errors import InputError, ParameterError
from itk_consensus.filters.band_scoring import ScoredCase

USUAL_SPREADS = 0.95
"""Share of the calibration cases whose raters count as usually far apart."""


def make_record(
    cases: Sequence[ScoredCase],
    case_ids: Sequence[str] | None,
    options: BandOptions,
    provenance: Mapping[str, Any],
    owner: str,
) -> BandRecord:
    """Find the thresholds and write down where they come from.

    Parameters
    ----------
    case_ids : sequence of str, optional
        Numbers if left out.
    provenance : mapping
        `reference_kind`, `fusion_method` and `rater_count` have fields of their own.
    owner : str
        The filter, for messages.
    """
    ids = _checked_ids(case_ids, len(cases), owner)
    _check_number(len(cases), options, owner)
    _check_alike(cases, owner)
    kind = provenance.get("reference_kind", TRUTH)
    if kind not in REFERENCE_KINDS:
        raise ParameterError(
            f"{owner}: provenance's reference_kind must be one of {', '.join(REFERENCE_KINDS)}, "
            f"got {kind!r}"
        )
    thresholds = find_thresholds([case.distributions for case in cases], options)
    if not all(isfinite(tau) for tau in thresholds.tau):
        raise InputError(
            f"{owner}: no finite threshold covers enough cases: too many references have voxels "
            f"farther than RegionMargin {options.region_margin:g} mm from the consensus, or a "
            "label that the consensus lacks"
        )
    labels = len(cases[0].distributions)
    spacings = np.array([case.spacing for case in cases])
    own_fields = ("reference_kind", "fusion_method", "rater_count")
    record = BandRecord(
        guarantee=guarantee(options, thresholds.number, labels, kind),
        options=options,
        tau=thresholds.tau,
        number=thresholds.number,
        labels=labels,
        coverage_range=thresholds.coverage_range,
        case_hashes=tuple(hashed(case_id) for case_id in ids),
        case_scores=thresholds.case_scores,
        case_spreads=tuple(case.spreads for case in cases),
        reference_kind=kind,
        rater_count=provenance.get("rater_count", cases[0].rater_count),
        fusion_method=provenance.get("fusion_method"),
        spacing_range=tuple(zip(spacings.min(0).tolist(), spacings.max(0).tolist(), strict=True)),
        provenance={key: value for key, value in provenance.items() if key not in own_fields},
        versions=library_versions(),
    )
    try:
        record.to_json()
    except TypeError as error:
        raise ParameterError(f"{owner}: provenance must hold what JSON can: {error}") from error
    return record


def doubts(record: BandRecord) -> Iterator[str]:
    """What a user should know before trusting a record."""
    options, n = record.options, len(record.case_hashes)
    if options.unit == "voxel":
        yield "Unit voxel carries no guarantee for any case: voxels are not exchangeable"
    if options.risk == "fnr" and n < 2 / options.alpha:
        yield (
            f"Risk fnr with {n} cases gives a needlessly wide band; Alpha {options.alpha:g} wants "
            f"at least {ceil(2 / options.alpha)}"
        )


def unusual_spreads(record: BandRecord, spreads: Sequence[float]) -> Iterator[str]:
    """Doubts about a case whose raters are farther apart than those of most calibration cases."""
    if not spreads:
        return
    usual = np.quantile(np.array(record.case_spreads), USUAL_SPREADS, axis=0).tolist()
    for label in range(1, len(spreads)):
        if spreads[label] > usual[label]:
            yield (
                f"the raters are {spreads[label]:.3g} mm apart about label {label}, farther than "
                f"in {USUAL_SPREADS:.0%} of the calibration cases ({usual[label]:.3g} mm); is this "
                "case like them?"
            )


def _checked_ids(case_ids: Sequence[str] | None, number: int, owner: str) -> list[str]:
    ids = [str(case_id) for case_id in (range(number) if case_ids is None else case_ids)]
    if len(ids) != number:
        raise InputError(f"{owner}: case_ids must be one per case, got {len(ids)} for {number}")
    twice = sorted({case_id for case_id in ids if ids.count(case_id) > 1})
    if twice:
        raise InputError(f"{owner}: case_ids must differ, got {', '.join(twice)} more than once")
    return ids


def _check_number(number: int, options: BandOptions, owner: str) -> None:
    needed = cases_needed(options.alpha) if options.unit == "case" else 1
    if number < needed:
        raise InputError(
            f"{owner}: Alpha {options.alpha:g} needs at least {needed} calibration cases, "
            f"got {number}"
        )


def _check_alike(cases: Sequence[ScoredCase], owner: str) -> None:
    found = {
        "dimensions": {len(case.spacing) for case in cases},
        "labels": {len(case.distributions) for case in cases},
        "raters": {case.rater_count or 0 for case in cases},
    }
    for what, numbers in found.items():
        if len(numbers) > 1:
            listed = ", ".join(str(number) for number in sorted(numbers))
            raise InputError(f"{owner}: cases must have equally many {what}, got {listed}")
