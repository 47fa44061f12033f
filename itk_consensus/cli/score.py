"""``itk-consensus score``: score submissions against several readers, over a study's cases."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from itk_consensus.assessment.scoring.case_scores import ScoreSettings
from itk_consensus.assessment.scoring.measures import RULES
from itk_consensus.batch.cases import BatchCase, find_cases
from itk_consensus.batch.score_page import verdict
from itk_consensus.batch.score_run import PAGE, TABLES, ScorePlan, run_score, submissions_of
from itk_consensus.cli.batch import time_text
from itk_consensus.cli.case_list import Column, read_case_list
from itk_consensus.cli.console import SOMETHING_FOUND, Console
from itk_consensus.cli.options import add_file, is_file_name
from itk_consensus.cli.outputs import add_overwrite_option
from itk_consensus.core.errors import FileError
from itk_consensus.images.label_names import label_names
from itk_consensus.report.text import PROGRAM, pairs, pluralize, section, table, wrap_lines

_DESCRIPTION = """\
Score submissions against several readers, none of whom is the truth; writes tables with intervals,
paired comparisons, ranks and their stability, a page, and a table to paste into a paper.

READERS is one of
  a pattern such as "readers/{case}/{rater}.nii.gz"
  a folder with BIDS segmentations, *_dseg.nii.gz or *_mask.nii.gz, with rater-<rater> or
  desc-<rater>
  a CSV file with the columns case, raters (files separated by ';', each as FILE or NAME=FILE) and,
  optionally, submissions (the same)

A submission is scored against all readers but one, each left out in turn, and each reader against
the others, so readers' scores are a fair ceiling. A missing case of a submission is scored as
empty.
"""


def configure(parser: argparse.ArgumentParser, _words: list[str]) -> None:
    """Add the arguments of the command."""
    parser.set_defaults(run=_score, parser=parser)
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = f"{PROGRAM} score READERS --submissions PATTERN --output FOLDER [options]"
    parser.add_argument("readers", metavar="READERS", help="pattern, folder or list, see above")
    parser.add_argument(
        "--submissions",
        metavar="PATTERN",
        help='pattern of their files, such as "{submission}/{case}.nii.gz"',
    )
    parser.add_argument(
        "--submission",
        action="append",
        default=[],
        metavar="NAME=PATTERN",
        help='one submission, such as net="out/{case}.nii.gz"; may be repeated; if the pattern '
        "has *, the files of a case are samples",
    )
    add_file(parser, "-o", "--output", required=True, metavar="FOLDER", help="for all results")
    add_overwrite_option(parser)
    group = parser.add_argument_group("measures")
    group.add_argument(
        "--rules",
        nargs="+",
        choices=RULES,
        default=list(ScoreSettings.rules),
        help=f"rules of challenges: {', '.join(RULES)} [default: soft-dice qubiq]",
    )
    group.add_argument("--surfaces", action="store_true", help="also distances between contours")
    group.add_argument(
        "--surface-tolerance",
        type=float,
        default=ScoreSettings.tolerance,
        metavar="MM",
        help="tolerance of the surface Dice [default: %(default)s]",
    )
    group.add_argument("--lesions", action="store_true", help="also detection of single objects")
    group.add_argument(
        "--label-names",
        metavar="NAMES",
        help="labels to score and their names: 1=liver,2=spleen, or a file",
    )


def _score(arguments: argparse.Namespace, console: Console) -> int:
    cases, submissions = _find_inputs(arguments)
    names = None if arguments.label_names is None else label_names(arguments.label_names)
    plan = ScorePlan(
        arguments.output,
        names,
        {
            "rules": arguments.rules,
            "surfaces": arguments.surfaces,
            "surfaceTolerance": arguments.surface_tolerance,
            "lesions": arguments.lesions,
        },
        arguments.overwrite,
    )
    start, done = time.monotonic(), 0

    def after_case(_case: str) -> None:
        nonlocal done
        done += 1
        left = (time.monotonic() - start) / done * (len(cases) - done)
        console.progress(done / len(cases), f"{done} of {len(cases)} cases, {time_text(left)} left")

    study = run_score(cases, submissions, plan, after_case)
    for case, why in (study.failed or {}).items():
        console.warn(f"case {case}: {why}")
    for one in study.cases:
        for name in one.missing:
            console.warn(f"case {one.case}: {name} has no file, and is scored as empty")
    title = (
        f"{pluralize(len(study.submissions), 'submission')}, {pluralize(len(study.cases), 'case')}"
    )
    header, body = study.table()
    some = [0, 1, 2]
    shown = table([header[i] for i in some], [[row[i] for i in some] for row in body])
    lines = [*wrap_lines(verdict(study)), "", *shown, ""]
    written = {"page": str(arguments.output / PAGE), "tables": ", ".join(TABLES)}
    console.answer(section(title, [*lines, *pairs(written)]))
    return SOMETHING_FOUND if study.failed else 0


def _find_inputs(
    arguments: argparse.Namespace,
) -> tuple[list[BatchCase], dict[str, dict[str, object]]]:
    if not is_file_name(arguments.readers):
        raise FileError(
            f"READERS must name a file, a folder or a pattern, got {arguments.readers!a}"
        )
    named: dict[str, str] = {}
    for text in arguments.submission:
        name, equals, pattern = text.partition("=")
        if not (equals and name and pattern):
            arguments.parser.error(f"--submission must be NAME=PATTERN, got {text!a}")
        named[name] = pattern
    is_pattern = any(mark in arguments.readers for mark in ("{case}", "{rater}", "*"))
    listed: dict[str, dict[str, object]] = {}
    if is_pattern or os.path.isdir(arguments.readers):
        cases = find_cases(arguments.readers)
    else:
        cases, listed = _of_list(Path(arguments.readers))
    if arguments.submissions is not None and "{submission}" not in arguments.submissions:
        arguments.parser.error(
            "--submissions must contain {submission}, the name of each; for a single one give "
            "--submission NAME=PATTERN"
        )
    found = {**listed, **submissions_of(named, arguments.submissions)}
    if not found:
        arguments.parser.error(
            "give --submissions PATTERN, --submission NAME=PATTERN or a column submissions"
        )
    return cases, found


def _of_list(path: Path) -> tuple[list[BatchCase], dict[str, dict[str, object]]]:
    columns = (
        Column("raters", required=True, must_exist=False, may_be_named=True),
        Column("submissions", must_exist=False, may_be_named=True),
    )
    cases: list[BatchCase] = []
    submissions: dict[str, dict[str, object]] = {}
    for row in read_case_list(path, columns):
        cases.append(BatchCase.of_files(row.name, row["raters"], None, row.names["raters"]))
        if row["submissions"]:
            own = BatchCase.of_files(
                row.name, row["submissions"], None, row.names["submissions"]
            )  # fmt: skip
            for name, file in zip(own.rater_names, own.raters, strict=True):
                submissions.setdefault(name, {})[row.name] = file
    return cases, submissions
