"""``itk-consensus batch``: fuse all cases of a cohort; an interrupted run can be resumed."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from itk_consensus.assessment.verdict import WORDS
from itk_consensus.batch.batch import run_batch
from itk_consensus.batch.cases import BatchCase, find_cases, select_cases, with_readings
from itk_consensus.batch.excel import require_excel
from itk_consensus.batch.one_case import DONE_BEFORE, FAILED, CaseResult
from itk_consensus.batch.output_files import INDEX, STUDY, TABLE, WORKBOOK
from itk_consensus.batch.plan import Plan
from itk_consensus.batch.study_page import failure
from itk_consensus.cli.case_list import Column, read_case_list
from itk_consensus.cli.console import SOMETHING_FOUND, Console
from itk_consensus.cli.fusing import (
    add_fail_option,
    add_full_option,
    add_fusion_options,
    add_learned_option,
    add_own_outputs_option,
    exit_code,
    make_fuser,
)
from itk_consensus.cli.option_file import as_words, read_option_file
from itk_consensus.cli.options import add_file, given_parameters, is_file_name, process_count
from itk_consensus.cli.outputs import add_overwrite_option
from itk_consensus.cli.page_options import add_page_options, page_options
from itk_consensus.core.errors import FileError
from itk_consensus.core.work import default_threads
from itk_consensus.report.text import PROGRAM, pairs, pluralize, section, wrap_lines

#: Maximum number of cases named below the summary.
_MOST_NAMED = 5

_DESCRIPTION = """\
Fuse many cases; writes tables of cases, raters and pairs, and a page that lists the worst first.

CASES is one of
  a CSV file with the columns case, raters (files separated by ';', each as FILE or NAME=FILE) and,
  optionally, image and reading (1, 2: a case has a row for each; the first is fused),
  or a JSON list of objects with these keys; paths are relative to it
  a pattern such as "{case}/{rater}.nii.gz", where * matches anything within a name, and
  {reading} the number of a reading, if raters read a case several times
  a folder with BIDS segmentations, *_dseg.nii.gz or *_mask.nii.gz, with rater-<rater> or
  desc-<rater>

Cases that were already fused with the same inputs, method and options are skipped, and their pages
stay linked. If a case fails it is listed, the others continue, and the exit code is 1. Results of
an earlier run are replaced; other files, and results that were edited, only with --overwrite.
"""


def configure(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Add the arguments of the command, which depend on the method."""
    path, options = read_option_file(words)
    if "method" in options:
        words = ["--method", str(options["method"]), *words]
    add_fusion_options(parser, words, "batch", _DESCRIPTION)
    parser.usage = f"{PROGRAM} batch CASES --output FOLDER [--method METHOD] [options]"
    parser.set_defaults(run=_batch)
    parser.add_argument(
        "cases", metavar="CASES", nargs="?", help="list, pattern or folder, see above"
    )
    # Set by option files, which cannot contain positional arguments.
    parser.add_argument("--cases", dest="cases_of_file", help=argparse.SUPPRESS)
    add_file(
        parser,
        "--config",
        help='options from a TOML file: cases = "...", output = "...", jobs = 4 and so on; the '
        "command line overrides it",
    )
    add_file(parser, "-o", "--output", required=True, metavar="FOLDER", help="for all results")
    add_learned_option(parser)
    add_overwrite_option(parser)
    parser.add_argument(
        "--images", metavar="PATTERN", help='image of each case, such as "{case}/ct.nii.gz"'
    )
    add_fail_option(parser)
    add_full_option(parser)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only cases with these names, or names that start with one of them and _",
    )
    parser.add_argument("--reports", action="store_true", help="write an HTML page for each case")
    parser.add_argument(
        "--surfaces",
        action="store_true",
        help="also write distances between contours to pairs.csv; takes longer",
    )
    parser.add_argument(
        "--volume-intervals",
        action="store_true",
        help="also write intervals of the volume that another rater would draw to cases.csv; takes "
        "longer",
    )
    parser.add_argument(
        "--bids-output",
        action="store_true",
        help="name and describe results as BIDS derivatives, with maps of probabilities",
    )
    parser.add_argument(
        "--nnunet-output",
        action="store_true",
        help="write label maps to the folder itself as CASE.nii.gz, like nnU-Net",
    )
    parser.add_argument(
        "--excel",
        action="store_true",
        help=f"also write the tables as {WORKBOOK} (needs openpyxl)",
    )
    add_own_outputs_option(parser)
    add_page_options(parser)
    parser.add_argument(
        "--jobs",
        type=process_count,
        default=1,
        metavar="N",
        help="processes [default: %(default)s]",
    )
    parser.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="dask scheduler such as tcp://host:8786, or local for a dask cluster of --jobs "
        "processes (needs dask.distributed)",
    )
    if path is not None:
        parser.set_defaults(from_file=as_words(parser, path, options))


