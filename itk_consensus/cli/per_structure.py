"""``itk-consensus fuse --per-structure``: fuse each of several named, overlapping structures."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from itk_consensus.assessment.assessment import assess
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.verdict import WORDS, Verdict
from itk_consensus.calibration.learned.disputed_label import raters_left_out
from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import exit_code
from itk_consensus.cli.inputs import read
from itk_consensus.cli.options import given_parameters, use_option_names
from itk_consensus.cli.outputs import Output, check_outputs, given_outputs, lock_outputs
from itk_consensus.cli.structure_inputs import LEAST_ISLAND, ReadStructures, read_readers
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.fusing.fusion_result import FusionResult, MadeBy, result_of
from itk_consensus.fusing.label_fusion import LabelFusionFilter
from itk_consensus.images.dicom.identity import identity_of
from itk_consensus.images.dicom.rtstruct_reading import ROI_TYPE
from itk_consensus.images.dicom.rtstruct_writing import HOLES, ROI_DESCRIPTION
from itk_consensus.images.dicom.seg_reading import NOT_ANNOTATED
from itk_consensus.images.files import write_image
from itk_consensus.images.slicer_segmentation import shared_details
from itk_consensus.images.structure_files import (
    CONTOURS,
    is_contours,
    is_dicom,
    require_structures_name,
    write_structures,
)
from itk_consensus.images.structures import (
    Structure,
    geometry_of,
    mask_of,
    separate_undecided,
    voxels_of,
)
from itk_consensus.report.dispute_figures import Look
from itk_consensus.report.fusion_report import FusionReport, describe_inputs
from itk_consensus.report.image_file import ImageFile
from itk_consensus.report.page import file_hashes
from itk_consensus.report.structures_page import (
    StructurePart,
    look_for,
    structure_part,
    structures_page,
)
from itk_consensus.report.text import pluralize, wrap_lines
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.space.islands import remove_islands
from itk_consensus.storage.files import write_text
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS

#: Placeholder in the arguments of --uncertainty and --probability, replaced by each structure.
EVERY_STRUCTURE = "{structure}"


@dataclass
class _Fused:
    """The result of one structure."""

    structure: Structure
    verdict: Verdict
    left_out: int = 0  #: Number of readers whose masks the method ignored
    hollow: str = ""  #: Reason why the result is not a consensus; "" if it is one
    notes: tuple[str, ...] = ()  #: Remarks for the user
    report: dict[str, Any] | None = None  #: The structure's part of the JSON report, if requested
    part: StructurePart | None = None  #: The structure's part of the page, if requested


def fuse_per_structure(arguments: argparse.Namespace, console: Console) -> int:
    """Read, match, fuse and write structures; print who drew each structure, and any concerns."""
    fuser = _fuser(arguments)
    require_structures_name(arguments.output)
    texts = given_outputs(arguments, json=None, report=None)
    outputs = [Output("--output", arguments.output), *texts]
    # In the folder of a series, all files are read as slices.
    folders = [] if arguments.series is None else [arguments.series]
    picture = getattr(arguments, "Image", None)
    inputs = [*arguments.inputs, *folders, *([] if picture is None else [picture])]
    check_outputs(outputs, inputs, 3, overwrite=arguments.overwrite)
    if is_dicom(arguments.output) and arguments.series is None:
        arguments.parser.error("DICOM output needs the series that was segmented; give --series")
    readers = read_readers(arguments, arguments.inputs)
    images = _images(arguments, [name for name, _ in readers.masks_by_structure()])
    check_outputs(images, inputs, 3, overwrite=arguments.overwrite)
    for sentence in readers.doubts:
        console.warn(sentence)
    with lock_outputs([*outputs, *images], overwrite=arguments.overwrite):
        fused = list(_fuse_each(readers, fuser, arguments, console))
        for sentence in _hollow_warnings(fused, arguments):
            console.warn(sentence)
        consensus = _structures_to_write(fused, readers, arguments)
        names = {one.structure.name for one in fused}
        for one in consensus:
            if one.name not in names:
                console.warn(f"tied voxels are written as the structure '{one.name}'")
        _write_consensus(consensus, fused, readers, fuser, arguments)
        _write_reports(fused, readers, fuser, arguments)
    written = "".join(f"\n{one.option[2:]}: {one.path}" for one in [*outputs[1:], *images])
    summary = f"{readers.matched}\n{len(consensus)} structures in {arguments.output}{written}"
    return _answer(summary, fused, arguments, console)


def _hollow_warnings(fused: Sequence[_Fused], arguments: argparse.Namespace) -> list[str]:
    """Return a warning for each structure that is not a consensus."""
    consequence = "it is written because of --write-all"
    if not arguments.write_all:
        consequence = "it is not written; --write-all writes it"
    return [f"{one.structure.name}: {one.hollow}; {consequence}" for one in fused if one.hollow]


def _structures_to_write(
    fused: Sequence[_Fused], readers: ReadStructures, arguments: argparse.Namespace
) -> list[Structure]:
    """Return the structures that are a consensus, or all with ``--write-all``."""
    chosen = [one for one in fused if arguments.write_all or not one.hollow]
    if not chosen:
        raise InputError("no structure is a consensus; --write-all writes them anyway")
    described = []
    for one in chosen:
        drew = sum(has is not None for has in readers.matched.table[one.structure.name])
        used = drew - one.left_out
        text = f"{one.verdict.word}: consensus of {used} of {len(readers.matched.readers)} readers"
        text += f" ({one.left_out} left out)" if one.left_out else ""
        details = {**one.structure.details, ROI_DESCRIPTION: "; ".join([text, *one.notes])}
        described.append(replace(one.structure, details=details))
    return separate_undecided(described)


def _write_consensus(
    consensus: Sequence[Structure],
    fused: Sequence[_Fused],
    readers: ReadStructures,
    fuser: LabelFusionFilter,
    arguments: argparse.Namespace,
) -> None:
    """Write the structures in the format of the output's extension."""
    more: dict[str, Any] = {}
    if is_contours(arguments.output):
        more = {"smooth": arguments.smooth, "holes": arguments.holes or HOLES[0]}
        more["description"] = _description(fused, readers, fuser)
    elif arguments.smooth is not None or arguments.holes is not None:
        arguments.parser.error(
            f"--smooth and --holes apply only to contours; name the output {CONTOURS}"
        )
    raters = [path for path in arguments.inputs if path.suffix.lower() != ".nrrd"]
    method, series = fuser.GetName(), readers.series
    write_structures(consensus, arguments.output, series, method=method, raters=raters, **more)


