"""The record of a conformal band's calibration."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

from itk_consensus.calibration.band_calibration import BandOptions
from itk_consensus.calibration.json_record import from_json, to_json
from itk_consensus.errors import FileError

SCHEMA = "itk_consensus conformal band"


def hashed(case_id: str) -> str:
    """A name for a case that does not tell its patient's."""
    return hashlib.sha256(case_id.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class BandRecord:
    """Everything a conformal band needs to know of its calibration, and who may want to know it.

    Attributes
    ----------
    guarantee : str
        The promise in one sentence.
    options : BandOptions
    tau : tuple of float
        The threshold, or one per label.
    number : int
        n: cases, or voxels.
    labels : int
        K, background included.
    coverage_range : (float, float) or None
        10-90 % range of the true coverage, from Beta(k, n + 1 - k).
    case_hashes : tuple of str
    case_scores : tuple of tuple of float
        Per case and threshold: its score, or with `fnr` and voxels the share missed.
    case_spreads : tuple of tuple of float
        Per case and label, in mm; empty tuples if no spread was measured.
    reference_kind : str
    rater_count : int or None
    fusion_method : str or None
    spacing_range : tuple of (float, float)
        Smallest and largest voxel size of the cases per axis x, y, z, in mm.
    provenance : mapping
        What the caller had to say.
    versions : mapping of str to str
    """

    guarantee: str
    options: BandOptions
    tau: tuple[float, ...]
    number: int
    labels: int
    coverage_range: tuple[float, float] | None
    case_hashes: tuple[str, ...]
    case_scores: tuple[tuple[float, ...], ...]
    case_spreads: tuple[tuple[float, ...], ...]
    reference_kind: str
    rater_count: int | None
    fusion_method: str | None
    spacing_range: tuple[tuple[float, float], ...]
    provenance: Mapping[str, Any]
    versions: Mapping[str, str]

    def to_json(self) -> str:
        """The record as text."""
        cases = zip(self.case_hashes, self.case_scores, self.case_spreads, strict=True)
        return to_json(
            SCHEMA,
            {
                "guarantee": self.guarantee,
                "tau": self.tau,
                "n": self.number,
                "true_coverage_10_to_90_percent": self.coverage_range,
                "options": asdict(self.options),
                "labels": self.labels,
                "reference_kind": self.reference_kind,
                "rater_count": self.rater_count,
                "fusion_method": self.fusion_method,
                "spacing_range_mm": self.spacing_range,
                "provenance": self.provenance,
                "versions": self.versions,
                "cases": [{"id": i, "score": s, "spread_mm": mm} for i, s, mm in cases],
            },
        )

    @classmethod
    def from_json(cls, text: str, source: str) -> BandRecord:
        """Read a record back, bit by bit the same."""
        fields = from_json(text, SCHEMA, source)
        try:
            coverage = fields["true_coverage_10_to_90_percent"]
            record = cls(
                guarantee=fields["guarantee"],
                options=BandOptions(**fields["options"]),
                tau=_floats(fields["tau"]),
                number=int(fields["n"]),
                labels=int(fields["labels"]),
                coverage_range=None if coverage is None else _pair(coverage),
                case_hashes=tuple(case["id"] for case in fields["cases"]),
                case_scores=tuple(_floats(case["score"]) for case in fields["cases"]),
                case_spreads=tuple(_floats(case["spread_mm"]) for case in fields["cases"]),
                reference_kind=fields["reference_kind"],
                rater_count=fields["rater_count"],
                fusion_method=fields["fusion_method"],
                spacing_range=tuple(_pair(axis) for axis in fields["spacing_range_mm"]),
                provenance=fields["provenance"],
                versions=fields["versions"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{source}: the record is damaged: {error!r}") from error
        if not all(isfinite(tau) for tau in record.tau) or len(record.tau) not in (
            1,
            record.labels,
        ):
            raise FileError(f"{source}: the record is damaged: tau is {list(record.tau)}")
        return record


def _floats(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _pair(values: Sequence[Any]) -> tuple[float, float]:
    low, high = values
    return float(low), float(high)
