"""Measure interobserver agreement for each structure of a plan, in tables for publications.

The added path length (Vaassen et al., Phys Imaging Radiat Oncol 13:1, 2020) is the length of the
consensus contours that are missing from a reader's contours and would have to be drawn.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.agreement.agreement_filter import AgreementFilter
from itk_consensus.assessment.agreement.reader_bias_filter import ReaderBiasFilter
from itk_consensus.core.array_types import Floats
from itk_consensus.core.display import Displayed
from itk_consensus.core.errors import FileError, InputError
from itk_consensus.core.escaping import csv_text
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.images.structure_names import StructureWords, default_words
from itk_consensus.methods.consensus.consensus_filter import ConsensusFilter
from itk_consensus.storage.files import PathLike, read_bytes

#: Tolerance in mm for structures that are not in any table.
USUAL_TOLERANCE = 2.0


class Measure(NamedTuple):
    """One measure for one structure: mean and range."""

    structure: str
    measure: str
    unit: str
    mean: float
    lowest: float
    highest: float
    number: int  #: Number of readers, or of pairs of readers, over which it is averaged


@dataclass(frozen=True)
class PlanAgreement(Displayed):
    """Agreement between readers on the structures of a plan."""

    measures: tuple[Measure, ...]
    tolerances: Mapping[str, float]  #: Surface Dice tolerance in mm, by structure
    consensus: str  #: Name of the fusion method with which readers are compared

    def of(self, structure: str, measure: str) -> Measure:
        """Return a measure for a structure."""
        for one in self.measures:
            if (one.structure, one.measure) == (structure, measure):
                return one
        raise KeyError((structure, measure))

    def to_csv(self) -> str:
        """CSV text with a row for each structure and measure."""
        return csv_text(list(Measure._fields), [one._asdict() for one in self.measures])

    def to_markdown(self) -> str:
        """Markdown table with a row for each structure and mean (range) in each cell."""
        header, rows = self._grid()
        lines = [header, ["---"] * len(header), *rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{table}\n\n{self.caption}\n"

    def to_latex(self) -> str:
        """Return the same table as a LaTeX tabular with booktabs rules."""
        header, rows = self._grid()
        cells = [[_latex(cell) for cell in line] for line in (header, *rows)]
        lines = [" & ".join(line) + r" \\" for line in cells]
        body = "\n".join([lines[0], r"\midrule", *lines[1:]])
        columns = "l" * len(header)
        return (
            f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"
            f"% {self.caption}\n"
        )

    @property
    def caption(self) -> str:
        """Return a caption that defines the values in the table."""
        return (
            "Mean (range); n is the number of readers and of pairs of readers. Volume, added path "
            f"length and bias are of readers against {self.consensus}, the others of pairs of "
            "readers; bias is positive where readers draw wider than the consensus, and the side "
            "is that on which readers differ most. Surface Dice at the tolerance in brackets."
        )

    def __str__(self) -> str:
        return self.to_markdown()

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        titles = list(dict.fromkeys(_column(one) for one in self.measures))
        rows = []
        for structure in dict.fromkeys(one.structure for one in self.measures):
            own = {_column(one): one for one in self.measures if one.structure == structure}
            numbers = [self.of(structure, measure).number for measure in ("volume", "Dice")]
            cells = [_cell(own.get(title), self.tolerances[structure]) for title in titles]
            rows.append([structure, f"{numbers[0]}, {numbers[1]}", *cells])
        return ["structure", "n", *titles], rows


def plan_agreement(
    structures: Mapping[str, Sequence[Any]],
    tolerances: Mapping[str, float] | None = None,
    *,
    fuser: LabelFusionFilter | None = None,
    names: Sequence[str] | None = None,
) -> PlanAgreement:
    """Measure the agreement between readers on each structure that at least two of them drew.

    Parameters
    ----------
    structures : mapping of name to list of masks
        One mask per reader; None if the reader did not draw the structure.
    tolerances : mapping of name to float, optional
        Tolerance of the surface Dice in mm; by default `surface_tolerances` of the names.
    fuser : LabelFusionFilter, optional
        Filter that computes the consensus; ConsensusFilter by default.
    names : sequence of str, optional
        Has no effect, since readers are not named in the table.
    """
    fuser = fuser or ConsensusFilter()
    known = surface_tolerances(structures) if tolerances is None else dict(tolerances)
    measures: list[Measure] = []
    for name, masks in structures.items():
        drawn = [mask for mask in masks if mask is not None]
        if len(drawn) < 2:
            continue
        tolerance = known.setdefault(name, USUAL_TOLERANCE)
        measures += _measure_structure(name, drawn, tolerance, fuser)
    if not measures:
        raise InputError("plan_agreement: needs a structure that two readers drew")
    return PlanAgreement(tuple(measures), known, fuser.GetName())


def _measure_structure(
    name: str, masks: Sequence[Any], tolerance: float, fuser: LabelFusionFilter
) -> Iterator[Measure]:
    found = AgreementFilter(SurfaceTolerance=tolerance, VolumeIntervals=True).Execute(masks, fuser)
    one = found[1]
    volumes = one.volumes[: one.raters]
    unit = found.volume_unit
    yield _summarise(name, "volume", unit, volumes)
    if one.expected_volume is not None:
        expected, low, high = one.expected_volume[:3]
        yield Measure(name, "another reader's volume (90 %)", unit, expected, low, high, len(masks))
    yield _summarise(name, "Dice", "", one.between_raters(one.dice))
    for title, matrix in (
        ("surface Dice", one.surface_dice),
        ("Hausdorff 95 %", one.hausdorff95),
        ("mean surface distance", one.mean_distance),
    ):
        if matrix is not None:
            length = "" if title == "surface Dice" else one.length_unit
            yield _summarise(name, title, length, one.between_raters(matrix))
    consensus = fuser.fuse_to_labels(list(masks))
    yield _summarise(name, "added path length", one.length_unit, added_paths(masks, consensus))
    yield from _measure_bias(name, masks, consensus)


def _measure_bias(name: str, masks: Sequence[Any], consensus: Any) -> Iterator[Measure]:
    """Yield the mean bias of each reader, overall and on the side where readers differ most."""
    rows = [row for row in ReaderBiasFilter(Label=1).Execute(masks, consensus).rows if row]
    yield _summarise(name, "bias", "mm", np.array([row["mean"] for row in rows]))
    sides = [side for side in rows[0] if side != "mean"]
    spread = {side: np.ptp([row[side] for row in rows]) for side in sides}
    known = [side for side in sides if np.isfinite(spread[side])]
    if known:
        widest = max(known, key=lambda side: spread[side])
        values = np.array([row[widest] for row in rows])
        yield _summarise(name, f"bias, {widest} side", "mm", values)


def added_paths(masks: Sequence[Any], consensus: Any) -> Floats:
    """Return the added path length from each mask to the consensus, in mm (voxels for arrays)."""
    loaded = convert.load([consensus, *masks], owner="plan_agreement")
    arrays = [np.asarray(array) == 1 for array in loaded.arrays]
    side = float(np.sqrt(np.prod(loaded.geometry.spacing[:2])))
    wanted = _outline(arrays[0])
    lengths = [np.count_nonzero(wanted & ~_outline(one)) for one in arrays[1:]]
    return side * np.array(lengths, float)


def _outline(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the pixels of a mask that have a neighbour outside it in their slice."""
    padded = np.pad(mask, [(0, 0)] * (mask.ndim - 2) + [(1, 1)] * 2)
    inner = padded[..., 1:-1, 1:-1].copy()
    for axis, step in ((-2, 1), (-2, -1), (-1, 1), (-1, -1)):
        inner &= np.roll(padded, step, axis)[..., 1:-1, 1:-1]
    return np.asarray(mask & ~inner)


