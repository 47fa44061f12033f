"""Report of one fusion: plain values for JSON, and text."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import itk_consensus
from itk_consensus.assessment.findings import Diagnostics
from itk_consensus.assessment.verdict import Verdict
from itk_consensus.core.parameters import Parameter, measurements_of, parameters_of
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.fusing.vote_facts import MANY_LABELS
from itk_consensus.methods.consensus.curve import Resolution
from itk_consensus.report.disputed_slices import DisputedSlices, disputed_slices_of
from itk_consensus.report.image_file import ImageFile, label_sizes
from itk_consensus.report.text import (
    PROGRAM,
    format_extents,
    format_value,
    pairs,
    pluralize,
    section,
    table,
    wrap_lines,
)

#: Measurements with one value per rater.
OF_EACH_RATER = (
    "Sensitivity",
    "Specificity",
    "PositivePredictiveValue",
    "NegativePredictiveValue",
    "Weights",
)

#: Measurements that list components, with their titles.
_COMPONENTS = {
    "ComponentsLost": "Components that a majority marked and the result lacks",
    "ComponentsGained": "Components of the result that no rater marked",
}

#: Measurements that take longer than the fusion if there are many labels.
_SLOW = ("CoherenceCurves", "Resolution")

#: Note in reports that are not `full`.
_LEFT_OUT = (
    "--full also compares with Consensus, and measures how finely raters agree about each label."
)

#: Maximum number of findings shown with a verdict.
_MOST_FINDINGS = 3

#: Maximum number of rows in a table of components; the JSON contains all of them.
_ROWS = 20


@dataclass(frozen=True)
class FusionReport:
    """All data about one fusion that reports contain."""

    result: FusionResult[Any]
    inputs: Sequence[Mapping[str, Any]]  #: As returned by `describe_inputs`
    fused: ImageFile  #: The label map
    parameter_files: Mapping[str, Path]  #: Paths of image-valued parameters
    #: Paths of the probability maps that were written, by label.
    probabilities: Mapping[int, Path] = field(default_factory=dict)
    json: Path | None = None  #: Path of the JSON report, if written
    diagnostics: Any = None  #: Findings on the fusion, if there are any
    page: Path | None = None  #: Path of the HTML page, if written
    uncertainty: Path | None = None  #: Path of the uncertainty map, if written
    full: bool = True  #: Whether the text includes slow measurements

    @property
    def rater_names(self) -> list[str]:
        """Names of the raters, in the order used by the measurements per rater."""
        return [rater["name"] for row in self.inputs for rater in row["raters"]]

    def to_dict(self, *, full: bool = True) -> dict[str, Any]:
        """Convert to plain types for JSON; NaN and infinite numbers become None.

        Unless `full` is set, slow measurements are omitted if there are many labels.
        """
        result, made_by = self.result, self.result.made_by
        measurements = {
            m.name: m.value_in(result)
            for m in measurements_of(made_by.kind)
            if full or m.name not in self._omitted_measurements
        }
        content = {
            "tool": PROGRAM,
            "version": itk_consensus.__version__,
            "method": made_by.method,
            "filter": made_by.filter,
            "inputs": self.inputs,
            "number_of_raters": len(self.rater_names),
            "raters": self.rater_names,
            "geometry": self.fused.geometry,
            "parameters": {**made_by.parameters, **self.parameter_files},
            "labels": _label_rows(result, self.fused),
            "disputed_slices": disputed_slices_of(result),
            "measurements": measurements,
            "verdict": Verdict.of(self.diagnostics).to_dict() if self.diagnostics else None,
            "diagnostics": self.diagnostics.to_dict() if self.diagnostics else None,
            "outputs": {
                "labels": self.fused.path,
                "probabilities": self.probabilities,
                "uncertainty": self.uncertainty,
                "report": self.json,
                "page": self.page,
            },
        }
        return {key: to_plain(value) for key, value in content.items()}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    def to_text(self) -> str:
        """Return the report as text; items too long for a terminal are only in the JSON."""
        content = self.to_dict(full=self.full)
        raters = pluralize(content["number_of_raters"], "rater")
        parts = [
            f"{PROGRAM} {content['version']}: {content['method']} ({content['filter']}) "
            f"of {raters}",
            section("Inputs", map(_input_line, content["inputs"])),
            section("Grid", pairs(_grid_texts(content["geometry"]))),
            section("Parameters", pairs(self._parameter_texts(content["parameters"]))),
            section("Fused labels", table(*_label_table(content["labels"]))),
        ]
        if content["disputed_slices"] is not None:
            disputed = DisputedSlices(**content["disputed_slices"])
            parts.append(section("Where raters differ", [str(disputed)]))
        measured = content["measurements"]
        of_raters = {name: measured.pop(name) for name in OF_EACH_RATER if name in measured}
        if of_raters:
            rows = zip(self.rater_names, *of_raters.values(), strict=True)
            parts.append(section("Raters", table(["rater", *of_raters], rows)))
        listed = {title: measured.get(name) for name, title in _COMPONENTS.items()}
        if measured:
            texts = {name: _flat(value) for name, value in measured.items()}
            parts.append(section("Measurements", pairs(texts)))
        for title, rows in listed.items():
            if rows:  # the "Measurements" section refers to the JSON report for all rows
                parts.append(section(title, table(*_component_table(rows))))
        if self.diagnostics:
            said = wrap_lines(str(self.diagnostics))
            parts.insert(0, "\n".join(verdict_lines(self.diagnostics)))
            parts.append(section("Findings", said))
        if self._is_incomplete:
            parts.append(_LEFT_OUT)
        files = self.written_files | ({} if self.page is None else {"page": self.page})
        parts.append(section("Written", pairs({what: str(path) for what, path in files.items()})))
        return "\n".join(parts)

    def summary(self) -> str:
        """Return a short text: the verdict, at most three findings, and the written files."""
        files = self.written_files | ({} if self.page is None else {"page": self.page})
        written = pairs({what: str(path) for what, path in files.items()})
        said = verdict_lines(self.diagnostics) if self.diagnostics else []
        method = self.result.made_by.method or self.result.made_by.filter
        made = f"{method} of {pluralize(len(self.rater_names), 'reader')}"
        return "\n".join([*said, made, *written])

    @property
    def _omitted_measurements(self) -> Sequence[str]:
        """Return the measurements that are omitted unless `full` is set."""
        return _SLOW if len(self.result.labels) > MANY_LABELS else ()

    @property
    def _is_incomplete(self) -> bool:
        """Whether the text omits anything because `full` is not set."""
        if self.full:
            return False
        findings = self.diagnostics.findings if self.diagnostics else ()
        unchecked = any(one.kind == "unchecked" for one in findings)
        return unchecked or bool(self._omitted_measurements)

    @property
    def written_files(self) -> dict[str, Path]:
        """Return all written files except the page, by description."""
        files = {"labels": self.fused.path}
        for label, path in self.probabilities.items():
            files[f"probability of label {label}"] = path
        if self.uncertainty is not None:
            files["uncertainty"] = self.uncertainty
        if self.json is not None:
            files["report"] = self.json
        return files

    def _parameter_texts(self, values: Mapping[str, Any]) -> dict[str, str]:
        """Return the parameters available on the command line, and those given as image files."""
        return {
            parameter.name: parameter_text(parameter, values[parameter.name])
            for parameter in parameters_of(self.result.made_by.kind)
            if parameter.name in values
            and (parameter.in_cli or parameter.name in self.parameter_files)
        }


def verdict_lines(found: Diagnostics) -> list[str]:
    """Return lines of text: the verdict, and up to three findings, the most severe first."""
    verdict = Verdict.of(found)
    said = [one for one in found.causes if one.concern][:_MOST_FINDINGS]
    if not said:
        return wrap_lines(str(verdict))
    lines = [f"{verdict.word.capitalize()}."]
    for one in said:
        lines += [f"  {line}" for line in wrap_lines(one.sentence)]
    more = len([one for one in found.causes if one.concern]) - len(said)
    return [*lines, *([f"  {more} more; -v lists them."] if more else [])]


def describe_inputs(
    files: Sequence[ImageFile], names: Sequence[str], *, with_labels: bool = True
) -> list[dict[str, Any]]:
    """Describe each file: names of its raters and, optionally, voxel counts per label.

    Raises
    ------
    InputError
        If a file does not hold labels.
    """
    named = iter(names)

    def raters(file: ImageFile) -> list[dict[str, Any]]:
        if not with_labels:
            return [{"name": next(named)} for _ in file.components]
        return [{"name": next(named), "label_voxels": counts} for counts in file.label_counts()]

    return [{"path": file.path, "raters": raters(file)} for file in files]


def to_plain(value: Any) -> Any:
    """Convert to built-in types for JSON; NaN and infinite numbers become None."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return to_plain(value.tolist())
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
        return [to_plain(member) for member in value]
    members = _members(value)
    if members is not None:
        return {str(key): to_plain(member) for key, member in members.items()}
    return repr(value) if isinstance(value, ProcessObject) else str(value)


