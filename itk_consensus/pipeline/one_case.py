"""One case of a batch: fuse it, write what comes out, and leave a record that it is done."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import itk_consensus
from itk_consensus.agreement.study import AgreementSettings, study_agreement
from itk_consensus.errors import ConsensusWarning, FileError
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.filters.parameters import parameters_of
from itk_consensus.filters.registry import METHODS
from itk_consensus.images import convert
from itk_consensus.images.files import read_quietly, write_image, write_text
from itk_consensus.pipeline.cases import BatchCase
from itk_consensus.pipeline.input_notes import InputNotes, ignored_labels
from itk_consensus.report.agreement_tables import mean_matrix
from itk_consensus.report.fusion_report import to_plain
from itk_consensus.report.page import naming_raters, report
from itk_consensus.report.provenance import file_hash
from itk_consensus.report.text import shown

RECORD = "case.json"
PAGE = "report.html"

DONE, FAILED = "done", "failed"


@dataclass(frozen=True)
class Plan:
    """What is done with every case."""

    method: str
    output: Path  #: Each case gets a folder in it
    #: Of the method's filter; a path stands for an image.
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reports: bool = False  #: Whether each case gets a page
    threads: int = 1  #: Threads of one case
    suffix: str = ".nii.gz"

    def absolute(self) -> Plan:
        """The same plan for a process that works in another folder."""
        parameters = {
            name: value.absolute() if isinstance(value, Path) else value
            for name, value in self.parameters.items()
        }
        return replace(self, output=self.output.absolute(), parameters=parameters)


@dataclass(frozen=True)
class CaseResult:
    """One row of a batch's table; numbers that are not known are None."""

    case: str
    status: str
    raters: int | None = None
    labels: int | None = None
    mean_dice: float | None = None  #: Between raters, averaged over labels
    lowest_dice: float | None = None
    concerns: int | None = None  #: How many checks give reason for doubt
    severity: str = ""  #: Of the worst of them
    finding: str = ""  #: What it says; of a failed case the error
    consensus: str = ""  #: A file, relative to the batch's folder
    page: str = ""  #: The same
    notes: str = ""  #: Raters who are copies, and labels that the method ignores


def run_case(case: BatchCase, plan: Plan) -> CaseResult:
    """Fuse a case unless its record says it is done; an error becomes a failed row."""
    try:
        return _run(case, plan)
    except Exception as error:  # one bad case must not cost the others
        return failed(case, f"{type(error).__name__}: {' '.join(str(error).split())}")


def failed(case: BatchCase, reason: str) -> CaseResult:
    """The row of a case that has no result."""
    return CaseResult(case.name, FAILED, finding=reason)


def _run(case: BatchCase, plan: Plan) -> CaseResult:
    folder = plan.output / case.folder
    wanted = fingerprint(case, plan)
    finished = _finished(folder, wanted, plan)
    if finished is not None:
        return finished
    filter_, image, notes = _fuse(case, plan)
    folder.mkdir(parents=True, exist_ok=True)
    consensus = folder / f"consensus{plan.suffix}"
    write_image(filter_.GetLabelImage(), consensus)
    page = folder / PAGE
    if plan.reports:
        names, files = _rater_files(case, filter_.votes.number_of_raters)
        report(filter_, page, image, names, files=files, outputs={"label map": consensus})
    result = replace(_row(case, filter_, plan, consensus, page), notes=notes)
    record = {"fingerprint": wanted, "result": asdict(result)}
    # Last of all, and in one step: a case without this file is not done.
    write_text(folder / RECORD, json.dumps(record, indent=2) + "\n")
    return result


def fingerprint(case: BatchCase, plan: Plan) -> dict[str, Any]:
    """All that the result depends on; the same again means that nothing has to be redone."""
    files = [*case.raters, *([case.image] if case.image else [])]
    files += [value for value in plan.parameters.values() if isinstance(value, Path)]
    content = {
        "version": itk_consensus.__version__,
        "method": plan.method,
        "parameters": dict(plan.parameters),
        "reports": plan.reports,
        "raters": list(case.rater_names),
        "inputs": [file_hash(file) for file in files],
    }
    plain: dict[str, Any] = to_plain(content)
    return plain


