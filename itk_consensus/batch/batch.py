"""Fusion of a cohort: all cases, tables, and a page that lists the worst cases first."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path

from itk_consensus.batch import bids
from itk_consensus.batch.case_study import CaseStudy
from itk_consensus.batch.cases import BatchCase, require_apart, require_distinct
from itk_consensus.batch.excel import write_workbook
from itk_consensus.batch.folder_record import begin, finish, require_ours
from itk_consensus.batch.one_case import (
    DONE,
    DONE_BEFORE,
    FAILED,
    CaseResult,
    run_case,
    worst_first,
)
from itk_consensus.batch.output_files import (
    BATCH_RECORD,
    CASES,
    INDEX,
    STUDY,
    TABLE,
    WORKBOOK,
    CaseFiles,
)
from itk_consensus.batch.plan import Plan
from itk_consensus.batch.study_page import index_text
from itk_consensus.batch.study_tables import Row, Study, columns
from itk_consensus.batch.workers import results_of
from itk_consensus.core.errors import FileError
from itk_consensus.core.escaping import csv_text
from itk_consensus.images.content import claims_on
from itk_consensus.storage.claims import Claim, require_no_overlap
from itk_consensus.storage.files import read_bytes, require_writable, write_text
from itk_consensus.storage.locking import exclusive_lock


def run_batch(
    cases: Sequence[BatchCase],
    plan: Plan,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    after_case: Callable[[CaseResult], None] | None = None,
    sources: Sequence[Path] = (),
) -> list[CaseResult]:
    """Fuse every case that is not finished yet; write the tables and the index page.

    An interrupted run is resumed: a case is fused only if it has no record, its results were
    modified, or its inputs, method, parameters or version have changed. The resulting tables equal
    those of an uninterrupted run.

    Parameters
    ----------
    cases : sequence of BatchCase
        Cases with distinct names.
    jobs : int
        Number of processes.
    scheduler : str, optional
        Address of a dask scheduler, or "local"; see `results_of`.
    after_case : callable, optional
        Called with each result as it arrives; cases that need no work have the status "done
        before".
    sources : sequence of Path
        Other files that were read, such as the list of cases; outputs must not overwrite them.

    Returns
    -------
    list of CaseResult
        Sorted, the worst first.

    Raises
    ------
    FileError
        An output would overwrite an input, the output of another case or, unless
        ``plan.overwrite``, a file not written by an earlier run; or another run is writing to this
        folder.
    """
    require_distinct(cases)
    folders = {case.name: CaseFiles.of(case, plan).record.parent for case in cases}
    require_apart(cases, folders, plan.output)
    # Workers of a cluster may have a different working directory.
    plan, cases = plan.absolute(), [case.absolute() for case in cases]
    require_no_overlap(_read_claims(cases, plan, sources), _write_claims(cases, plan))
    try:
        plan.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{plan.output}: cannot be created as a folder: {error.strerror}"
        ) from error
    record = plan.output / BATCH_RECORD
    names = _files_of_all(plan)
    with exclusive_lock(record, wait=1.0):
        if not plan.overwrite:
            require_ours(record, names)
        for name in names:
            require_writable(plan.output / name)
        results = []
        for result in results_of(cases, partial(_work, plan), jobs=jobs, scheduler=scheduler):
            results.append(replace(result, status=DONE) if result.status == DONE_BEFORE else result)
            if after_case is not None:
                after_case(result)
        ordered = worst_first(results)
        begun = begin(record, {"method": plan.method}, names)
        write_text(plan.output / TABLE, table_text(ordered))
        write_text(plan.output / CASES, cases_text(cases, plan.output))
        _write_study(cases, ordered, plan)
        finish(begun, names, {"cases": len(ordered)})
    return ordered


def _files_of_all(plan: Plan) -> tuple[str, ...]:
    """Return the names of the batch's own files, which cover all cases."""
    bids_files = (bids.DESCRIPTION, bids.IGNORED) if plan.bids else ()
    workbook = (WORKBOOK,) if plan.excel else ()
    return (TABLE, INDEX, CASES, *STUDY, *workbook, *bids_files)


