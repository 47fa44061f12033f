"""One case of a batch: fuse it, write the results, and record that it is finished."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

import itk_consensus
from itk_consensus.assessment.agreement.result import AgreementResult
from itk_consensus.assessment.agreement.study import AgreementSettings
from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.input_notes import InputNotes, ignored_labels
from itk_consensus.assessment.verdict import Verdict, grade_of
from itk_consensus.batch import bids
from itk_consensus.batch.case_study import CaseStudy
from itk_consensus.batch.cases import BatchCase
from itk_consensus.batch.cohort_truths import find_order
from itk_consensus.batch.folder_record import FolderRecord, begin, finish, require_ours
from itk_consensus.batch.output_files import CaseFiles
from itk_consensus.batch.plan import Plan
from itk_consensus.batch.soft_raters import read_rater, soft_methods, takes_probabilities
from itk_consensus.calibration.learned.learned_fusion_filter import LearnedFusionFilter
from itk_consensus.calibration.learned.learned_record import LearnedRecord
from itk_consensus.core.errors import ConsensusWarning, FileError, GeometryError, name_inputs
from itk_consensus.core.parameters import parameters_of
from itk_consensus.core.work import working
from itk_consensus.fusing.fusion_result import FusionResult, result_of, smallest_type
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.images.content import image_hashes
from itk_consensus.images.files import join_volumes, read_quietly, write_image
from itk_consensus.images.geometry import check_same_space
from itk_consensus.images.kept_metadata import Keep
from itk_consensus.images.network_outputs import is_network_output
from itk_consensus.images.own_outputs import reject_own_output
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.agreement_tables import mean_matrix
from itk_consensus.report.fusion_report import to_plain
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.page import report
from itk_consensus.report.text import format_value
from itk_consensus.report.thumbnail import thumbnail
from itk_consensus.storage.files import write_bytes, write_text
from itk_consensus.storage.hashes import file_hash
from itk_consensus.storage.locking import exclusive_lock

DONE, FAILED = "done", "failed"
#: Status, in memory only, of a case that an earlier run finished; tables contain `DONE`.
DONE_BEFORE = "done before"

#: Rules of failed cases in which one reader's file cannot be read or has a different grid.
UNREADABLE, OTHER_GRID = "unreadable file", "another grid"


@dataclass(frozen=True)
class CaseResult:
    """One row of a batch's summary table; undefined values are None."""

    case: str
    status: str
    raters: int | None = None
    labels: int | None = None
    mean_dice: float | None = None  #: Mean Dice between raters, averaged over labels
    lowest_dice: float | None = None
    verdict: str = ""  #: use, look or do not use
    reader: str = ""  #: Readers named by the findings that determined the verdict
    finding: str = ""  #: Text of the first of these findings; for a failed case, the error
    rule: str = ""  #: Name of that finding's rule
    where: str = ""  #: Slice and position given by that finding
    agreement: str = ""  #: Agreement of the raters: good, moderate or poor
    consensus: str = ""  #: File of the label map, relative to the batch's folder
    page: str = ""  #: File of the page, relative to the batch's folder
    notes: str = ""  #: Raters who are copies of each other, and labels that the method ignored


def run_case(case: BatchCase, plan: Plan) -> CaseResult:
    """Fuse a case unless its record shows that it is finished; an error becomes a failed row."""
    try:
        with working(threads=plan.threads):
            return _run(case, plan)
    except Exception as error:  # one bad case must not stop the others
        reason = name_inputs(" ".join(str(error).split()), case.raters)
        failed = failed_result(case, f"{type(error).__name__}: {reason}")
        reader, rule = _reader_to_blame(error, case)
        return replace(failed, reader=reader, rule=rule)


