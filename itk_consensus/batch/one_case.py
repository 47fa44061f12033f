"""One case of a batch: fuse it, write what comes out, and leave a record that it is done."""

from __future__ import annotations

import hashlib
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

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
from itk_consensus.batch.cohort_truths import in_order_of
from itk_consensus.batch.folder_record import FolderRecord, begin, finish, require_ours
from itk_consensus.batch.soft_raters import read_rater, soft_methods, takes_probabilities
from itk_consensus.calibration.learned.learned_fusion_filter import LearnedFusionFilter
from itk_consensus.calibration.learned.learned_record import LearnedRecord
from itk_consensus.core.errors import ConsensusWarning, FileError
from itk_consensus.core.parameters import parameters_of
from itk_consensus.core.work import working
from itk_consensus.fusing.fusion_result import FusionResult, result_of, smallest_type
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.images.content import image_hashes
from itk_consensus.images.files import joined, read_quietly, write_image
from itk_consensus.images.geometry import check_same_space
from itk_consensus.images.kept_metadata import Keep
from itk_consensus.images.network_outputs import is_network_output
from itk_consensus.images.own_outputs import reject_own_output
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.agreement_tables import mean_matrix
from itk_consensus.report.fusion_report import to_plain
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.page import report
from itk_consensus.report.text import shown
from itk_consensus.report.thumbnail import thumbnail
from itk_consensus.storage.files import read_bytes, write_bytes, write_text
from itk_consensus.storage.locking import locked

RECORD = "case.json"
PAGE = "report.html"
AGREEMENT = "agreement.json"
THUMBNAIL = "thumbnail.png"

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
    overwrite: bool = False  #: Whether files that are not of an earlier run are replaced
    suffix: str = ".nii.gz"
    surfaces: bool = False  #: Whether distances between contours are measured without pages too
    bids: bool = False  #: Whether files are named and described as BIDS derivatives
    excel: bool = False  #: Whether the tables are written as a workbook too
    #: How pages look: keywords of `itk_consensus.report`.
    look: Mapping[str, Any] = field(default_factory=dict)
    full: bool = False  #: Whether results are compared with Consensus
    accept_own_outputs: bool = False  #: Whether results of earlier runs count as raters
    volume_intervals: bool = False  #: Whether it is said which volume another rater would draw
    nnunet: bool = False  #: Whether label maps lie in the folder itself, called like their cases
    learned: Path | None = None  #: The record of a learned fusion, in place of the method's filter

    def absolute(self) -> Plan:
        """The same plan for a process that works in another folder."""
        parameters = {
            name: value.absolute() if isinstance(value, Path) else value
            for name, value in self.parameters.items()
        }
        learned = None if self.learned is None else self.learned.absolute()
        return replace(self, output=self.output.absolute(), parameters=parameters, learned=learned)


@dataclass(frozen=True)
class CaseResult:
    """One row of a batch's table; numbers that are not known are None."""

    case: str
    status: str
    raters: int | None = None
    labels: int | None = None
    mean_dice: float | None = None  #: Between raters, averaged over labels
    lowest_dice: float | None = None
    verdict: str = ""  #: use, look or do not use
    reader: str = ""  #: Who is to be looked at, by the findings that decided it
    finding: str = ""  #: What the first of them says; of a failed case the error
    rule: str = ""  #: Its name
    where: str = ""  #: Slice and position
    agreement: str = ""  #: Of the raters: good, moderate or poor
    consensus: str = ""  #: A file, relative to the batch's folder
    page: str = ""  #: The same
    notes: str = ""  #: Raters who are copies, and labels that the method ignores