def _members(value: Any) -> Mapping[Any, Any] | None:
    """Return the fields of a mapping, named tuple or dataclass by name; None for other values."""
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value if isinstance(value, Mapping) else None


def _label_rows(result: FusionResult[Any], fused: ImageFile) -> list[dict[str, Any]]:
    """Return the sizes of the fused labels; a label that no rater used is marked as undecided."""
    rows = label_sizes(fused.label_counts()[0], fused.geometry)
    given = {0, *result.labels}
    leaves_undecided = "LabelForUndecidedPixels" in result.made_by.parameters
    for row in rows:
        row["undecided"] = leaves_undecided and row["label"] not in given
    return rows


def _input_line(row: Mapping[str, Any]) -> str:
    number = len(row["raters"])
    return f"{row['path']}" + (f" ({number} raters)" if number > 1 else "")


def _grid_texts(geometry: Mapping[str, Any]) -> dict[str, str]:
    return {
        "size": format_extents(geometry["size"]),
        "spacing": format_extents(geometry["spacing"]) + " mm",
        "origin": format_value(geometry["origin"]),
        "direction": format_value(geometry["direction"]),
    }


def parameter_text(parameter: Parameter[Any], value: Any) -> str:
    """Format a parameter's value; for the default, use its documented description."""
    if parameter.default_doc and value == to_plain(parameter.default):
        return parameter.default_doc
    return format_value(value)


