"""``itk-consensus learn``: learn rater weights from cases with a known true segmentation."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from itk_consensus.batch.cases import BatchCase
from itk_consensus.batch.cohort_truths import TrueCase, find_true_cases, with_raters_in_order
from itk_consensus.batch.compared_networks import compare, table_text
from itk_consensus.batch.soft_raters import read_rater
from itk_consensus.calibration.learned.learned_fusion_filter import LearnedFusionFilter
from itk_consensus.cli.case_list import Column, read_case_list
from itk_consensus.cli.console import Console
from itk_consensus.cli.fusing import add_own_outputs_option
from itk_consensus.cli.inputs import read
from itk_consensus.cli.options import add_file, given_parameters, is_file_name, use_option_names
from itk_consensus.cli.options import add_options as add_filter_options
from itk_consensus.cli.outputs import Output, add_output_options, check_outputs, lock_outputs
from itk_consensus.core.errors import FileError
from itk_consensus.images.own_outputs import reject_own_output
from itk_consensus.report.text import PROGRAM, pairs, section, wrap_lines

_DESCRIPTION = """\
Learn from cases with a truth how reliable each rater or network is, and whether that helps. At
least five cases are needed, better ten. Fuse other cases by `fuse --learned` or `batch --learned`.

CASES is one of
  a pattern such as "{case}/{rater}.nii.gz", where * matches anything within a name
  a folder with BIDS segmentations, *_desc-<rater>_dseg.nii.gz or *_rater-<rater>_dseg.nii.gz
  a CSV file with the columns case, raters (files separated by ';', each as FILE or NAME=FILE) and
  truth, or a JSON list of objects with these keys; paths are relative to it

Raters are identified by name, and may be missing in some cases. Files may be label images,
probabilities of the foreground, or nnU-Net's .npz next to its label maps.
"""


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.usage = f"{PROGRAM} learn CASES --truth PATTERN --output FILE [options]"
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("cases", metavar="CASES", help="pattern, folder or list, see above")
    parser.add_argument(
        "--truth",
        metavar="PATTERN",
        help='the truth of each case, such as "{case}/truth.nii.gz", or the name of the rater who '
        "is the truth; lists have a column truth instead",
    )
    add_output_options(parser, "the learned record, as JSON: tables of votes, no images")
    add_file(
        parser,
        "--add",
        nargs="+",
        default=[],
        metavar="RECORD",
        help="records of other cases with the same raters, such as another site's",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also print which network, pair of networks and fusion is best on these cases, with "
        "paired confidence intervals",
    )
    add_own_outputs_option(parser)
    names = ("MissingLabel", "InputsAreLabels", "CoordinateTolerance", "DirectionTolerance")
    add_filter_options(parser, LearnedFusionFilter, names)
    parser.set_defaults(run=_learn, parser=parser)


def _learn(arguments: argparse.Namespace, console: Console) -> None:
    cases = _cases(arguments)
    files = [f for case in cases for f in (*case.raters.values(), case.truth) if f is not None]
    outputs = [Output("--output", arguments.output)]
    check_outputs(outputs, [*files, *arguments.add], 3, overwrite=arguments.overwrite)
    filter_ = LearnedFusionFilter(**given_parameters(arguments, LearnedFusionFilter))
    with use_option_names(filter_, "learn"):
        filter_.Fit(
            _raters(cases, arguments, console),
            (read(case.truth, console) for case in cases),
            records=arguments.add,
        )
    with lock_outputs(outputs, overwrite=arguments.overwrite):
        filter_.Save(arguments.output)
    record = filter_.GetRecord()
    adopted = ", ".join(str(rule.label) for rule in record.adopted)
    facts = {
        "raters": ", ".join(record.rater_names),
        "labels fused by it": adopted or "none: all are fused by Consensus",
        "record": str(arguments.output),
    }
    console.answer(section(f"learned from {len(record.cases)} cases", pairs(facts)))
    console.answer("\n".join(wrap_lines(record.meaning)))
    if arguments.compare:
        console.answer(_comparison(cases, console))


def _comparison(cases: list[TrueCase], console: Console) -> str:
    """Compare networks, pairs of networks and fusions on the cases for which all raters are
    present.
    """
    whole = [case for case in cases if None not in case.raters.values()]
    found = compare(
        (
            {name: read_rater(path) for name, path in case.raters.items() if path is not None},
            read(case.truth, console),
        )
        for case in whole
    )
    if not found:
        return "nothing to compare: fewer than two cases have all raters"
    return section("networks, pairs and fusions compared", table_text(found, len(whole)))


def _cases(arguments: argparse.Namespace) -> list[TrueCase]:
    if not is_file_name(arguments.cases):
        raise FileError(f"CASES must name a file, a folder or a pattern, got {arguments.cases!a}")
    is_pattern = any(mark in arguments.cases for mark in ("{case}", "{rater}", "*"))
    if is_pattern or os.path.isdir(arguments.cases):
        if arguments.truth is None:
            arguments.parser.error("--truth is required: a pattern with {case}, or a rater's name")
        return find_true_cases(arguments.cases, arguments.truth)
    if arguments.truth is not None:
        arguments.parser.error(
            "--truth needs a pattern or a folder as CASES; a list has a column truth"
        )
    columns = (Column("raters", required=True, may_be_named=True), Column("truth", required=True))
    listed = read_case_list(Path(arguments.cases), columns)
    return with_raters_in_order(
        (
            BatchCase.of_files(case.name, case["raters"], None, case.names["raters"]),
            case["truth"][0],
        )
        for case in listed
    )


def _raters(
    cases: list[TrueCase], arguments: argparse.Namespace, console: Console
) -> Iterator[dict[str, Any]]:
    """Yield the images of each case by rater, read lazily."""
    for number, case in enumerate(cases):
        console.progress(number / len(cases), f"reading case {case.name}")
        images: dict[str, Any] = {}
        for name, path in case.raters.items():
            rater = None if path is None else read_rater(path)
            if rater is not None and rater.is_own_output and not arguments.accept_own_outputs:
                reject_own_output(rater.path)
            images[name] = None if rater is None else rater.image
        yield images