class CaseFiles(NamedTuple):
    """Where the results of a case go."""

    output: Path  #: The batch's folder
    record: Path  #: A `FolderRecord`
    consensus: Path
    agreement: Path  #: A `CaseStudy`
    thumbnail: Path
    page: Path | None = None
    probability: Path | None = None  #: Of all labels, where the files are BIDS derivatives
    sidecar: Path | None = None  #: What its volumes are about

    @classmethod
    def of(cls, case: BatchCase, plan: Plan) -> CaseFiles:
        """The files of a case, in a folder of their own."""
        if plan.bids:
            return cls._of_bids(case, plan)
        if plan.nnunet:
            return cls._of_nnunet(case, plan)
        folder = plan.output / case.folder
        return cls(
            plan.output,
            folder / RECORD,
            folder / f"consensus{plan.suffix}",
            folder / AGREEMENT,
            folder / THUMBNAIL,
            folder / PAGE if plan.reports else None,
        )

    @classmethod
    def _of_nnunet(cls, case: BatchCase, plan: Plan) -> CaseFiles:
        """All cases in one folder, each label map called as its case."""

        def named(suffix: str) -> Path:
            return plan.output / f"{case.folder}{suffix}"

        return cls(
            plan.output,
            named(f".{RECORD}"),
            named(plan.suffix),
            named(f".{AGREEMENT}"),
            named(f".{THUMBNAIL}"),
            named(f".{PAGE}") if plan.reports else None,
        )

    @classmethod
    def _of_bids(cls, case: BatchCase, plan: Plan) -> CaseFiles:
        folder = plan.output / bids.folder_of(case.name)

        def named(suffix: str) -> Path:
            return folder / bids.name_of(case.name, suffix)

        return cls(
            plan.output,
            named(RECORD),
            named(f"dseg{plan.suffix}"),
            named(AGREEMENT),
            named(THUMBNAIL),
            named(PAGE) if plan.reports else None,
            named(f"probseg{plan.suffix}"),
            named("probseg.json"),
        )

    @property
    def results(self) -> list[Path]:
        """All but the record."""
        optional = (self.page, self.probability, self.sidecar)
        known = [file for file in optional if file is not None]
        return [self.consensus, self.agreement, self.thumbnail, *known]

    def named(self) -> dict[str, Any]:
        """What a row of the table says of them: paths within the batch's folder."""
        folder = self.output
        return {
            "consensus": self.consensus.relative_to(folder).as_posix(),
            "page": "" if self.page is None else self.page.relative_to(folder).as_posix(),
        }


def run_case(case: BatchCase, plan: Plan) -> CaseResult:
    """Fuse a case unless its record says it is done; an error becomes a failed row."""
    try:
        with working(threads=plan.threads):
            return _run(case, plan)
    except Exception as error:  # one bad case must not cost the others
        reason = naming_files(" ".join(str(error).split()), case.raters)
        return failed(case, f"{type(error).__name__}: {reason}")


def naming_files(text: str, files: Sequence[Path]) -> str:
    """Replace numbers of inputs in a sentence by the names of their files."""

    def named(found: re.Match[str]) -> str:
        number = int(found[1])
        return str(files[number]) if number < len(files) > 1 else found[0]

    return re.sub(r"\binput (\d+)\b", named, text)


def failed(case: BatchCase, reason: str) -> CaseResult:
    """The row of a case that has no result."""
    return CaseResult(case.name, FAILED, finding=reason)


def _run(case: BatchCase, plan: Plan) -> CaseResult:
    if plan.learned is not None:
        case = _in_learned_order(case, LearnedFusionFilter.Load(plan.learned).GetRecord())
    files = CaseFiles.of(case, plan)
    wanted = fingerprint(case, plan)
    finished = _finished(case, plan, files, wanted)
    if finished is not None:
        return finished
    names = [file.name for file in files.results]
    if not plan.overwrite:
        require_ours(files.record, names)
    fused, labels, image, notes = _fuse(case, plan)
    if plan.nnunet:
        labels = _in_few_bytes(labels)
    files.record.parent.mkdir(parents=True, exist_ok=True)
    # A run that was killed may have left a worker who is still at it.
    with locked(files.record):
        if not plan.overwrite:
            require_ours(files.record, names)
        record = begin(files.record, wanted, names)
        write_image(labels, files.consensus)
        agreement = _agreement(fused, plan)
        if files.page is not None:
            _, paths = _rater_files(case, len(fused.rater_names))
            outputs = {"label map": files.consensus}
            report(fused, files.page, image, files=paths, outputs=outputs, **plan.look)
        _write_for_the_study(case, fused, labels, image, agreement, files, plan)
        result = replace(_row(case, fused, agreement, files, plan.full), notes=notes)
        finish(record, names, asdict(result))
    return result


