"""What an agreement study yields: one typed object, and the tables people paste into a paper."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from itk_consensus.array_types import Floats

#: What one cell of a table may be.
Cell = str | int | float | None


@dataclass(frozen=True)
class LabelAgreement:
    """Agreement about one label; J raters, rows and columns in their order.

    Attributes
    ----------
    label : int
    volumes : (J,) ndarray
        ml (or mm^2 in 2D: see `AgreementResult.volume_unit`).
    dice, jaccard : (J, J) ndarray
        1 where both raters left the label out.
    conformity : float
        Generalised conformity index.
    specific_agreement : float
        Dice of all pairs pooled.
    kappa, alpha : {"grid": float, "union": float}
        Fleiss' kappa and Krippendorff's alpha of this label against the rest, over all voxels and
        over those that somebody gave the label.
    hausdorff, hausdorff95, mean_distance : (J, J) ndarray or None
        In mm; NaN where both raters left the label out, infinite where one did. None if surfaces
        were not asked for.
    surface_dice : (J, J) ndarray or None
    """

    label: int
    volumes: Floats
    dice: Floats
    jaccard: Floats
    conformity: float
    specific_agreement: float
    kappa: Mapping[str, float]
    alpha: Mapping[str, float]
    hausdorff: Floats | None = None
    hausdorff95: Floats | None = None
    mean_distance: Floats | None = None
    surface_dice: Floats | None = None

    @property
    def volume_variation(self) -> float:
        """Coefficient of variation of the volumes: standard deviation (n - 1) over mean."""
        mean = self.volumes.mean()
        if len(self.volumes) < 2 or mean == 0:
            return float("nan")
        return float(self.volumes.std(ddof=1) / mean)

    @property
    def matrices(self) -> dict[str, Floats]:
        """The pairwise measures that were computed, by name."""
        named = {
            "dice": self.dice,
            "jaccard": self.jaccard,
            "hausdorff_mm": self.hausdorff,
            "hausdorff95_mm": self.hausdorff95,
            "mean_distance_mm": self.mean_distance,
            "surface_dice": self.surface_dice,
        }
        return {name: matrix for name, matrix in named.items() if matrix is not None}


@dataclass(frozen=True)
class AgreementResult:
    """Agreement of some raters, label by label.

    Attributes
    ----------
    raters : tuple of str
    labels : tuple of LabelAgreement
        Background 0 left out.
    kappa, alpha : float
        Over all labels and voxels at once.
    volume_unit : str
        "ml", or "mm^2" for 2D images.
    tolerance : float
        Of the surface Dice, in mm.
    reference : str or None
        The last rater, if it is a consensus that the others are compared with.
    """

    raters: tuple[str, ...]
    labels: tuple[LabelAgreement, ...]
    kappa: float
    alpha: float
    volume_unit: str
    tolerance: float
    reference: str | None = None

    def __getitem__(self, label: int) -> LabelAgreement:
        for agreement in self.labels:
            if agreement.label == label:
                return agreement
        raise KeyError(label)

    def pairs(self) -> Iterator[dict[str, Cell]]:
        """A row for each label and pair of raters."""
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

    def summary(self) -> Iterator[dict[str, Cell]]:
        """A row for each label; means are over pairs of raters that are defined."""
        for agreement in self.labels:
            row: dict[str, Cell] = {
                "label": agreement.label,
                f"mean_volume_{self.volume_unit}": float(agreement.volumes.mean()),
                "volume_variation": agreement.volume_variation,
            }
            upper = np.triu_indices(len(self.raters), 1)
            row |= {f"mean_{name}": _mean(m[upper]) for name, m in agreement.matrices.items()}
            row |= {
                "conformity": agreement.conformity,
                "specific_agreement": agreement.specific_agreement,
            }
            row |= {f"kappa_{region}": value for region, value in agreement.kappa.items()}
            row |= {f"alpha_{region}": value for region, value in agreement.alpha.items()}
            yield row

    def table(self) -> str:
        """The summary as aligned text."""
        rows = list(self.summary())
        if not rows:
            return "No rater used any label but 0."
        cells = [[name.replace("_", " ") for name in rows[0]]]
        cells += [[_shown(value) for value in row.values()] for row in rows]
        widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in cells
        )

    def to_csv(self) -> str:
        """One row per label and pair of raters."""
        rows = list(self.pairs())
        text = io.StringIO()
        if rows:
            writer = csv.DictWriter(text, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return text.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; NaN and infinite numbers become None."""
        return {
            "raters": list(self.raters),
            "reference": self.reference,
            "kappa": _finite(self.kappa),
            "alpha": _finite(self.alpha),
            "volume_unit": self.volume_unit,
            "surface_dice_tolerance_mm": self.tolerance,
            "labels": [{k: _finite(v) for k, v in row.items()} for row in self.summary()],
            "volumes": {
                str(agreement.label): agreement.volumes.tolist() for agreement in self.labels
            },
            "pairs": [{k: _finite(v) for k, v in row.items()} for row in self.pairs()],
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2)

    def to_pandas(self) -> Any:
        """The rows of `pairs` as a pandas.DataFrame; needs pandas."""
        import pandas

        return pandas.DataFrame(list(self.pairs()))


def _mean(values: Floats) -> float:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def _finite(value: Cell) -> Cell:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _shown(value: Cell) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