def _reader_to_blame(error: Exception, case: BatchCase) -> tuple[str, str]:
    """Return the name of the reader whose file caused an error, and the rule; "" if it is
    not a single one.
    """
    if isinstance(error, FileError) and error.problem.startswith("cannot be read"):
        named = zip(case.raters, case.rater_names, strict=True)
        reader = next((name for file, name in named if str(file) == str(error.path)), "")
        return reader, UNREADABLE if reader else ""
    if isinstance(error, GeometryError) and "Nor does" not in error.problem:
        stray = re.match(r"input (\d+) does not occupy the same space", error.problem)
        if stray and 2 < len(case.raters) > int(stray[1]):
            return case.rater_names[int(stray[1])], OTHER_GRID
    return "", ""


def failed_result(case: BatchCase, reason: str) -> CaseResult:
    """Return the row of a case that has no result."""
    return CaseResult(case.name, FAILED, finding=reason)


def _run(case: BatchCase, plan: Plan) -> CaseResult:
    if plan.learned is not None:
        case = _sort_raters(case, LearnedFusionFilter.Load(plan.learned).GetRecord())
    files = CaseFiles.of(case, plan)
    current = fingerprint(case, plan)
    finished = _finished_result(case, plan, files, current)
    if finished is not None:
        return finished
    names = [file.name for file in files.results]
    if not plan.overwrite:
        require_ours(files.record, names)
    fused, labels, image, notes = _fuse(case, plan)
    if plan.nnunet:
        labels = _cast_to_smallest_type(labels)
    files.record.parent.mkdir(parents=True, exist_ok=True)
    # A worker of a killed run may still be writing.
    with exclusive_lock(files.record):
        if not plan.overwrite:
            require_ours(files.record, names)
        record = begin(files.record, current, names)
        write_image(labels, files.consensus)
        agreement = _agreement(fused, plan)
        if files.page is not None:
            _, paths = _rater_files(case, len(fused.rater_names))
            outputs = {"label map": files.consensus}
            report(fused, files.page, image, files=paths, outputs=outputs, **plan.look)
        _write_study_files(case, fused, labels, image, agreement, files, plan)
        result = replace(_row(case, fused, agreement, files, plan.full), notes=notes)
        finish(record, names, asdict(result))
    return result


def _cast_to_smallest_type(labels: Any) -> Any:
    """Cast a label map to the smallest integer type that can represent it, as nnU-Net does."""
    loaded = convert.load([labels], owner="consensus")
    (array,) = loaded.arrays
    assert array is not None
    kind = smallest_type((int(array.min()), int(array.max())))
    return convert.to_image(array.astype(kind), loaded)


def _write_study_files(
    case: BatchCase,
    fused: FusionResult[Any],
    labels: Any,
    image: Any,
    agreement: AgreementResult,
    files: CaseFiles,
    plan: Plan,
) -> None:
    """Write the files used by tables and index page, and those of a BIDS derivative."""
    (array,) = convert.load(labels, owner="consensus", keep=Keep.NOTHING).arrays
    assert array is not None
    CaseStudy.of(fused, agreement, array, _repeats(case, fused)).write(files.agreement)
    window = plan.look.get("window")
    deciding = assess(fused).verdict(plan.full).decided_by
    place = next((one.where for one in deciding if one.where is not None), None)
    write_bytes(files.thumbnail, thumbnail(fused, labels, image, window, place))
    if files.probability is not None and files.sidecar is not None:
        given = [label for label in fused.labels if label] or [0]
        write_image(
            join_volumes([fused.probability_image(one) for one in given]), files.probability
        )
        names = plan.look.get("label_names") or {}
        raters = list(agreement.raters)
        write_text(files.sidecar, bids.sidecar(given, names, raters, fused.made_by.method))


def _repeats(case: BatchCase, fused: FusionResult[Any]) -> Iterator[tuple[str, str, NDArray[Any]]]:
    """Yield repeated readings after checking that they are on the raters' grid."""
    for repeat in case.repeats:
        owner = f"{repeat.path}"
        views = convert.load(read_quietly(repeat.path)[0], owner=owner, keep=Keep.NOTHING)
        names = ["the raters", f"reading {repeat.reading} of {repeat.rater}"]
        check_same_space([fused.like.geometry, views.geometry], owner=owner, names=names)
        if len(views.arrays) != 1 or views.arrays[0] is None:
            raise FileError("must have one component, since it is one reading", path=repeat.path)
        yield repeat.rater, repeat.reading, np.asarray(views.arrays[0])


