"""``itk-consensus review``: review a consensus interactively in the browser."""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
import webbrowser
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from itk_consensus.assessment.verdict import grade_of
from itk_consensus.batch.cases import BatchCase
from itk_consensus.batch.folder_record import FolderRecord
from itk_consensus.batch.output_files import CASE_RECORD, CASES
from itk_consensus.cli.case_list import Column, read_case_list
from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import (
    add_fusion_options,
    add_image_option,
    add_input_files,
    execute,
    read_raters,
)
from itk_consensus.cli.inputs import read, require_one_space
from itk_consensus.cli.options import add_file, given_parameters
from itk_consensus.cli.outputs import Output, add_overwrite_option, check_outputs, make_folder
from itk_consensus.cli.page_options import add_label_names
from itk_consensus.cli.structure_inputs import add_structure_options, matching_rules
from itk_consensus.core.errors import FileError
from itk_consensus.core.memory import give_memory_back
from itk_consensus.fusing.fusion_result import FusionResult, result_of
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images import convert
from itk_consensus.images.dicom.seg_reading import NOT_ANNOTATED
from itk_consensus.images.dicom.series import DicomSeries, read_dicom_series
from itk_consensus.images.files import read_quietly
from itk_consensus.images.structure_files import CONTOURS, is_dicom
from itk_consensus.methods.registry import METHODS
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.text import PROGRAM
from itk_consensus.review.case import ReviewCase, case_of_result, case_of_structures
from itk_consensus.review.opening import require_application
from itk_consensus.review.record import ReviewRecord, default_record_path
from itk_consensus.review.session import CaseToOpen, Progress, ReviewSession, SeenImage
from itk_consensus.review.signature import key_of
from itk_consensus.storage.locking import exclusive_lock

_DESCRIPTION = """\
Review a consensus in 3D Slicer's own views, in the browser: go through the regions in which readers
differ, the largest first; decide each as the consensus, in, out, as one reader drew it, or paint
it; save the adjudicated map and, next to it, the record of decisions, NAME.review.json. An
unfinished review is resumed. INPUT may be the folder of a batch: its cases are reviewed one after
the other, the worst verdict first.
"""
#: File name of the adjudicated map in the folder of a batch's case.
_ADJUDICATED = "adjudicated.nii.gz"
_PORTS = 65535
_SERVING = "itk_consensus.review.application.serving"


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Add the arguments of the command, which depend on the method."""
    fuser = add_fusion_options(parser, words, "review", _DESCRIPTION)
    parser.usage = f"{PROGRAM} review INPUT... [--image FILE] [--output FILE] [options]"
    parser.set_defaults(run=_review)
    add_input_files(parser)
    add_file(
        parser,
        "-o",
        "--output",
        default=Path("adjudicated.nii.gz"),
        help="the adjudicated map: an image, a .seg.nrrd, DICOM SEG (.dcm) or RTSTRUCT "
        f"({CONTOURS}) [default: %(default)s]",
    )
    add_overwrite_option(parser)
    add_image_option(parser, fuser)
    add_structure_options(parser, with_identity=False)
    add_label_names(parser)
    parser.add_argument("--reviewer", metavar="NAME", help="who decides [default: the page asks]")
    parser.add_argument(
        "--blinded", action="store_true", help="hide readers' names, also from the record"
    )
    parser.add_argument(
        "--hide-consensus",
        action="store_true",
        help="show the consensus of a dispute, p and Dice only after a first opinion about it",
    )
    add_file(parser, "--key", help="sign the record with all bytes of this file, a secret")
    parser.add_argument(
        "--port", type=_port, default=0, metavar="N", help="local port [default: a free one]"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address without opening a browser"
    )


def _review(arguments: argparse.Namespace, console: Console) -> None:
    require_application()
    # Slicer's libraries take seconds to load; they are loaded while files are read and fused.
    loading = threading.Thread(target=import_module, args=[_SERVING], daemon=True)
    loading.start()
    with contextlib.ExitStack() as held:
        if len(arguments.inputs) == 1 and arguments.inputs[0].is_dir():
            cases = _cohort(arguments, console, held)
        else:
            cases = [_one_case(arguments, console, held)]
        console.clear()
        loading.join()
        from itk_consensus.review.application.serving import serve

        announce = partial(_announce, arguments, console)
        serve(cases, announce, who=arguments.reviewer or "", port=arguments.port)


def _announce(arguments: argparse.Namespace, console: Console, address: str) -> None:
    console.answer(f"Review: {address}\nCtrl-C ends it; every decision is kept.")
    sys.stdout.flush()
    if not arguments.no_browser:
        webbrowser.open(address)


def _one_case(
    arguments: argparse.Namespace, console: Console, held: contextlib.ExitStack
) -> CaseToOpen:
    output = arguments.output
    record = default_record_path(output)
    fresh = arguments.overwrite or not record.exists()
    if not fresh:
        ReviewRecord.read(record)  # raises before processing starts if the record is damaged
    is_image = not output.name.lower().endswith((".seg.nrrd", ".dcm"))
    outputs = [
        Output("--output", output, "u1" if is_image else None, continued=record.exists()),
        Output("--output", record, None, continued=True),
    ]
    make_folder(output.parent)
    more: dict[str, Any] = {"fresh": fresh, **_study(arguments)}
    if is_dicom(output) and arguments.series is None:
        arguments.parser.error("DICOM refers to the series that was outlined; give --series")
    read = _structures if arguments.per_structure else _label_maps
    make_case, image, raters = read(arguments, console, outputs, record)
    held.enter_context(exclusive_lock(record, wait=1.0))

    def session() -> ReviewSession:
        case, series = make_case()
        opened = ReviewSession(case, output, series=series, raters=raters, **more)
        held.callback(lambda: console.answer(_undecided_count(opened)))
        return opened

    return CaseToOpen(output.name, session, image)


def _study(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the study settings with which a review session is opened."""
    return {
        "blinded": arguments.blinded,
        "hide_consensus": arguments.hide_consensus,
        "key": None if arguments.key is None else key_of(arguments.key),
    }