def _batch(arguments: argparse.Namespace, console: Console) -> int:
    arguments.cases = arguments.cases or arguments.cases_of_file
    if arguments.cases is None:
        arguments.parser.error("the following arguments are required: CASES")
    cases = select_cases(_cases(arguments), arguments.only)
    parameters = given_parameters(arguments, arguments.fuser)
    make_fuser(arguments, {k: v for k, v in parameters.items() if not isinstance(v, Path)})
    jobs = min(arguments.jobs, len(cases))
    plan = Plan(
        arguments.method,
        arguments.output,
        parameters,
        arguments.reports,
        max(default_threads() // max(jobs, 1), 1),
        arguments.overwrite,
        surfaces=arguments.surfaces,
        bids=arguments.bids_output,
        nnunet=arguments.nnunet_output,
        excel=arguments.excel,
        look={name: value for name, value in page_options(arguments).items() if value},
        full=arguments.full,
        accept_own_outputs=arguments.accept_own_outputs,
        volume_intervals=arguments.volume_intervals,
        learned=arguments.learned,
    )
    if arguments.excel:
        require_excel()
    arrived: list[CaseResult] = []
    show_progress = _progress(len(cases), console)

    def after_case(result: CaseResult) -> None:
        arrived.append(result)
        show_progress(result)

    is_list = os.path.isfile(arguments.cases)
    results = run_batch(
        cases,
        plan,
        jobs=jobs,
        scheduler=arguments.scheduler,
        after_case=after_case,
        sources=[
            *([Path(arguments.cases)] if is_list else []),
            *([arguments.config] if arguments.config else []),
            *([arguments.learned] if arguments.learned else []),
        ],
    )
    failures = sum(result.status == FAILED for result in results)
    grave = sum(_is_grave(result, arguments.fail_on) for result in results)
    verdicts = {
        str(word): str(sum(one.verdict == word for one in results)) for word in reversed(WORDS)
    }
    before = sum(one.status == DONE_BEFORE for one in arrived)
    done = len(results) - failures
    facts = {
        "done": f"{done} ({before} by an earlier run)" if before else str(done),
        "failed": str(failures),
        **verdicts,
        "table": str(arguments.output / TABLE),
        "study": ", ".join(STUDY),
        "page": str(arguments.output / INDEX),
    }
    title = f"{arguments.method} of {pluralize(len(results), 'case')}"
    console.answer("\n".join([section(title, pairs(facts)), *_worst_cases(results)]))
    return SOMETHING_FOUND if failures or grave else 0


def _worst_cases(results: Sequence[CaseResult]) -> list[str]:
    """Return a line for each of the first cases that must not be used uninspected, and the
    number of others.
    """
    named = [one for one in results if one.status == FAILED or one.verdict != WORDS[0]]
    lines = []
    for one in named[:_MOST_NAMED]:
        said = f"{one.verdict.capitalize()}. {one.finding}"
        lines += wrap_lines(f"{one.case}: {failure(one) if one.status == FAILED else said}")
    more = len(named) - _MOST_NAMED
    return [*lines, f"and {more} more, see the page"] if more > 0 else lines


def _cases(arguments: argparse.Namespace) -> list[BatchCase]:
    if not is_file_name(arguments.cases):
        raise FileError(f"CASES must name a file, a folder or a pattern, got {arguments.cases!a}")
    is_pattern = any(mark in arguments.cases for mark in ("{case}", "{rater}", "*"))
    if is_pattern or os.path.isdir(arguments.cases):
        return find_cases(arguments.cases, arguments.images)
    if arguments.images is not None:
        arguments.parser.error("--images needs a pattern as CASES; a list has a column image")
    columns = (
        Column("raters", required=True, must_exist=False, may_be_named=True),
        Column("image", must_exist=False),
        Column("reading", is_single=True),
    )
    rows = [
        (
            next(iter(case["reading"]), ""),
            BatchCase.of_files(
                case.name, case["raters"], next(iter(case["image"]), None), case.names["raters"]
            ),
        )
        for case in read_case_list(Path(arguments.cases), columns)
    ]
    return with_readings(rows)


def _is_grave(result: CaseResult, fail_on: str | None) -> bool:
    """Return whether a case's verdict reaches ``--fail-on``; failed cases are counted elsewhere."""
    return result.status != FAILED and bool(exit_code(result.verdict, fail_on))


def _progress(cases: int, console: Console) -> Callable[[CaseResult], None]:
    """Return a callback that shows the number of finished cases and the remaining time."""
    start, done = time.monotonic(), 0
    console.progress(0.0, f"0 of {cases} cases")

    def after_case(result: CaseResult) -> None:
        nonlocal done
        done += 1
        if result.status == FAILED:
            console.warn(f"case {result.case}: {result.finding}")
        elif result.notes:
            console.warn(f"case {result.case}: {result.notes}")
        left = (time.monotonic() - start) / done * (cases - done)
        console.progress(done / cases, f"{done} of {cases} cases, {time_text(left)} left")

    return after_case


def time_text(seconds: float) -> str:
    """Format a duration: 45 s, 3 min, 2 h 5 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
