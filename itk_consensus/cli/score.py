"""``itk-consensus score``: score submissions against several readers, over a study's cases."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

from itk_consensus.assessment.scoring.case_scores import ScoreSettings
from itk_consensus.assessment.scoring.measures import RULES
from itk_consensus.assessment.scoring.study_scores import StudyScores
from itk_consensus.assessment.sentences import join_items
from itk_consensus.batch.cases import BatchCase, find_cases
from itk_consensus.batch.score_page import verdict
from itk_consensus.batch.score_run import (
    PAGE,
    TABLES,
    ScorePlan,
    leave_out,
    run_score,
    submissions_of,
)
from itk_consensus.cli.batch import time_text
from itk_consensus.cli.case_list import Column, read_case_list
from itk_consensus.cli.console import SOMETHING_FOUND, Console
from itk_consensus.cli.options import add_file, is_file_name
from itk_consensus.cli.outputs import add_overwrite_option
from itk_consensus.core.errors import FileError
from itk_consensus.images.label_names import label_names
from itk_consensus.report.text import PROGRAM, pairs, pluralize, section, table, wrap_lines

#: Maximum number of tables shown in the terminal; with more structures, only the mean over all is
#: shown.
_MOST_TABLES = 5

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
the others, so readers' scores are a fair ceiling. A case whose file a submission lacks, or whose
file cannot be compared with the readers, is scored as empty for that submission alone. Exit code 1:
such a file, or a case that could not be scored.
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
    parser.add_argument(
        "--without",
        nargs="+",
        default=[],
        metavar="CASE/READER",
        help="leave out files of readers, such as case-3/ben; */ben in all cases, case-3/* a case",
    )
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
    cases, gone = leave_out(cases, arguments.without)
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
        gone,
    )
    start, done = time.monotonic(), 0

    def after_case(_case: str) -> None:
        nonlocal done
        done += 1
        left = (time.monotonic() - start) / done * (len(cases) - done)
        console.progress(done / len(cases), f"{done} of {len(cases)} cases, {time_text(left)} left")

    study = run_score(cases, submissions, plan, after_case)
    if gone:
        console.warn(f"left out: {join_items(gone)}")
    title = (
        f"{pluralize(len(study.submissions), 'submission')}, {pluralize(len(study.cases), 'case')}"
    )
    lines = [*wrap_lines(verdict(study)), "", *_tables(study)]
    written = {"page": str(arguments.output / PAGE), "tables": ", ".join(TABLES)}
    console.answer(section(title, [*lines, *pairs(written)]))
    is_whole = not study.failed and not any(one.refused for one in study.cases)
    return 0 if is_whole else SOMETHING_FOUND


def _tables(study: StudyScores) -> Iterator[str]:
    """Yield the lines of the main table and, if there are few structures, of a table for each."""
    # The mean over all structures, which is the last part, is shown first.
    parts = sorted(study.parts, key=lambda part: part != study.main_part)
    for part in parts if len(parts) <= _MOST_TABLES else parts[:1]:
        header, body = study.table(part)
        title = study.parts[part] if len(parts) > 1 else ""
        yield from table([title, *header[1:3]], [row[:3] for row in body])
        yield ""


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
