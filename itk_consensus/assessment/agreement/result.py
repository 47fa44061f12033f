"""The result of an agreement study: typed values, and tables for papers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from itk_consensus.calibration.samples import VolumeInterval
from itk_consensus.core.array_types import Floats
from itk_consensus.core.display import Displayed, rows
from itk_consensus.core.escaping import csv_text

#: Type of a table cell.
Cell = str | int | float | None


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement on one label; matrices have J rows and columns, with any consensus last."""

    label: int
    #: Number of raters among the J columns; scalar values refer to raters only.
    raters: int
    volumes: Floats  #: (J,) in `AgreementResult.volume_unit`
    #: dice and jaccard: (J, J); 1 if both raters left the label out.
    dice: Floats
    jaccard: Floats
    conformity: float  #: Generalised conformity index
    specific_agreement: float  #: Dice of all pairs pooled
    #: kappa and alpha: {"grid": float, "union": float}, Fleiss' kappa and Krippendorff's alpha of
    #: this label against the rest, over all voxels ("grid") and over those to which any rater gave
    #: the label ("union"); empty if not requested.
    kappa: Mapping[str, float]
    alpha: Mapping[str, float]
    #: hausdorff, hausdorff95, mean_distance: (J, J) in `length_unit`; NaN if both raters left the
    #: label out, infinite if one did. None if surfaces were not requested.
    hausdorff: Floats | None = None
    hausdorff95: Floats | None = None
    mean_distance: Floats | None = None
    surface_dice: Floats | None = None  #: (J, J)
    #: Interval for the volume of another rater's segmentation; None if not requested or unknown.
    expected_volume: VolumeInterval | None = None
    length_unit: str = "mm"  #: "mm", or "voxels" for arrays

    @property
    def volume_variation(self) -> float:
        """Coefficient of variation of the volumes: standard deviation (n - 1) over mean."""
        volumes = self.volumes[: self.raters]
        mean = volumes.mean()
        if len(volumes) < 2 or mean == 0:
            return float("nan")
        return float(volumes.std(ddof=1) / mean)

    def between_raters(self, matrix: Floats) -> Floats:
        """Return (J (J - 1) / 2,) values of all pairs of raters, without a consensus."""
        return np.asarray(matrix[np.triu_indices(self.raters, 1)])

    def to_reference(self, matrix: Floats) -> Floats:
        """Return (J,) values of each rater against the consensus; empty without one."""
        return np.asarray(matrix[: self.raters, self.raters :].ravel())

    @property
    def matrices(self) -> dict[str, Floats]:
        """The pairwise measures that were computed, keyed by name."""
        named = {
            "dice": self.dice,
            "jaccard": self.jaccard,
            f"hausdorff_{self.length_unit}": self.hausdorff,
            f"hausdorff95_{self.length_unit}": self.hausdorff95,
            f"surface_distance_{self.length_unit}": self.mean_distance,
            "surface_dice": self.surface_dice,
        }
        return {name: matrix for name, matrix in named.items() if matrix is not None}


