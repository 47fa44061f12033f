"""A whole cohort: every case fused, one table, and a page with the worst cases first."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from statistics import median
from urllib.parse import quote

from itk_consensus.errors import FileError
from itk_consensus.escaping import csv_text
from itk_consensus.images.file_claims import Claim, reading, require_no_overlap
from itk_consensus.images.files import require_writable, write_text
from itk_consensus.images.locking import locked
from itk_consensus.pipeline.cases import BatchCase, require_apart, require_distinct
from itk_consensus.pipeline.folder_record import begin, finish, require_ours
from itk_consensus.pipeline.one_case import (
    FAILED,
    CaseFiles,
    CaseResult,
    Plan,
    run_case,
    worst_first,
)
from itk_consensus.pipeline.workers import results_of
from itk_consensus.report.markup import Markup, data_table, document, section, tag

TABLE = "summary.csv"
INDEX = "index.html"
RECORD = "batch.json"
#: What was fused, as a list of cases that `itk-consensus batch` and `review` take.
CASES = "cases.json"


def run_batch(
    cases: Sequence[BatchCase],
    plan: Plan,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    after_case: Callable[[CaseResult], None] | None = None,
    sources: Sequence[Path] = (),
) -> list[CaseResult]:
    """Fuse every case that is not done yet; write the table and the index page.

    Started again after whatever stopped it, it takes up the cases whose record is not there, whose
    results are not as they were written, or whose inputs, method, parameters or version have
    changed, and ends with the same table.

    Parameters
    ----------
    cases : sequence of BatchCase
        With different names.
    jobs : int
        Processes.
    scheduler : str, optional
        Address of a dask scheduler, or "local"; see `results_of`.
    after_case : callable, optional
        Told of each result as it comes.
    sources : sequence of Path
        Other files that were read, such as the list of the cases: they are not written to.

    Returns
    -------
    list of CaseResult
        Worst first.

    Raises
    ------
    FileError
        Something would be overwritten: what a case or `sources` read, what two cases write, or,
        unless the plan says so, a table or page that is not of an earlier run. Or another run is
        writing to this folder.
    """
    require_distinct(cases)
    require_apart(cases, plan.output)
    # Workers of a cluster need not start where we did.
    plan, cases = plan.absolute(), [case.absolute() for case in cases]
    require_no_overlap(_read(cases, plan, sources), _written(cases, plan))
    try:
        plan.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"{plan.output}: cannot be made a folder: {error.strerror}") from error
    record = plan.output / RECORD
    with locked(record, wait=1.0):
        if not plan.overwrite:
            require_ours(record, (TABLE, INDEX, CASES))
        for name in (TABLE, INDEX, CASES):
            require_writable(plan.output / name)
        results = []
        for result in results_of(cases, partial(_work, plan), jobs=jobs, scheduler=scheduler):
            results.append(result)
            if after_case is not None:
                after_case(result)
        ordered = worst_first(results)
        begun = begin(record, {"method": plan.method}, (TABLE, INDEX, CASES))
        write_text(plan.output / TABLE, table_text(ordered))
        write_text(plan.output / INDEX, index_text(ordered, plan))
        write_text(plan.output / CASES, cases_text(cases, plan.output))
        finish(begun, (TABLE, INDEX, CASES), {"cases": len(ordered)})
    return ordered


def _read(cases: Sequence[BatchCase], plan: Plan, sources: Sequence[Path]) -> Iterator[Claim]:
    paths = {path: f"the image of case {case.name!a}," for case in cases if (path := case.image)}
    paths |= {path: f"a rater of case {case.name!a}," for case in cases for path in case.raters}
    paths |= {v: f"the {name}" for name, v in plan.parameters.items() if isinstance(v, Path)}
    paths |= dict.fromkeys(sources, "the list of cases")
    for path, what in paths.items():
        try:
            yield from reading(path, what)
        except FileError:  # its case will say so, and fail
            yield Claim(f"{what} {path}", path)


def _written(cases: Sequence[BatchCase], plan: Plan) -> Iterator[Claim]:
    for case in cases:
        files = CaseFiles.of(case, plan)
        for path in (files.record, *files.results):
            yield Claim(f"case {case.name!a}: {path}", path)
    for name in (TABLE, INDEX, CASES, RECORD):
        yield Claim(f"the batch: {plan.output / name}", plan.output / name)


def _work(plan: Plan, case: BatchCase) -> CaseResult:
    return run_case(case, plan)


def table_text(results: Sequence[CaseResult]) -> str:
    """CSV with a row for each case."""
    names = [field.name for field in fields(CaseResult)]
    return csv_text(names, map(asdict, results))


def cases_text(cases: Sequence[BatchCase], folder: Path) -> str:
    """JSON list of the cases, with paths as seen from a folder."""

    def seen(path: Path) -> str:
        return Path(os.path.relpath(path, folder)).as_posix()

    rows = [
        {
            "case": case.name,
            "raters": [seen(path) for path in case.raters],
            **({} if case.image is None else {"image": seen(case.image)}),
        }
        for case in cases
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def index_text(results: Sequence[CaseResult], plan: Plan) -> str:
    """HTML page of the cohort."""
    broken = [result for result in results if result.status == FAILED]
    done = [result for result in results if result.status != FAILED]
    overlaps = [result.mean_dice for result in done if result.mean_dice is not None]
    facts = {
        "method": plan.method,
        "cases": len(results),
        "failed": len(broken),
        "median Dice between raters": f"{median(overlaps):.3f}" if overlaps else "–",
        "cases with concerns about the raters": sum(bool(one.rater_concerns) for one in done),
        "cases with concerns about the fusion": sum(bool(one.concerns) for one in done),
    }
    lead = tag("ul", *(tag("li", tag("b", v), k) for k, v in facts.items()), class_="facts")
    parts = []
    if broken:
        rows = [[result.case, tag("td", result.finding, class_="text")] for result in broken]
        table = data_table("Cases without a result, and why.", ["case", "error"], rows)
        parts.append(section("Failed", table, id_="failed"))
    parts.append(section("Cases, worst first", _case_table(done), id_="cases"))
    return document(f"Consensus of {len(results)} cases", lead, *parts)


def _case_table(results: Sequence[CaseResult]) -> Markup:
    header = ["case", "mean Dice", "lowest Dice", "raters", "labels", "agreement"]
    header += ["concerns about raters", "the first", "about the fusion", "the worst"]
    rows = [
        [
            _linked(result.case, result.page or result.consensus),
            result.mean_dice,
            result.lowest_dice,
            result.raters,
            result.labels,
            result.agreement,
            result.rater_concerns,
            tag("td", result.rater_finding, class_="text"),
            result.concerns,
            tag("td", f"{result.severity}: {result.finding}".strip(": "), class_="text"),
        ]
        for result in results
    ]
    return data_table("Ordered by the mean Dice between raters.", header, rows)


def _linked(text: str, path: str) -> Markup:
    return tag("a", text, href=quote(path))
