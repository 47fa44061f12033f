"""``itk-consensus adjudicate``: reapply the decisions recorded in a review."""

from __future__ import annotations

import argparse

from itk_consensus.cli.console import Console
from itk_consensus.cli.options import add_file
from itk_consensus.cli.outputs import Output, add_overwrite_option, check_outputs, lock_outputs
from itk_consensus.images.dicom.series import read_dicom_series
from itk_consensus.images.structure_files import CONTOURS, is_dicom
from itk_consensus.report.text import PROGRAM
from itk_consensus.review.adjudicators import Adjudication, compare_adjudications
from itk_consensus.review.case import adjudicated_again, recorded_paths
from itk_consensus.review.record import ReviewRecord
from itk_consensus.review.signature import check_signature, key_of


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.usage = f"{PROGRAM} adjudicate RECORD [INPUT...] --output FILE | --compare RECORD..."
    parser.description = (
        "Apply the decisions of a review again, from its record. Inputs are identified by their "
        "content, in any order; other inputs are rejected."
    )
    parser.set_defaults(run=_adjudicate, parser=parser)
    add_file(
        parser, "record", metavar="RECORD", help="record written by a review: NAME.review.json"
    )
    add_file(
        parser,
        "inputs",
        nargs="*",
        metavar="INPUT",
        help="the raters' files [default: those named in the record]",
    )
    add_file(
        parser,
        "-o",
        "--output",
        help="the adjudicated map: an image, a .seg.nrrd, DICOM SEG (.dcm) or RTSTRUCT "
        f"({CONTOURS})",
    )
    add_overwrite_option(parser)
    add_file(
        parser,
        "--compare",
        nargs="+",
        metavar="RECORD",
        help="other people's reviews of the same case: how their decisions and maps agree",
    )
    add_file(
        parser,
        "--key",
        help="refuse records that were not signed with this key: a checksum finds damage, only a "
        "signature finds forgery",
    )
    add_file(
        parser,
        "--series",
        metavar="FOLDER",
        help="the DICOM series that was outlined; required to read or write DICOM",
    )


def _adjudicate(arguments: argparse.Namespace, console: Console) -> None:
    if (arguments.output is None) == (arguments.compare is None):
        arguments.parser.error("give either --output or --compare")
    if arguments.key is not None:
        key = key_of(arguments.key)
        for path in (arguments.record, *(arguments.compare or ())):
            check_signature(path, key)
    if arguments.compare is not None:
        _compare(arguments, console)
        return
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
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        on_file.write(maps, arguments.output, series, inputs)
    console.answer(f"{arguments.output}: {decision_words(record)}")


def decision_words(record: ReviewRecord) -> str:
    """Describe how many disputes were decided, how many of these in favour of the consensus, and
    how many are still open.
    """
    decisions = record.decisions
    kept = sum(one.choice == "consensus" for one in decisions.values())
    open_ = f"; {record.undecided} open, left as the consensus has them" if record.undecided else ""
    return (
        f"{len(decisions)} of {len(record.disputes)} disputes decided, {kept} of them as the "
        f"consensus has them{open_}"
    )


def _compare(arguments: argparse.Namespace, console: Console) -> None:
    """Print the agreement between several reviews of one case."""
    series = None if arguments.series is None else read_dicom_series(arguments.series)
    reviews = []
    for path in (arguments.record, *arguments.compare):
        record = ReviewRecord.read(path)
        inputs = arguments.inputs or recorded_paths(record, path)
        maps, _ = adjudicated_again(record, str(path), inputs, series)
        reviews.append(Adjudication(str(path), record, maps))
    for one in reviews:
        people = ", ".join(sorted({each.who for each in one.record.decisions.values()} - {""}))
        console.answer(f"{one.name}: {decision_words(one.record)}" + f" ({people})" * bool(people))
    for pair in compare_adjudications(reviews):
        dice = ", ".join(f"{name} {value:.3f}" for name, value in pair.dice.items())
        kappa = "" if pair.kappa != pair.kappa else f", kappa of their voxels {pair.kappa:.3f}"
        console.answer(
            f"{pair.first} and {pair.second}: {pair.alike} of {pair.both} disputes that both "
            f"decided are alike{kappa}; Dice {dice}"
        )


def output_of(arguments: argparse.Namespace) -> Output:
    """Return the output that is checked before processing starts; for an image format, the check
    includes a trial write.
    """
    is_image = not arguments.output.name.lower().endswith((".seg.nrrd", ".dcm"))
    return Output("--output", arguments.output, "u1" if is_image else None)