def _description(fused: Sequence[_Fused], readers: ReadStructures, fuser: LabelFusionFilter) -> str:
    """Return the file's description for planning systems: readers, method, and number of
    each verdict.
    """
    counts = Counter(one.verdict.word for one in fused)
    words = ", ".join(f"{counts[word]} {word}" for word in WORDS if counts[word])
    number = len(readers.matched.readers)
    return f"Consensus of {pluralize(number, 'reader')} by {fuser.GetName()}: {words}"


def page_per_structure(arguments: argparse.Namespace, console: Console) -> int:
    """Run ``itk-consensus report --per-structure``, which writes only the page."""
    arguments.report, arguments.full = arguments.output, False
    arguments.json = arguments.probability = arguments.uncertainty = arguments.label = None
    fuser = _fuser(arguments)
    folders = [] if arguments.series is None else [arguments.series]
    outputs = [Output("--output", arguments.output)]
    check_outputs(outputs, [*arguments.inputs, *folders], 3, overwrite=arguments.overwrite)
    readers = read_readers(arguments, arguments.inputs)
    for sentence in readers.doubts:
        console.warn(sentence)
    fused = list(_fuse_each(readers, fuser, arguments, console))
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        _write_reports(fused, readers, fuser, arguments)
    summary = f"{readers.matched}\n{arguments.output}: {fuser.method} of each structure"
    return _answer(summary, fused, arguments, console)


def _answer(
    summary: str, fused: Sequence[_Fused], arguments: argparse.Namespace, console: Console
) -> int:
    """Print the verdict for each structure and the summary; return the exit code."""
    verdicts = sorted(((one.verdict, one.structure.name) for one in fused), key=_worst_first)
    lines = [line for verdict, name in verdicts for line in wrap_lines(f"{name}: {verdict}")]
    lines += [f"{one.structure.name}: {note}" for one in fused for note in one.notes]
    console.answer("\n".join([*lines, summary]))
    return max((exit_code(one.verdict.word, arguments.fail_on) for one in fused), default=0)