@dataclass(frozen=True)
class AgreementResult(Displayed):
    """Agreement between several raters, by label."""

    raters: tuple[str, ...]
    labels: tuple[LabelAgreement, ...]  #: Agreement by label, without the background 0
    #: kappa and alpha: over all labels and voxels; NaN if not requested.
    kappa: float
    alpha: float
    volume_unit: str  #: "ml", "mm^2" for 2D images, or "voxels" for arrays
    tolerance: float  #: Tolerance of the surface Dice, in mm (voxels for arrays)
    #: Name of the last rater if it is a consensus with which the others are compared.
    reference: str | None = None
    length_unit: str = "mm"  #: "mm", or "voxels" for arrays

    def with_volumes(self, expected: Mapping[int, VolumeInterval]) -> AgreementResult:
        """Return a copy that includes the expected volume of another rater's segmentation,
        by label.
        """
        labels = (replace(one, expected_volume=expected.get(one.label)) for one in self.labels)
        return replace(self, labels=tuple(labels))

    def __getitem__(self, label: int) -> LabelAgreement:
        for agreement in self.labels:
            if agreement.label == label:
                return agreement
        raise KeyError(label)

    @rows
    def pairs(self) -> Iterator[dict[str, Cell]]:
        """Yield a row for each label and pair of raters."""
        for agreement in self.labels:
            for i, first in enumerate(self.raters):
                for j in range(i + 1, len(self.raters)):
                    row: dict[str, Cell] = {
                        "label": agreement.label,
                        "first": first,
                        "second": self.raters[j],
                    }
                    row |= {name: float(m[i, j]) for name, m in agreement.matrices.items()}
                    yield row

    @rows
    def summary(self) -> Iterator[dict[str, Cell]]:
        """Yield a row for each label; means are over pairs of raters, ignoring NaN."""
        for agreement in self.labels:
            volumes = agreement.volumes[: agreement.raters]
            row: dict[str, Cell] = {
                "label": agreement.label,
                f"mean_volume_{self.volume_unit}": float(volumes.mean()),
                "volume_variation": agreement.volume_variation,
            }
            if any(one.expected_volume is not None for one in self.labels):
                expected = agreement.expected_volume or (math.nan,) * 3
                parts = zip(VolumeInterval._fields, expected, strict=True)
                row |= {f"volume_{part}_{self.volume_unit}": value for part, value in parts}
            matrices = agreement.matrices
            row |= {
                f"mean_{name}": _mean(agreement.between_raters(m)) for name, m in matrices.items()
            }
            if self.reference is not None:
                row |= {
                    f"mean_{name}_to_reference": _mean(agreement.to_reference(m))
                    for name, m in matrices.items()
                }
            row |= {
                "conformity": agreement.conformity,
                "specific_agreement": agreement.specific_agreement,
            }
            row |= {f"kappa_{region}": value for region, value in agreement.kappa.items()}
            row |= {f"alpha_{region}": value for region, value in agreement.alpha.items()}
            yield row

    @rows
    def of_raters(self) -> Iterator[dict[str, Cell]]:
        """Yield a row for each rater; means are over labels and over the other raters."""
        number = len(self.raters) - (self.reference is not None)
        for index, name in enumerate(self.raters[:number]):
            others = [j for j in range(number) if j != index]
            row: dict[str, Cell] = {"rater": name}
            if len(self.labels) == 1:
                row[f"volume_{self.volume_unit}"] = float(self.labels[0].volumes[index])
            for measure in self.labels[0].matrices if self.labels else ():
                matrices = [agreement.matrices[measure] for agreement in self.labels]
                row[f"mean_{measure}"] = _mean(np.array([m[index, others] for m in matrices]))
                if self.reference is not None:
                    row[f"{measure}_to_reference"] = _mean(
                        np.array([m[index, -1] for m in matrices])
                    )
            yield row

    def mean_dice(self) -> float:
        """Return the mean Dice over labels and pairs of raters; NaN without any pair or label."""
        return _mean(np.array([one.between_raters(one.dice) for one in self.labels]))

    def table(self) -> str:
        """Return the summary as aligned text: one line per measure, one column per label."""
        summary = self.summary()
        if not summary:
            return "No rater used any label but 0."
        cells = [
            [name.replace("_", " "), *(_format_cell(row[name]) for row in summary)]
            for name in summary[0]
        ]
        first, *widths = (max(map(len, column)) for column in zip(*cells, strict=True))
        return "\n".join(
            name.ljust(first)
            + "".join(f"  {cell:>{width}}" for cell, width in zip(row, widths, strict=True))
            for name, *row in cells
        )

    def to_csv(self) -> str:
        """CSV text with a row for each label and pair of raters."""
        pairs = self.pairs()
        return csv_text(list(pairs[0]), pairs) if pairs else ""

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain types for JSON; NaN and infinite numbers become None."""
        return {
            "raters": list(self.raters),
            "reference": self.reference,
            "kappa": _finite_or_none(self.kappa),
            "alpha": _finite_or_none(self.alpha),
            "volume_unit": self.volume_unit,
            f"surface_dice_tolerance_{self.length_unit}": self.tolerance,
            "labels": [{k: _finite_or_none(v) for k, v in row.items()} for row in self.summary()],
            "volumes": {
                str(agreement.label): agreement.volumes.tolist() for agreement in self.labels
            },
            "pairs": [{k: _finite_or_none(v) for k, v in row.items()} for row in self.pairs()],
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2)

    def to_pandas(self) -> Any:
        """Return the table of `pairs` as a pandas.DataFrame; requires pandas."""
        return self.pairs().to_frame()


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def _finite_or_none(value: Cell) -> Cell:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _format_cell(value: Cell) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