def _in_few_bytes(labels: Any) -> Any:
    """A label map of type uint8, or of the smallest type that holds it, as nnU-Net writes it."""
    loaded = convert.load([labels], owner="consensus")
    (array,) = loaded.arrays
    assert array is not None
    kind = smallest_type((int(array.min()), int(array.max())))
    return convert.to_image(array.astype(kind), loaded)


def _write_for_the_study(
    case: BatchCase,
    fused: FusionResult[Any],
    labels: Any,
    image: Any,
    agreement: AgreementResult,
    files: CaseFiles,
    plan: Plan,
) -> None:
    """What the tables and the index page need of a case, and the files of BIDS."""
    (array,) = convert.load(labels, owner="consensus", keep=Keep.NOTHING).arrays
    assert array is not None
    CaseStudy.of(fused, agreement, array, _repeats(case, fused)).write(files.agreement)
    window = plan.look.get("window")
    deciding = assess(fused).verdict(plan.full).decided_by
    place = next((one.where for one in deciding if one.where is not None), None)
    write_bytes(files.thumbnail, thumbnail(fused, labels, image, window, place))
    if files.probability is not None and files.sidecar is not None:
        given = [label for label in fused.labels if label] or [0]
        write_image(joined([fused.probability_image(one) for one in given]), files.probability)
        names = plan.look.get("label_names") or {}
        raters = list(agreement.raters)
        write_text(files.sidecar, bids.sidecar(given, names, raters, fused.made_by.method))


def _repeats(case: BatchCase, fused: FusionResult[Any]) -> Iterator[tuple[str, str, NDArray[Any]]]:
    """Readings after the first, on the grid of the raters."""
    for repeat in case.repeats:
        owner = f"{repeat.path}"
        views = convert.load(read_quietly(repeat.path)[0], owner=owner, keep=Keep.NOTHING)
        names = ["the raters", f"reading {repeat.reading} of {repeat.rater}"]
        check_same_space([fused.like.geometry, views.geometry], owner=owner, names=names)
        if len(views.arrays) != 1 or views.arrays[0] is None:
            raise FileError("must have one component, as a reading has", path=repeat.path)
        yield repeat.rater, repeat.reading, np.asarray(views.arrays[0])


def _agreement(fused: FusionResult[Any], plan: Plan) -> AgreementResult:
    settings = AgreementSettings(plan.surfaces, chance=False)  # which no table of a batch has
    assessment = assess(fused)
    found = assessment.agreement(settings, with_consensus=False)
    return found.with_volumes(assessment.volumes) if plan.volume_intervals else found


def fingerprint(case: BatchCase, plan: Plan) -> dict[str, Any]:
    """All that the result depends on; the same again means that nothing has to be redone."""
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
        "learned": None if plan.learned is None else _checksum(plan.learned),
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


def _checksum(path: Path) -> str:
    return hashlib.blake2b(read_bytes(path), digest_size=16).hexdigest()


def _hashes(path: Path) -> list[str]:
    return list(image_hashes(path).values())