def _worst_first(row: tuple[Verdict, str]) -> int:
    """Return a sort key by verdict, the worst first."""
    return -row[0].grade


def _fuse_each(
    readers: ReadStructures,
    fuser: LabelFusionFilter,
    arguments: argparse.Namespace,
    console: Console,
) -> Iterator[_Fused]:
    drawn = list(readers.masks_by_structure())
    look = look_for(len(drawn), Look(arguments.window, arguments.contact_sheet))
    image = _image(readers, arguments, console) if arguments.report is not None else None
    for number, (name, who) in enumerate(drawn):
        console.progress(number / len(drawn), name)
        with use_option_names(fuser, arguments.method):
            mask = fuser.fuse_to_labels([one.mask for one in who.values()])
        mask, islands = _without_islands(mask, who, arguments)
        names = {n: readers.matched.readers[n] for n in who}
        known = readers.known_of(name, tuple(who))
        full = arguments.full or arguments.json is not None
        result = result_of(fuser).with_rater_names(list(names.values()))
        findings = assess(result, known=known).findings(full)
        structure = _consensus(who, name, mask)
        hollow = _hollow_reason(structure, known)
        notes = (*islands, *_slice_notes(mask, who))
        ignored = _number_left_out(result)
        fused = _Fused(structure, Verdict.of(findings), ignored, hollow, notes)
        for option in ("probability", "uncertainty"):
            _write_image_of(option, name, fuser, arguments)
        if arguments.json is not None:
            files = [ImageFile.of(arguments.inputs[n], one.mask) for n, one in who.items()]
            described = describe_inputs(files, list(names.values()))
            label_map = ImageFile.of(arguments.output, mask)
            report = FusionReport(result, described, label_map, {}, diagnostics=findings)
            fused.report = report.to_dict()
        if arguments.report is not None:
            fused.part = structure_part(result, name, names, image, look, number, known)
        yield fused


def _number_left_out(result: FusionResult[Any]) -> int:
    """Return the number of readers whose masks Consensus ignored because they lie
    elsewhere; 0 for other methods.
    """
    if "shared" not in result.extras or 1 not in result.labels:
        return 0
    return len(raters_left_out(result.extras["shared"], result.labels.index(1)))


def _hollow_reason(structure: Structure, known: Sequence[Finding]) -> str:
    """Return the reason why a structure is not a consensus; "" if it is one."""
    if not np.any(voxels_of(structure.mask) == 1):
        return "the consensus is empty"
    return next((one.what.rstrip(".") for one in known if one.rule == "few drew"), "")


def _slice_notes(mask: Any, who: Mapping[int, Structure]) -> list[str]:
    """Return a note if the consensus covers fewer or more slices than all readers' contours do."""
    own, *drawn = (
        int((voxels_of(one) == 1).any(axis=(1, 2)).sum())
        for one in (mask, *(structure.mask for structure in who.values()))
    )
    few, many = min(drawn), max(drawn)
    if not own or few <= own <= many:
        return []
    drew = f"{few}" if few == many else f"{few} to {many}"
    return [f"on {pluralize(own, 'slice')}, readers drew on {drew}"]


def _without_islands(
    mask: Any, who: Mapping[int, Structure], arguments: argparse.Namespace
) -> tuple[Any, tuple[str, ...]]:
    """Remove small islands from the mask; return the mask and a note about the islands."""
    least = getattr(arguments, "least_island", None)
    if least is None:
        least = LEAST_ISLAND if is_contours(arguments.output) else 0.0
    if not least:
        return mask, ()
    voxel, unit = voxel_volume(geometry_of(mask).spacing)
    array = voxels_of(mask)
    raters = [voxels_of(one.mask) == 1 for one in who.values()]
    found = remove_islands(array == 1, raters, least / voxel)
    if not found.removed:
        return mask, ()
    kept = np.where((array == 1) & ~found.mask, 0, array)
    volume = voxel * sum(found.removed)
    number = pluralize(len(found.removed), "island")
    return mask_of(kept, mask), (f"{number} left out ({volume:.2g} {unit})",)