def _agreement(fused: FusionResult[Any], plan: Plan) -> AgreementResult:
    # chance-corrected agreement is not used in the tables
    settings = AgreementSettings(plan.surfaces, chance=False)
    assessment = assess(fused)
    found = assessment.agreement(settings, with_consensus=False)
    return found.with_volumes(assessment.volumes) if plan.volume_intervals else found


def fingerprint(case: BatchCase, plan: Plan) -> dict[str, Any]:
    """Return all data on which the result depends; if they are unchanged, the case is skipped."""
    images = {name: v for name, v in plan.parameters.items() if isinstance(v, Path)}
    content = {
        "version": itk_consensus.__version__,
        "method": plan.method,
        "parameters": {k: v for k, v in plan.parameters.items() if k not in images},
        "reports": plan.reports,
        "surfaces": plan.surfaces,
        "bids": plan.bids,
        "nnunet": plan.nnunet,
        "look": plan.look,
        "full": plan.full,
        "volume_intervals": plan.volume_intervals,
        "learned": None if plan.learned is None else file_hash(plan.learned),
        "raters": list(case.rater_names),
        "inputs": {
            "raters": [_hashes(path) for path in case.raters],
            "repeats": [[one.rater, one.reading, *_hashes(one.path)] for one in case.repeats],
            "image": None if case.image is None else _hashes(case.image),
            "parameters": {name: _hashes(path) for name, path in images.items()},
        },
    }
    plain: dict[str, Any] = to_plain(content)
    return plain


def _hashes(path: Path) -> list[str]:
    return list(image_hashes(path).values())


def _finished_result(
    case: BatchCase, plan: Plan, files: CaseFiles, current: dict[str, Any]
) -> CaseResult | None:
    """Return a case's recorded result if its fingerprint and its files are unchanged."""
    record = FolderRecord.read(files.record)
    # A result with a page is also valid for a plan without pages.
    accepted = (current, {**current, "reports": True})
    if record is None or record.fingerprint not in accepted or not record.is_whole():
        return None
    if not {file.name for file in files.results} <= set(record.written):
        return None
    if record.fingerprint["reports"] and files.page is None:
        page = CaseFiles.of(case, replace(plan, reports=True)).page
        files = files._replace(page=page)
    types, stored = get_type_hints(CaseResult), record.result or {}
    if stored.keys() != types.keys() or not all(isinstance(stored[n], types[n]) for n in types):
        return None
    return replace(CaseResult(**stored), case=case.name, status=DONE_BEFORE, **files.columns())


def _fuse(case: BatchCase, plan: Plan) -> tuple[FusionResult[Any], Any, Any, str]:
    """Fuse a case; return the result, its label map, the image that was segmented, and warnings."""
    fuser = METHODS[plan.method] if plan.learned is None else LearnedFusionFilter
    parameters = {
        name: read_quietly(value)[0] if isinstance(value, Path) else value
        for name, value in plan.parameters.items()
    }
    parameters.setdefault("NumberOfThreads", plan.threads)
    image = None if case.image is None else read_quietly(case.image)[0]
    if image is not None and any(p.name == "Image" for p in parameters_of(fuser)):
        parameters["Image"] = image
    filter_ = fuser(**parameters)
    if isinstance(filter_, LearnedFusionFilter):
        filter_.Load(plan.learned)
    with warnings.catch_warnings():
        # These warnings are included in the diagnostics and shown in the table.
        warnings.simplefilter("ignore", ConsensusWarning)
        raters = _raters(case, fuser, image)
        for rater in raters:
            if rater.is_own_output and not plan.accept_own_outputs:
                reject_own_output(rater.path)
        if not parameters.get("InputsAreLabels", False):
            _require_label_maps(raters)
        labels = filter_.fuse_to_labels([rater.image for rater in raters])
    fused = result_of(filter_)
    names, _ = _rater_files(case, fused.case.votes.number_of_raters)
    return fused.with_rater_names(names), labels, image, _notes(case, filter_, raters)