def _finished(
    case: BatchCase, plan: Plan, files: CaseFiles, wanted: dict[str, Any]
) -> CaseResult | None:
    """What the record of a case says, if that is what is wanted and its files are as they were."""
    record = FolderRecord.read(files.record)
    # Pages of an earlier run of the same plan are no reason to do it again, or to lose them.
    enough = (wanted, {**wanted, "reports": True})
    if record is None or record.fingerprint not in enough or not record.is_whole():
        return None
    if not {file.name for file in files.results} <= set(record.written):
        return None
    if record.fingerprint["reports"] and files.page is None:
        page = CaseFiles.of(case, replace(plan, reports=True)).page
        files = files._replace(page=page)
    known, said = get_type_hints(CaseResult), record.result or {}
    if said.keys() != known.keys() or not all(isinstance(said[n], known[n]) for n in known):
        return None
    return replace(CaseResult(**said), case=case.name, status=DONE, **files.named())


def _fuse(case: BatchCase, plan: Plan) -> tuple[FusionResult[Any], Any, Any, str]:
    """The result, its label map, the image that the raters saw, and what to warn of."""
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
        # The diagnostics say it again, and the table shows them.
        warnings.simplefilter("ignore", ConsensusWarning)
        raters = _raters(case, fuser, image)
        for rater in raters:
            if rater.is_own_output and not plan.accept_own_outputs:
                reject_own_output(rater.path)
        if not parameters.get("InputsAreLabels", False):
            _require_label_maps(raters)
        labels = filter_.fused_labels([rater.image for rater in raters])
    fused = result_of(filter_)
    names, _ = _rater_files(case, fused.case.votes.number_of_raters)
    return fused.named(names), labels, image, _notes(case, filter_, raters)


def _raters(case: BatchCase, fuser: type[LabelFusionFilter], image: Any) -> list[ImageFile]:
    """The raters' files, of networks their probabilities."""
    for path in case.raters:
        if is_network_output(path) and not takes_probabilities(fuser):
            raise FileError(f"holds probabilities: give {soft_methods()}", path=path)
    return [read_rater(path, image) for path in case.raters]


def _in_learned_order(case: BatchCase, record: LearnedRecord) -> BatchCase:
    """The case with its raters in the order in which they were learned of."""
    order = in_order_of(case.rater_names, record.raters)
    if order is None:
        return case
    known = [place for place in order if place is not None]
    if len(known) < len(order):
        missing = ", ".join(sorted({*record.raters} - {*case.rater_names}))
        raise FileError(f"lacks the files of {missing}, of whom was learned")
    files = tuple(case.raters[place] for place in known)
    return replace(case, raters=files, rater_names=record.raters)


def _require_label_maps(raters: Sequence[ImageFile]) -> None:
    """Refuse a case with an image among its raters, as a pattern takes it along."""
    for rater in raters:
        if why := rater.intensities():
            raise FileError(
                f"looks like an image, not like a rater's labels ({why}): name it by --images "
                "or in the list's column image or, if it holds labels all the same, add "
                "--inputs-are-labels yes",
                path=rater.path,
            )


def _notes(case: BatchCase, filter_: LabelFusionFilter, files: Sequence[ImageFile]) -> str:
    """What the command that fuses one case would warn of."""
    raters = [array for file in files for array in file.components]
    is_binary = filter_.foreground is not None
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
        _known(agreement.mean_dice()),
        _known(pairs.min()) if pairs.size else None,
        verdict.word,
        ", ".join(who),
        f"{first.what} {first.do}" if first else "",
        first.rule if first else "",
        str(first.where or "") if first else "",
        found.agreement or "",
        **files.named(),
    )


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def worst_first(results: Sequence[CaseResult]) -> list[CaseResult]:
    """Failed cases, then the gravest verdicts, of one verdict those with the lowest Dice."""

    def badness(result: CaseResult) -> tuple[bool, int, float, str]:
        dice = 2.0 if result.mean_dice is None else result.mean_dice
        return (result.status == DONE, -grade_of(result.verdict), dice, result.case)

    return sorted(results, key=badness)