def _undecided_count(session: ReviewSession) -> str:
    left, all_ = len(session.review.undecided), len(session.case.disputes)
    return f"{session.record_path}: {left} of {all_} disputes undecided"


class _ReadCase(NamedTuple):
    """Files that have been read and checked but not yet fused."""

    case: Callable[[], tuple[ReviewCase, DicomSeries | None]]
    image: Callable[[], SeenImage | None]
    raters: tuple[Path, ...]


def _label_maps(
    arguments: argparse.Namespace, console: Console, outputs: list[Output], record: Path
) -> _ReadCase:
    """Prepare the review of label maps."""
    series = None if arguments.series is None else read_dicom_series(arguments.series)
    files = read_raters(arguments, console, outputs)
    paths, image = files.paths, None
    if files.image is not None:
        like = convert.load([files.inputs[0].image], owner="review")
        voxels = convert.load_one(files.image, like, owner="review", parameter="--image")
        image = SeenImage(voxels, like.without_inputs().geometry)

    def seen() -> SeenImage | None:
        return image and image._replace(drawn=np.asarray(files.inputs[0].components[0]) != 0)

    def case() -> tuple[ReviewCase, DicomSeries | None]:
        execute(files, arguments, console)
        fused = result_of(files.filter_)
        files.inputs.clear()  # frees memory; the result contains the votes
        give_memory_back()
        return case_of_result(fused, paths, record, label_names=arguments.label_names), series

    return _ReadCase(case, seen, tuple(dict.fromkeys(paths)))


def _structures(
    arguments: argparse.Namespace, console: Console, outputs: list[Output], record: Path
) -> _ReadCase:
    """Prepare the review of named structures."""
    given = given_parameters(arguments, arguments.fuser)
    image = getattr(arguments, "Image", None)
    files = sorted(n for n, value in given.items() if isinstance(value, Path) and n != "Image")
    if files:
        arguments.parser.error(f"{files[0]} cannot be a file with --per-structure")
    given.pop("Image", None)
    options = {} if arguments.absent_frames is None else {"absent_frames": arguments.absent_frames}
    if arguments.absent_frames == "missing":
        given.setdefault(LabelFusionFilter.MissingLabel.name, NOT_ANNOTATED)
    folders = [] if arguments.series is None else [arguments.series]
    reads = [*arguments.inputs, *folders, *([] if image is None else [image])]
    check_outputs(outputs, reads, 3, overwrite=arguments.overwrite)
    console.progress(0.1, "reading")
    series = None if arguments.series is None else read_dicom_series(arguments.series)
    file = None if image is None else ImageFile.of(image, read(image, console))
    fuser = arguments.fuser(**given)

    def case() -> tuple[ReviewCase, DicomSeries | None]:
        made = case_of_structures(
            arguments.inputs,
            fuser,
            series,
            record=record,
            match=lambda readers: matching_rules(arguments, readers).match(readers),
            **options,
        )
        if file is not None:
            mask = ImageFile.of(arguments.inputs[0], made.on_file.templates[0].mask)
            require_one_space([mask, file], 1e-4, 1e-4)
        return made, series

    def load_image() -> SeenImage | None:
        if file is not None:
            return SeenImage(file.components[0], file.geometry)
        pixels = None if series is None else series.pixels()
        return None if series is None or pixels is None else SeenImage(pixels, series.geometry)

    return _ReadCase(case, load_image, tuple(arguments.inputs))


