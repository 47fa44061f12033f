"""The base class of records of conformal calibrations, and functions that make such records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Annotated, Any, TypeVar

import numpy as np

from itk_consensus.calibration.conformal import (
    REFERENCE_KINDS,
    TRUTH,
    Thresholds,
)
from itk_consensus.calibration.probabilities import KINDS, CaseFacts, Spreads
from itk_consensus.calibration.record import CalibrationRecord, library_versions
from itk_consensus.core.constraints import Choice, Integer, Real, Text, optional
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.storage.record import (
    ANY_REAL,
    Anything,
    Each,
    Members,
    OnePart,
    Part,
    RecordError,
)

R = TypeVar("R", bound="ConformalRecord")

UNUSUAL = 0.05
"""Fraction of exchangeable cases, in each tail, whose raters' spread counts as unusual."""


def hash_id(case_id: str) -> str:
    """Hash a case's name, which may reveal the patient's."""
    return hashlib.sha256(case_id.encode(errors="surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class CaseRecord(Part):
    """A calibration case: hashed name, score (or share missed) per threshold, rater spreads.

    The spreads, one per label in mm, are empty if they were not measured.
    """

    id: Annotated[str, Text(may_be_empty=True)]
    score: Annotated[tuple[float, ...], Each(ANY_REAL, 1)]
    spread_mm: Annotated[Spreads, Each(Real(0.0))]


@dataclass(frozen=True)
class ConformalRecord(CalibrationRecord):
    """A conformal calibration: the parameters that Execute needs, and their provenance."""

    readable_properties = ("guarantee",)

    tau: Annotated[tuple[float, ...], Each(Real(), 1)]  #: The common threshold, or one per label
    number: Annotated[int, Integer(1), "n"]  #: Number of cases or voxels
    #: 10-90 % range of the true coverage, from Beta(k, n + 1 - k).
    coverage_range: Annotated[
        tuple[float, float] | None,
        optional(Each(Real(0.0, 1.0), 2, 2)),
        "true_coverage_10_to_90_percent",
    ]
    options: Annotated[Any, OnePart(Part)]  #: Subclasses declare their class
    labels: Annotated[int, Integer(2, 2**16)]  #: K, including the background
    reference_kind: Annotated[str, Choice(REFERENCE_KINDS)]
    rater_count: Annotated[int | None, optional(Integer(1))]
    fusion_method: Annotated[str | None, optional(Text(may_be_empty=True))]
    #: The `KINDS` to which the cases' probabilities belong.
    probability_kinds: Annotated[tuple[str, ...], Each(Choice(KINDS), 0, len(KINDS))]
    #: Smallest and largest voxel size of the cases per axis x, y, z, in mm.
    spacing_range: Annotated[
        tuple[tuple[float, float], ...], Each(Each(Real(0.0), 2, 2), 2, 3), "spacing_range_mm"
    ]
    #: Additional fields supplied by the caller.
    provenance: Annotated[Mapping[str, Any], Members(Anything())]
    versions: Annotated[Mapping[str, str], Members(Text(may_be_empty=True))]
    cases: Annotated[tuple[CaseRecord, ...], Each(OnePart(CaseRecord), 1)]

    @property
    def guarantee(self) -> str:
        """The guarantee in one sentence."""
        raise NotImplementedError

    @property
    def case_scores(self) -> tuple[tuple[float, ...], ...]:
        """The score of each case and threshold."""
        return tuple(case.score for case in self.cases)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the filter that made the record."""
        return asdict(self.options)

    def doubts(self) -> Iterator[str]:
        """Yield reasons for caution that a user of the record should know."""
        yield from ()

    def unusual_spreads(self, spreads: Sequence[float]) -> Iterator[str]:
        """Yield doubts about a case whose raters are unusually far apart or close together.

        Based on ranks: a fraction `UNUSUAL` of exchangeable cases is reported in each tail, or
        1 / (n + 1) if the n calibration cases are too few for that.
        """
        if not spreads or not self.cases[0].spread_mm:
            return
        known = np.sort([case.spread_mm for case in self.cases], axis=0)
        rank = max(1, int(UNUSUAL * (len(known) + 1)))
        low, high = known[rank - 1], known[-rank]
        share = f"{1 - rank / (len(known) + 1):.0%} of the calibration cases"
        for label in range(1, len(spreads)):
            spread = spreads[label]
            start = f"the raters are {spread:.3g} mm apart about label {label}"
            if spread > high[label]:
                yield (
                    f"{start}, farther than in {share} ({high[label]:.3g} mm); is this case like "
                    "them?"
                )
            elif spread < low[label]:
                yield (
                    f"{start}, closer than in {share} ({low[label]:.3g} mm); if they are copies "
                    "of each other, their spread does not show their error"
                )


def make_record(
    record_class: type[R],
    options: Any,
    thresholds: Thresholds,
    cases: Sequence[CaseFacts],
    case_ids: Sequence[str] | None,
    provenance: Mapping[str, Any],
    owner: str,
) -> R:
    """Make a record from thresholds and their provenance.

    Parameters
    ----------
    case_ids : sequence of str, optional
        Names of the cases; by default their numbers.
    provenance : mapping
        `reference_kind`, `fusion_method` and `rater_count` are stored in separate fields.
    owner : str
        Name of the filter, for messages.
    """
    ids = _checked_ids(case_ids, len(cases), owner)
    kind = provenance.get("reference_kind", TRUTH)
    if kind not in REFERENCE_KINDS:
        raise ParameterError(
            f"provenance's reference_kind must be one of {', '.join(REFERENCE_KINDS)}, "
            f"got {kind!r}",
            owner=owner,
        )
    spacings = np.array([case.spacing for case in cases])
    sizes = zip(spacings.min(0).tolist(), spacings.max(0).tolist(), strict=True)
    scores = zip(ids, thresholds.case_scores, (case.spreads for case in cases), strict=True)
    own_fields = ("reference_kind", "fusion_method", "rater_count")
    try:
        Members(Anything()).accept(provenance)
        record = record_class(
            tau=thresholds.tau,
            number=thresholds.number,
            coverage_range=thresholds.coverage_range,
            options=options,
            labels=cases[0].labels,
            reference_kind=kind,
            rater_count=provenance.get("rater_count", cases[0].rater_count),
            fusion_method=provenance.get("fusion_method"),
            probability_kinds=tuple(sorted({case.kind for case in cases if case.kind is not None})),
            spacing_range=tuple(sizes),
            provenance={key: value for key, value in provenance.items() if key not in own_fields},
            versions=library_versions(),
            cases=tuple(CaseRecord(hash_id(name), *measured) for name, *measured in scores),
        )
        return record_class.from_plain(record.to_plain())
    except RecordError as error:
        raise ParameterError(
            f"provenance must hold only values that JSON supports: {error}", owner=owner
        ) from error


def check_cases(cases: Sequence[CaseFacts], alpha: float, needed: int, owner: str) -> None:
    """Raise an `InputError` if there are too few cases, or their dimensions or counts differ."""
    if len(cases) < needed:
        raise InputError(
            f"{alpha:g} needs at least {needed} calibration cases, got {len(cases)}",
            owner=owner,
            parameter="Alpha",
        )
    check_alike(
        owner,
        dimensions={len(case.spacing) for case in cases},
        labels={case.labels for case in cases},
        raters={case.rater_count or 0 for case in cases},
    )


def are_finite(thresholds: Thresholds) -> bool:
    """Whether all thresholds are finite."""
    return all(isfinite(tau) for tau in thresholds.tau)


def check_alike(owner: str, **found: set[int]) -> None:
    """Raise an `InputError` if the number of labels, raters or dimensions differs between cases."""
    for what, numbers in found.items():
        if len(numbers) > 1:
            listed = ", ".join(str(number) for number in sorted(numbers))
            raise InputError(f"cases must have equally many {what}, got {listed}", owner=owner)


def _checked_ids(case_ids: Sequence[str] | None, number: int, owner: str) -> list[str]:
    ids = [str(case_id) for case_id in (range(number) if case_ids is None else case_ids)]
    if len(ids) != number:
        raise InputError(f"case_ids must be one per case, got {len(ids)} for {number}", owner=owner)
    twice = sorted({case_id for case_id in ids if ids.count(case_id) > 1})
    if twice:
        raise InputError(
            f"case_ids must differ, got {', '.join(twice)} more than once", owner=owner
        )
    return ids