def _label_table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    units = {"volume_mm3": "mm3", "volume_ml": "ml", "area_mm2": "mm2"}
    columns = [name for name in rows[0] if name not in ("label", "undecided")]
    body = [
        [
            f"{row['label']} (undecided)" if row["undecided"] else str(row["label"]),
            *(row[name] for name in columns),
        ]
        for row in rows
    ]
    return ["label", *(units.get(name, name) for name in columns)], body


def _is_resolution(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == set(Resolution._fields)


def _component_table(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    body = [
        [row["label"], row["voxels"], row["millilitres"], format_value(row["position"])]
        for row in rows[:_ROWS]
    ]
    if len(rows) > _ROWS:
        body.append([f"and {len(rows) - _ROWS} more", "", "", ""])
    return ["label", "voxels", "ml", f"position in {rows[0]['unit']}"], body


def _flat(value: Any) -> str:
    """Format numbers and short lists; nested values are only in the JSON."""
    if isinstance(value, list) and not value:
        return "none"
    if isinstance(value, dict) and all(_is_resolution(member) for member in value.values()):
        texts = [f"label {name}: {Resolution(**one)}" for name, one in value.items()]
        return ", ".join(texts) or "none"
    nested = isinstance(value, dict) or (
        isinstance(value, list) and any(isinstance(member, (list, dict)) for member in value)
    )
    return "in the JSON report" if nested else format_value(value)