def _summarise(structure: str, measure: str, unit: str, values: Floats) -> Measure:
    known = np.asarray(values)[np.isfinite(values)]
    if not known.size:
        return Measure(structure, measure, unit, np.nan, np.nan, np.nan, 0)
    figures = float(known.mean()), float(known.min()), float(known.max())
    return Measure(structure, measure, unit, *figures, int(known.size))


def surface_tolerances(
    names: Iterable[str], path: PathLike | None = None, words: StructureWords | None = None
) -> dict[str, float]:
    """Return the tolerances of the surface Dice in mm, by structure name.

    Parameters
    ----------
    names : iterable of str
        Names of structures.
    path : path, optional
        A CSV file with the columns structure and mm, which overrides the package's own table. A
        structure without a side (left or right) applies to both sides.
    words : StructureWords, optional
        Vocabulary for interpreting names; the package's own by default.
    """
    words = words or default_words()
    rows = [*([] if path is None else _read_tolerances(path)), *_default_tolerances()]
    found = {}
    for name in names:
        meant = words.read(name)
        fits = (mm for row, mm in rows if _applies_to(words.read(row).meaning, meant.meaning))
        found[name] = next(fits, USUAL_TOLERANCE)
    return found


def _applies_to(row: tuple[Any, ...], meant: tuple[Any, ...]) -> bool:
    """Return whether a row of the table applies to a structure; a row without a side fits
    both sides.
    """
    sides_fit = not row[1] or row[1] == meant[1]
    return sides_fit and (row[0], row[2:]) == (meant[0], meant[2:])


def _read_tolerances(path: PathLike) -> list[tuple[str, float]]:
    content = read_bytes(Path(path)).decode("utf-8-sig", errors="replace")
    lines = [line for line in content.splitlines() if not line.startswith("#")]
    try:
        table = csv.DictReader(io.StringIO("\n".join(lines)))
        rows = [(row["structure"], float(row["mm"])) for row in table]
    except (KeyError, TypeError, ValueError) as error:
        raise FileError("must have the columns structure and mm, a number", path=path) from error
    if any(not 0 < mm < np.inf for _, mm in rows):
        raise FileError("must have tolerances (mm) greater than 0 and finite", path=path)
    return rows


@cache
def _default_tolerances() -> list[tuple[str, float]]:
    return _read_tolerances(Path(__file__).with_name("surface_tolerances.csv"))


def _column(one: Measure) -> str:
    title = "bias, widest side" if one.measure.startswith("bias, ") else one.measure
    return f"{title} ({one.unit})" if one.unit else title


def _cell(one: Measure | None, tolerance: float) -> str:
    if one is None or not one.number:
        return "-"
    figures = [one.mean, one.lowest, one.highest]
    # Show more digits for small values: 0.52 ml, but 520 ml.
    digits = 2 if not one.unit or max(map(abs, figures)) < 1 else 1 if max(figures) < 100 else 0
    mean, lowest, highest = (f"{round(value, digits) + 0.0:.{digits}f}" for value in figures)
    text = f"{mean} ({lowest} to {highest})"
    if one.measure.startswith("bias, "):
        return f"{one.measure.removeprefix('bias, ').removesuffix(' side')} {text}"
    return f"{text} [{tolerance:g} mm]" if one.measure == "surface Dice" else text


def _latex(text: str) -> str:
    return "".join(f"\\{c}" if c in "&%$#_{}" else c for c in text)
