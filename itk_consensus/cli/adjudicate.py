"""``itk-consensus adjudicate``: the decisions of a review carried out again, without a screen."""

from __future__ import annotations

import argparse

from itk_consensus.cli.console import Console
from itk_consensus.cli.options import add_file
from itk_consensus.cli.outputs import Output, add_output_options, check_outputs, writing
from itk_consensus.images.dicom.series import read_dicom_series
from itk_consensus.images.structure_files import CONTOURS, is_dicom
from itk_consensus.report.text import PROGRAM
from itk_consensus.review.case import adjudicated_again, recorded_paths
from itk_consensus.review.record import ReviewRecord


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Give the parser what the command takes."""
    parser.usage = f"{PROGRAM} adjudicate RECORD [INPUT...] --output FILE"
    parser.description = (
        "Apply the decisions of a review again, from its record. Inputs are known by their "
        "content, in any order; other inputs are refused."
    )
    parser.set_defaults(run=_adjudicate, parser=parser)
    add_file(parser, "record", metavar="RECORD", help="what a review wrote: NAME.review.json")
    add_file(
        parser,
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="the raters' files [default: where the record says they are]",
    )
    add_output_options(
        parser,
        f"the adjudicated map: an image, a .seg.nrrd, DICOM SEG (.dcm) or RTSTRUCT ({CONTOURS})",
    )
    add_file(
        parser,
        "--series",
        metavar="FOLDER",
        help="the DICOM series that was outlined; needed where DICOM is read or written",
    )


def _adjudicate(arguments: argparse.Namespace, console: Console) -> None:
    record = ReviewRecord.read(arguments.record)
    inputs = arguments.inputs or recorded_paths(record, arguments.record)
    if is_dicom(arguments.output) and arguments.series is None:
        arguments.parser.error("DICOM refers to the series that was outlined; give --series")
    outputs = [output_of(arguments)]
    folders = [] if arguments.series is None else [arguments.series]
    dimension = len(record.grid.size)
    check_outputs(
        outputs, [arguments.record, *inputs, *folders], dimension, overwrite=arguments.overwrite
    )
    series = None if arguments.series is None else read_dicom_series(arguments.series)
    console.progress(0.2, "reading")
    maps, on_file = adjudicated_again(record, str(arguments.record), inputs, series)
    console.progress(0.8, "writing")
    with writing(outputs, overwrite=arguments.overwrite):
        on_file.write(maps, arguments.output, series, inputs)
    decided = len(record.disputes) - record.undecided
    console.answer(
        f"{arguments.output}: {decided} of {len(record.disputes)} disputes decided, "
        f"{record.undecided} as the consensus has them"
    )


def output_of(arguments: argparse.Namespace) -> Output:
    """What is written, tried out before the work where it is an image."""
    is_image = not arguments.output.name.lower().endswith((".seg.nrrd", ".dcm"))
    return Output("--output", arguments.output, "u1" if is_image else None)
