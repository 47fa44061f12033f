"""The record of a fitted scaling: its parameters and what they changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from itk_consensus.calibration.json_record import from_json, to_json
from itk_consensus.calibration.reliability import Reliability, ReliabilitySummary
from itk_consensus.calibration.temperature_scaling import IsotonicScaling, LogitScaling, Scaling
from itk_consensus.errors import FileError

SCHEMA = "itk_consensus temperature scaling"


@dataclass(frozen=True)
class ScalingReport:
    """Reliability before and after scaling, in the region and in the whole image."""

    region_before: ReliabilitySummary
    region_after: ReliabilitySummary
    image_before: ReliabilitySummary
    image_after: ReliabilitySummary

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
    """The sums behind a report, from which diagrams are drawn; sums of cases add up."""

    region_before: Reliability
    region_after: Reliability
    image_before: Reliability
    image_after: Reliability

    def __add__(self, other: ScalingComparison) -> ScalingComparison:
        return ScalingComparison(
            self.region_before + other.region_before,
            self.region_after + other.region_after,
            self.image_before + other.image_before,
            self.image_after + other.image_after,
        )

    def report(self) -> ScalingReport:
        """The measures."""
        return ScalingReport(
            self.region_before.summary(),
            self.region_after.summary(),
            self.image_before.summary(),
            self.image_after.summary(),
        )


@dataclass(frozen=True)
class ScalingRecord:
    """A fitted scaling.

    Attributes
    ----------
    method : str
    scaling : LogitScaling or IsotonicScaling
    labels : int
        K, background included.
    number : int
        Cases it was fitted to.
    region_margin : float
        In mm.
    probability_is_vote_fraction : bool
    rater_count : int or None
    report : ScalingReport
        On the fitted cases themselves.
    versions : mapping of str to str
    """

    method: str
    scaling: Scaling
    labels: int
    number: int
    region_margin: float
    probability_is_vote_fraction: bool
    rater_count: int | None
    report: ScalingReport
    versions: Mapping[str, str]

    def to_json(self) -> str:
        """The record as text."""
        return to_json(
            SCHEMA,
            {
                "method": self.method,
                **_parameters(self.scaling),
                "labels": self.labels,
                "n": self.number,
                "region_margin_mm": self.region_margin,
                "probability_is_vote_fraction": self.probability_is_vote_fraction,
                "rater_count": self.rater_count,
                "report": asdict(self.report),
                "versions": self.versions,
            },
        )

    @classmethod
    def from_json(cls, text: str, source: str) -> ScalingRecord:
        """Read a record back, bit by bit the same."""
        fields = from_json(text, SCHEMA, source)
        try:
            places = {
                place: ReliabilitySummary(**measures)
                for place, measures in fields["report"].items()
            }
            return cls(
                fields["method"],
                _scaling(fields),
                int(fields["labels"]),
                int(fields["n"]),
                float(fields["region_margin_mm"]),
                bool(fields["probability_is_vote_fraction"]),
                fields["rater_count"],
                ScalingReport(**places),
                fields["versions"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{source}: the record is damaged: {error!r}") from error


def _parameters(scaling: Scaling) -> dict[str, Any]:
    if isinstance(scaling, LogitScaling):
        return {"temperature": scaling.temperature, "bias": scaling.bias}
    curves = zip(scaling.knots, scaling.values, strict=True)
    return {
        "curves": [
            {"probability": knots.tolist(), "calibrated": values.tolist()}
            for knots, values in curves
        ]
    }


def _scaling(fields: Mapping[str, Any]) -> Scaling:
    if "temperature" in fields:
        return LogitScaling(float(fields["temperature"]), tuple(map(float, fields["bias"])))
    return IsotonicScaling(
        tuple(np.array(curve["probability"], np.float64) for curve in fields["curves"]),
        tuple(np.array(curve["calibrated"], np.float64) for curve in fields["curves"]),
    )
