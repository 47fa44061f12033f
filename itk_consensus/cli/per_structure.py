"""``itk-consensus fuse --per-structure``: named structures, which may overlap, each by itself."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from itk_consensus.cli.console import Console
from itk_consensus.cli.options import add_file, given_parameters, naming_options
from itk_consensus.cli.outputs import Output, check_outputs, writing
from itk_consensus.errors import InputError
from itk_consensus.filters.fuse_structures import FuseStructures
from itk_consensus.filters.label_fusion import LabelFusionFilter
from itk_consensus.images.dicom.seg_reading import ABSENT_FRAMES, NOT_ANNOTATED
from itk_consensus.images.dicom.series import read_dicom_series
from itk_consensus.images.slicer_segmentation import shared_details
from itk_consensus.images.structure_files import (
    CONTOURS,
    is_dicom,
    read_structures,
    require_structures_name,
    write_structures,
)
from itk_consensus.images.structures import (
    MatchedStructures,
    Structure,
    match_structures,
    separate_undecided,
)


def add_structure_options(parser: argparse.ArgumentParser) -> None:
    """Give a parser ``--per-structure`` and what goes with it."""
    group = parser.add_argument_group("named structures")
    group.add_argument(
        "--per-structure",
        action="store_true",
        help="inputs are Slicer segmentations (.seg.nrrd), DICOM SEG or RTSTRUCT; fuse each "
        f"structure by itself and write a .seg.nrrd, DICOM SEG (.dcm) or RTSTRUCT ({CONTOURS})",
    )
    add_file(
        group,
        "--series",
        metavar="FOLDER",
        help="the DICOM series that was segmented; needed to read or write DICOM",
    )
    group.add_argument(
        "--series-number",
        type=int,
        metavar="N",
        help="which series of the folder, from 1 on, where it holds several; "
        "'itk-consensus info FOLDER' lists them",
    )
    group.add_argument(
        "--absent-frames",
        choices=ABSENT_FRAMES,
        help="what slices without any frame in a rater's DICOM SEG are: background, or not "
        "annotated [default: background]",
    )
    group.add_argument(
        "--rename",
        action="append",
        type=_renaming,
        default=[],
        metavar="OLD=NEW",
        help="treat structure OLD as NEW, for all raters; may be given several times",
    )


def fuse_per_structure(arguments: argparse.Namespace, console: Console) -> None:
    """Read, match, fuse and write, and print which rater has which structure."""
    fuser = _fuser(arguments)
    require_structures_name(arguments.output)
    outputs = [Output("--output", arguments.output)]
    # Every file in the folder of a series is read as a slice.
    folders = [] if arguments.series is None else [arguments.series]
    inputs = [*arguments.inputs, *folders]
    check_outputs(outputs, inputs, 3, overwrite=arguments.overwrite)
    if is_dicom(arguments.output) and arguments.series is None:
        arguments.parser.error("DICOM output needs the series that was segmented; give --series")
    series = None
    if arguments.series is not None:
        series = read_dicom_series(arguments.series, number=arguments.series_number)
    options = {} if arguments.absent_frames is None else {"absent_frames": arguments.absent_frames}
    readers = {str(path): read_structures(path, series, **options) for path in arguments.inputs}
    if len(readers) < len(arguments.inputs):
        raise InputError("a file is given twice")
    matched = match_structures(readers, dict(arguments.rename))
    with naming_options(fuser, arguments.method):
        fused = FuseStructures(matched.masks(), fuser)
    consensus = separate_undecided(
        [_consensus(_first(matched, name), name, mask) for name, mask in fused.items()]
    )
    for one in consensus:
        if one.name not in fused:
            console.warn(f"tied voxels are written as the structure '{one.name}'")
    raters = [path for path in arguments.inputs if path.suffix.lower() != ".nrrd"]
    with writing(outputs, overwrite=arguments.overwrite):
        write_structures(consensus, arguments.output, series, method=fuser.GetName(), raters=raters)
    console.answer(f"{matched}\n{len(consensus)} structures in {arguments.output}")


def _fuser(arguments: argparse.Namespace) -> LabelFusionFilter:
    """The filter that fuses each structure; options that have no meaning here are refused."""
    for option in ("probability", "uncertainty", "json", "report"):
        if getattr(arguments, option) is not None:
            arguments.parser.error(f"--{option} is not available with --per-structure")
    given = given_parameters(arguments, arguments.fuser)
    files = sorted(name for name, value in given.items() if isinstance(value, Path))
    if files:
        arguments.parser.error(f"{files[0]} cannot be a file with --per-structure")
    if arguments.absent_frames == "missing":
        given.setdefault(LabelFusionFilter.MissingLabel.name, NOT_ANNOTATED)
    fuser: LabelFusionFilter = arguments.fuser(**given)
    return fuser


def _first(matched: MatchedStructures, name: str) -> Structure:
    """Whose colour and terminology the consensus takes on."""
    return next(one for one in matched.table[name] if one is not None)


def _consensus(first: Structure, name: str, mask: Any) -> Structure:
    """What all readers drew, under the first one's name, colour and terminology."""
    return replace(first, name=name, mask=mask, details=shared_details(first))


def _renaming(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not (old and equals and new):
        raise argparse.ArgumentTypeError(f"must be OLD=NEW, got {text!a}")
    return old, new