def _write_study(cases: Sequence[BatchCase], results: Sequence[CaseResult], plan: Plan) -> None:
    """Write the tables and the page of the study, from the files of each case."""
    done = {result.case for result in results if result.status != FAILED}
    files = {case.name: CaseFiles.of(case, plan) for case in cases if case.name in done}
    read = {}
    for name, one in files.items():
        with suppress(FileError):  # damaged or deleted; the summary still contains its row
            read[name] = CaseStudy.read(one.agreement)
    ordered = {one.case: read[one.case] for one in results if one.case in read}
    study = Study(ordered, plan.look.get("label_names") or {})
    rows = (study.pairs(), study.of_raters(), study.of_cases(), study.next_readings(),
            study.reliability())  # fmt: skip
    tables = dict(zip(STUDY, rows, strict=True))
    for name, table in tables.items():
        write_text(plan.output / name, csv_text(columns(table), _fill_columns(table)))
    links = {"a row for each case": TABLE, **{what: name for name, what in STUDY.items()}}
    if plan.excel:
        sheets = {"summary": list(map(asdict, results))}
        sheets |= {Path(name).stem: table for name, table in tables.items()}
        write_workbook(plan.output / WORKBOOK, sheets)
        links["all tables"] = WORKBOOK
    if plan.bids:
        write_text(plan.output / bids.DESCRIPTION, bids.description())
        write_text(plan.output / bids.IGNORED, bids.ignore_file())
    pictures = {
        name: read_bytes(one.thumbnail) for name, one in files.items() if one.thumbnail.is_file()
    }
    # The page states whether the comparison with Consensus was skipped.
    is_compared = plan.full or plan.method == "consensus"
    method = plan.method if is_compared else f"{plan.method} (compare with Consensus by --full)"
    write_text(plan.output / INDEX, index_text(results, method, study, pictures, links))


def _fill_columns(rows: Sequence[Row]) -> Iterator[Row]:
    """Add missing columns to rows, with the value None."""
    names = columns(rows)
    for row in rows:
        yield {name: row.get(name) for name in names}


def _read_claims(
    cases: Sequence[BatchCase], plan: Plan, sources: Sequence[Path]
) -> Iterator[Claim]:
    """Yield the claims on all files that the batch reads."""
    paths = {path: f"the image of case {case.name!a}," for case in cases if (path := case.image)}
    paths |= {path: f"a rater of case {case.name!a}," for case in cases for path in case.raters}
    paths |= {v: f"the {name}" for name, v in plan.parameters.items() if isinstance(v, Path)}
    paths |= dict.fromkeys(sources, "the list of cases")
    for path, what in paths.items():
        try:
            yield from claims_on(path, what)
        except FileError:  # the case will itself fail with this error
            yield Claim(f"{what} {path}", path)


def _write_claims(cases: Sequence[BatchCase], plan: Plan) -> Iterator[Claim]:
    """Yield the claims on all files that the batch writes."""
    for case in cases:
        files = CaseFiles.of(case, plan)
        for path in (files.record, *files.results):
            yield Claim(f"case {case.name!a}: {path}", path)
    for name in (*_files_of_all(plan), BATCH_RECORD):
        yield Claim(f"the batch: {plan.output / name}", plan.output / name)


def _work(plan: Plan, case: BatchCase) -> CaseResult:
    return run_case(case, plan)


def table_text(results: Sequence[CaseResult]) -> str:
    """Return a CSV table with one row per case."""
    names = [field.name for field in fields(CaseResult)]
    return csv_text(names, map(asdict, results))


def cases_text(cases: Sequence[BatchCase], folder: Path) -> str:
    """Return a JSON list of cases with paths relative to `folder` and, if needed, raters' names."""

    def relative(path: Path) -> str:
        return Path(os.path.relpath(path, folder)).as_posix()

    def raters(case: BatchCase) -> Iterator[str]:
        defaults = BatchCase.of_files(case.name, case.raters).rater_names
        for path, name, default in zip(case.raters, case.rater_names, defaults, strict=True):
            is_default = name == default or "/" in name
            yield relative(path) if is_default else f"{name}={relative(path)}"

    rows = [
        {
            "case": case.name,
            "raters": list(raters(case)),
            **({} if case.image is None else {"image": relative(case.image)}),
        }
        for case in cases
    ]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