def _write_reports(
    fused: list[_Fused],
    readers: ReadStructures,
    fuser: LabelFusionFilter,
    arguments: argparse.Namespace,
) -> None:
    if arguments.json is not None:
        content = {
            "only_one_reader": list(readers.matched.unmatched),
            "no_consensus": {one.structure.name: one.hollow for one in fused if one.hollow},
            "accepted": [str(one) for one in readers.matched.accepted],
            "swapped": readers.swapped,
            "structures": {one.structure.name: one.report for one in fused},
        }
        text = json.dumps(content, indent=2, allow_nan=False, ensure_ascii=False)
        write_text(arguments.json, text + "\n")
    if arguments.report is not None:
        parts = [one.part for one in fused if one.part is not None]
        identity = {}
        if arguments.show_identity and readers.series is not None:
            identity = identity_of(readers.series.slices[0])
        names = readers.matched.readers
        hashes = file_hashes(names, arguments.inputs)
        hollow = [f"{one.structure.name}: {one.hollow}." for one in fused if one.hollow]
        accepted = [f"Accepted: {one}." for one in readers.matched.accepted]
        # The page names the readers who swapped structures.
        notes = [*hollow, *accepted, *readers.doubts]
        page = structures_page(parts, names, MadeBy.of(fuser), hashes, notes, identity)
        write_text(arguments.report, page)


def _fuser(arguments: argparse.Namespace) -> LabelFusionFilter:
    """Create the filter that fuses each structure; raise for options that do not apply."""
    given = given_parameters(arguments, arguments.fuser)
    files = sorted(name for name, value in given.items() if isinstance(value, Path))
    if files:
        arguments.parser.error(f"{files[0]} cannot be a file with --per-structure")
    if arguments.label is not None or arguments.label_names is not None:
        arguments.parser.error("--label and --label-names apply to label maps, not to structures")
    if arguments.absent_frames == "missing":
        given.setdefault(LabelFusionFilter.MissingLabel.name, NOT_ANNOTATED)
    fuser: LabelFusionFilter = arguments.fuser(**given)
    return fuser


def _image(readers: ReadStructures, arguments: argparse.Namespace, console: Console) -> Any:
    """Return the image that the readers segmented: the given one, or else the series."""
    if hasattr(arguments, "Image"):
        return read(arguments.Image, console)
    return None if readers.series is None else readers.series.image()


def _images(arguments: argparse.Namespace, structures: list[str]) -> list[Output]:
    """Return the requested images of each structure; raise if two have the same file name."""
    types = {"probability": np.float64, "uncertainty": np.float32}
    wanted = []
    for option, pixel_type in types.items():
        path = getattr(arguments, option)
        if path is None:
            continue
        if len(structures) > 1 and EVERY_STRUCTURE not in path.name:
            arguments.parser.error(
                f"--{option} needs {EVERY_STRUCTURE} in its name: there are {len(structures)} "
                "structures"
            )
        paths = [_path_of(path, name) for name in structures]
        if len(set(paths)) < len(paths):
            raise ParameterError(
                f"--{option}: two structures would be written to one file; rename one of them"
            )
        wanted += [Output(f"--{option}", path, pixel_type) for path in paths]
    return wanted


def _path_of(path: Path, structure: str) -> Path:
    """Return the file of a structure's image; its name is made safe for file systems."""
    safe = re.sub(r"[^\w.+-]+", "_", structure).strip(".") or "_"
    return path.with_name(path.name.replace(EVERY_STRUCTURE, safe))


def _write_image_of(
    option: str, structure: str, fuser: LabelFusionFilter, arguments: argparse.Namespace
) -> None:
    path = getattr(arguments, option)
    if path is None:
        return
    if option == "probability":
        image = fuser.GetProbabilityImage(1)
    else:
        image = fuser.GetUncertaintyImage(arguments.uncertainty_kind or UNCERTAINTY_KINDS[0])
    write_image(image, _path_of(path, structure))


def _consensus(who: Mapping[int, Structure], name: str, mask: Any) -> Structure:
    """Return the consensus structure with the first available colour, type and code among
    its readers.
    """
    first = next(iter(who.values()))
    kind_of = next((one.details[ROI_TYPE] for one in who.values() if ROI_TYPE in one.details), None)
    color = next((one.color for one in who.values() if one.color is not None), None)
    kind = next((one.kind for one in who.values() if one.kind is not None), None)
    details = shared_details(first) | ({} if kind_of is None else {ROI_TYPE: kind_of})
    return replace(first, name=name, mask=mask, color=color, kind=kind, details=details)
