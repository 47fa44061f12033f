"""A whole cohort: every case fused, one table, and a page with the worst cases first."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from functools import partial
from statistics import median
from urllib.parse import quote

from itk_consensus.images.files import write_text
from itk_consensus.pipeline.cases import BatchCase, require_apart, require_distinct
from itk_consensus.pipeline.one_case import FAILED, CaseResult, Plan, run_case, worst_first
from itk_consensus.pipeline.workers import results_of
from itk_consensus.report.markup import Markup, data_table, document, section, tag

TABLE = "summary.csv"
INDEX = "index.html"


def run_batch(
    cases: Sequence[BatchCase],
    plan: Plan,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    after_case: Callable[[CaseResult], None] | None = None,
) -> list[CaseResult]:
    """Fuse every case that is not done yet; write the table and the index page.

    Started again after whatever stopped it, it takes up the cases whose record is not there or
    whose inputs, method, parameters or version have changed, and ends with the same table.

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

    Returns
    -------
    list of CaseResult
        Worst first.
    """
    require_distinct(cases)
    require_apart(cases, plan.output)
    # Workers of a cluster need not start where we did.
    plan, cases = plan.absolute(), [case.absolute() for case in cases]
    plan.output.mkdir(parents=True, exist_ok=True)
    results = []
    for result in results_of(cases, partial(_work, plan), jobs=jobs, scheduler=scheduler):
        results.append(result)
        if after_case is not None:
            after_case(result)
    ordered = worst_first(results)
    write_text(plan.output / TABLE, table_text(ordered))
    write_text(plan.output / INDEX, index_text(ordered, plan))
    return ordered


def _work(plan: Plan, case: BatchCase) -> CaseResult:
    return run_case(case, plan)


def table_text(results: Sequence[CaseResult]) -> str:
    """CSV with a row for each case."""
    text = io.StringIO()
    names = [field.name for field in fields(CaseResult)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(result) for result in results)
    return text.getvalue()


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
        "cases with concerns": sum(bool(result.concerns) for result in done),
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
    header = ["case", "mean Dice", "lowest Dice", "raters", "labels", "concerns", "the worst"]
    rows = [
        [
            _linked(result.case, result.page or result.consensus),
            result.mean_dice,
            result.lowest_dice,
            result.raters,
            result.labels,
            result.concerns,
            tag("td", f"{result.severity}: {result.finding}".strip(": "), class_="text"),
        ]
        for result in results
    ]
    return data_table("Ordered by the mean Dice between raters.", header, rows)


def _linked(text: str, path: str) -> Markup:
    return tag("a", text, href=quote(path))