# -- a cohort --------------------------------------------------------------------------------


def _cohort(
    arguments: argparse.Namespace, console: Console, held: contextlib.ExitStack
) -> list[CaseToOpen]:
    """Return the cases of a batch, sorted with the worst verdict first."""
    folder = arguments.inputs[0]
    if not (folder / CASES).is_file():
        raise FileError(f"is not the folder of a batch: it has no {CASES}", path=folder)
    columns = (Column("raters", required=True, may_be_named=True), Column("image"))
    found = []
    for row in read_case_list(folder / CASES, columns):
        image = next(iter(row["image"]), None)
        case = BatchCase.of_files(row.name, row["raters"], image, row.names["raters"])
        record = FolderRecord.read(folder / case.folder / CASE_RECORD)
        if record is None or record.result is None:
            console.warn(f"case {case.name}: has no result, and is omitted")
            continue
        kept = default_record_path(folder / case.folder / _ADJUDICATED)
        begun_before = kept.exists() and not arguments.overwrite
        found.append((case, record, Progress.of(ReviewRecord.read(kept)) if begun_before else None))
    if not found:
        raise FileError("has no case with a result", path=folder)
    held.enter_context(exclusive_lock(folder / "review", wait=1.0))
    # an existing review of a case may be overwritten only when the case is first opened
    begun = set[str]()
    found.sort(key=lambda one: _worst_first(one[1]))
    return [
        CaseToOpen(
            case.name,
            partial(_case_of_batch, folder, case, record, arguments, begun),
            partial(_image_of_batch, case),
            before,
            str((record.result or {}).get("verdict", "")),
        )
        for case, record, before in found
    ]


def _worst_first(record: FolderRecord) -> tuple[int, float]:
    """Return a sort key: verdict (the worst first), then agreement (the lowest first)."""
    result = record.result or {}
    dice = result.get("mean_dice")
    return -grade_of(result.get("verdict", "")), 2.0 if dice is None else float(dice)


def _image_of_batch(case: BatchCase) -> SeenImage | None:
    if case.image is None:
        return None
    first = read_quietly(case.raters[0])[0]
    like = convert.load([first], owner="review")
    image = read_quietly(case.image)[0]
    drawn = np.asarray(convert.load([first], owner="review").arrays[0]) != 0
    voxels = convert.load_one(image, like, owner="review", parameter="image")
    return SeenImage(voxels, like.geometry, drawn)


def _case_of_batch(
    folder: Path,
    case: BatchCase,
    record: FolderRecord,
    arguments: argparse.Namespace,
    begun: set[str],
) -> ReviewSession:
    method, parameters = record.fingerprint["method"], dict(record.fingerprint["parameters"])
    filter_ = METHODS[method](**parameters)
    result = filter_.fuse([read_quietly(path)[0] for path in case.raters])
    output = folder / case.folder / _ADJUDICATED
    opened = case_of_result(
        result,
        _rater_files(case, result),
        default_record_path(output),
        label_names=arguments.label_names,
    )
    fresh = arguments.overwrite and case.name not in begun
    begun.add(case.name)
    return ReviewSession(
        opened,
        output,
        raters=case.raters,
        fresh=fresh,
        **_study(arguments),
    )


def _rater_files(case: BatchCase, result: FusionResult[Any]) -> list[Path]:
    """Return the file of each rater; the file of a single vector image is repeated."""
    raters = len(result.rater_names)
    return list(case.raters) if len(case.raters) == raters else [case.raters[0]] * raters


def _port(text: str) -> int:
    if not (text.isdecimal() and len(text) < 6 and int(text) <= _PORTS):
        raise argparse.ArgumentTypeError(f"must be an integer from 0 to {_PORTS}, got {text!a}")
    return int(text)