def _finished(folder: Path, wanted: dict[str, Any], plan: Plan) -> CaseResult | None:
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        result = CaseResult(**record["result"])
        same = record["fingerprint"] == wanted
    except (OSError, ValueError, TypeError, KeyError):  # none, or not written by this version
        return None
    written = [plan.output / file for file in (result.consensus, result.page) if file]
    return result if same and all(file.is_file() for file in written) else None


def _fuse(case: BatchCase, plan: Plan) -> tuple[LabelFusionFilter, Any, str]:
    fuser = METHODS[plan.method]
    parameters = {
        name: read_quietly(value)[0] if isinstance(value, Path) else value
        for name, value in plan.parameters.items()
    }
    parameters.setdefault("NumberOfThreads", plan.threads)
    image = None if case.image is None else read_quietly(case.image)[0]
    if image is not None and any(p.name == "Image" for p in parameters_of(fuser)):
        parameters["Image"] = image
    filter_ = fuser(**parameters)
    with warnings.catch_warnings():
        # The diagnostics say it again, and the table shows them.
        warnings.simplefilter("ignore", ConsensusWarning)
        raters = [read_quietly(path)[0] for path in case.raters]
        filter_.Execute(raters)
    return filter_, image, _notes(case, filter_, raters)


def _notes(case: BatchCase, filter_: LabelFusionFilter, images: Sequence[Any]) -> str:
    """What the command that fuses one case would warn of."""
    raters = [rater for rater in convert.load(images, owner=case.name).arrays if rater is not None]
    is_binary = hasattr(filter_, "ForegroundValue")
    notes = InputNotes.of(raters, filter_.GetName(), with_labels=is_binary)
    names, _ = _rater_files(case, len(raters))
    words = [f"{names[i]} and {names[j]} hold the same labels" for i, j in notes.copies]
    ignored = ignored_labels(filter_, set(notes.labels.tolist()))
    words += [f"{filter_.method} takes {shown(ignored)} for background"] if ignored else []
    return "; ".join(words)


def _rater_files(case: BatchCase, raters: int) -> tuple[list[str], list[Path]]:
    """Name and file of each rater; one file may hold several."""
    if raters == len(case.raters):
        return list(case.rater_names), list(case.raters)
    if len(case.raters) == 1:
        return [f"{case.rater_names[0]}[{j}]" for j in range(raters)], [case.raters[0]] * raters
    raise FileError(f"{case.name}: some files hold several raters, others one")


def _row(
    case: BatchCase, filter_: LabelFusionFilter, plan: Plan, consensus: Path, page: Path
) -> CaseResult:
    votes = filter_.votes
    names, _ = _rater_files(case, votes.number_of_raters)
    spacing = filter_.fused.like.geometry.array_spacing
    agreement = study_agreement(votes, spacing, names, AgreementSettings(surfaces=False))
    pairs = mean_matrix(agreement)[np.triu_indices(len(names), 1)]
    concerns = sorted(filter_.GetDiagnostics().concerns, key=lambda one: -one.grade)
    return CaseResult(
        case.name,
        DONE,
        len(names),
        len(agreement.labels),
        _known(agreement.mean_dice()),
        _known(pairs.min()) if pairs.size else None,
        len(concerns),
        concerns[0].severity or "" if concerns else "",
        naming_raters(concerns[0].message, names) if concerns else "",
        _within(consensus, plan.output),
        _within(page, plan.output) if plan.reports else "",
    )


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _within(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def worst_first(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Failed cases, then those with the lowest Dice between raters, then those without one."""

    def badness(result: CaseResult) -> tuple[bool, float, int, str]:
        dice = 2.0 if result.mean_dice is None else result.mean_dice
        return (result.status == DONE, dice, -(result.concerns or 0), result.case)

    return sorted(results, key=badness)