def _raters(case: BatchCase, fuser: type[LabelFusionFilter], image: Any) -> list[ImageFile]:
    """Read the raters' files: label maps, or probabilities of networks."""
    for path in case.raters:
        if is_network_output(path) and not takes_probabilities(fuser):
            raise FileError(f"holds probabilities: give {soft_methods()}", path=path)
    return [read_rater(path, image) for path in case.raters]


def _sort_raters(case: BatchCase, record: LearnedRecord) -> BatchCase:
    """Sort a case's raters into the order of the learned record."""
    order = find_order(case.rater_names, record.raters)
    if order is None:
        return case
    known = [place for place in order if place is not None]
    if len(known) < len(order):
        missing = ", ".join(sorted({*record.raters} - {*case.rater_names}))
        raise FileError(f"lacks the files of {missing}, who are in the learned record")
    files = tuple(case.raters[place] for place in known)
    return replace(case, raters=files, rater_names=record.raters)


def _require_label_maps(raters: Sequence[ImageFile]) -> None:
    """Raise if a rater's file is an intensity image, which a pattern may have matched by
    accident.
    """
    for rater in raters:
        if why := rater.intensity_reason():
            raise FileError(
                f"looks like an image, not like a rater's labels ({why}): name it by --images "
                "or in the list's column image or, if it does hold labels, add "
                "--inputs-are-labels yes",
                path=rater.path,
            )


def _notes(case: BatchCase, filter_: LabelFusionFilter, files: Sequence[ImageFile]) -> str:
    """Return the warnings that the command ``fuse`` would print for this case."""
    raters = [array for file in files for array in file.components]
    is_binary = filter_.foreground is not None
    notes = InputNotes.of(raters, filter_.GetName(), with_labels=is_binary)
    names, _ = _rater_files(case, len(raters))
    words = [f"{names[i]} and {names[j]} hold the same labels" for i, j in notes.copies]
    ignored = ignored_labels(filter_, set(notes.labels.tolist()))
    words += [f"{filter_.method} takes {format_value(ignored)} for background"] if ignored else []
    return "; ".join(words)


def _rater_files(case: BatchCase, raters: int) -> tuple[list[str], list[Path]]:
    """Return the name and file of each rater; a single file may hold all raters."""
    if raters == len(case.raters):
        return list(case.rater_names), list(case.raters)
    if len(case.raters) == 1:
        return [f"{case.rater_names[0]}[{j}]" for j in range(raters)], [case.raters[0]] * raters
    raise FileError(
        f"{case.name}: some files hold several raters, others one; give one rater per file"
    )


def _row(
    case: BatchCase,
    fused: FusionResult[Any],
    agreement: AgreementResult,
    files: CaseFiles,
    full: bool,
) -> CaseResult:
    names = list(agreement.raters)
    pairs = mean_matrix(agreement)[np.triu_indices(len(names), 1)]
    found = assess(fused).findings(full)
    verdict = Verdict.of(found)
    first = next(iter(verdict.decided_by), None)
    who = dict.fromkeys(name for one in verdict.decided_by for name in one.names)
    return CaseResult(
        case.name,
        DONE,
        len(names),
        len(agreement.labels),
        _none_if_not_finite(agreement.mean_dice()),
        _none_if_not_finite(pairs.min()) if pairs.size else None,
        verdict.word,
        ", ".join(who),
        f"{first.what} {first.do}" if first else "",
        first.rule if first else "",
        str(first.where or "") if first else "",
        found.agreement or "",
        **files.columns(),
    )


def _none_if_not_finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def worst_first(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Sort results: first failed cases, then by severity of the verdict, then by Dice."""

    def badness(result: CaseResult) -> tuple[bool, int, float, str]:
        dice = 2.0 if result.mean_dice is None else result.mean_dice
        return (result.status != FAILED, -grade_of(result.verdict), dice, result.case)

    return sorted(results, key=badness)
