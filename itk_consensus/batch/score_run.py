"""Score submissions from files: all cases, tables and a page."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from itk_consensus.assessment.scoring.score_study import score_study
from itk_consensus.assessment.scoring.study_scores import StudyScores
from itk_consensus.batch.cases import BatchCase, find_cases
from itk_consensus.batch.folder_record import begin, finish, require_ours
from itk_consensus.batch.score_page import score_page
from itk_consensus.core.errors import FileError
from itk_consensus.core.escaping import csv_text
from itk_consensus.storage.claims import Claim, require_no_overlap
from itk_consensus.storage.files import require_writable, write_text
from itk_consensus.storage.locking import exclusive_lock

RECORD = "score.json"
PAGE = "index.html"
#: Tables, with their descriptions.
TABLES = {
    "summary.csv": "each submission over all cases, and the readers' own score",
    "comparisons.csv": "every two submissions, with corrected p",
    "ranks.csv": "the ranking of the submissions, with intervals",
    "scores.csv": "every case",
    "pairs.csv": "every submission with every reader",
}
OTHERS = {
    "scores.json": "everything, as JSON",
    "table.md": "the table for Markdown",
    "table.tex": "the table for LaTeX",
}


@dataclass(frozen=True)
class ScorePlan:
    """Settings of a scoring run."""

    output: Path
    structures: Mapping[int, str] | None = None
    #: Keyword arguments of `score_study`.
    measured: Mapping[str, Any] | None = None
    overwrite: bool = False
    left_out: tuple[str, ...] = ()  #: Readers' files that are not used, each as case/reader


def submissions_of(patterns: Mapping[str, str], together: str | None) -> dict[str, dict[str, Any]]:
    """Find the files of submissions, keyed by submission and case.

    Parameters
    ----------
    patterns : mapping of str to str
        Pattern of each submission's files, e.g. ``net/{case}.nii.gz``; ``*`` matches several
        samples.
    together : str, optional
        Common pattern of all submissions, e.g. ``{submission}/{case}.nii.gz``.
    """
    found: dict[str, dict[str, list[Path]]] = {}
    if together is not None:
        for case in find_cases(together.replace("{submission}", "{rater}")):
            for name, path in zip(case.rater_names, case.raters, strict=True):
                found.setdefault(name, {}).setdefault(case.name, []).append(path)
    for name, pattern in patterns.items():
        for case in find_cases(pattern):
            found.setdefault(name, {}).setdefault(case.name, []).extend(case.raters)
    return {
        name: {case: files[0] if len(files) == 1 else files for case, files in cases.items()}
        for name, cases in found.items()
    }


def run_score(
    cases: Sequence[BatchCase],
    submissions: Mapping[str, Mapping[str, Any]],
    plan: ScorePlan,
    after_case: Callable[[str], None] | None = None,
) -> StudyScores:
    """Score every case, and write the tables and the page.

    Raises
    ------
    FileError
        An output would overwrite an input or, unless ``plan.overwrite``, a file not written by an
        earlier run; or another run is writing to this folder.
    """
    record, names = plan.output / RECORD, (*TABLES, *OTHERS, PAGE)
    writes = _write_claims(plan, (*names, RECORD))
    require_no_overlap(_read_claims(cases, submissions), writes)
    try:
        plan.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"{plan.output}: cannot be created as a folder: {error.strerror}"
        ) from error
    with exclusive_lock(record, wait=1.0):
        if not plan.overwrite:
            require_ours(record, names)
        for name in names:
            require_writable(plan.output / name)
        readers = {one.name: dict(zip(one.rater_names, one.raters, strict=True)) for one in cases}
        study = score_study(
            readers,
            submissions,
            structures=plan.structures,
            afterCase=after_case,
            **(plan.measured or {}),
        )
        begun = begin(
            record, {"submissions": list(submissions), "without": list(plan.left_out)}, names
        )
        _write(study, plan)
        finish(begun, names, {"cases": len(study.cases)})
    return study


def leave_out(
    cases: Sequence[BatchCase], patterns: Sequence[str]
) -> tuple[list[BatchCase], tuple[str, ...]]:
    """Remove files of readers; return the remaining cases and the files that were left out.

    Parameters
    ----------
    patterns : sequence of str
        ``case/reader``, where ``*`` matches anything.

    Raises
    ------
    FileError
        A pattern matches no file, or no file would remain.
    """
    named = {f"{one.name}/{rater}": None for one in cases for rater in one.rater_names}
    for pattern in patterns:
        if not fnmatch.filter(named, pattern):
            raise FileError(f"no reader is CASE/READER {pattern}; the first is {next(iter(named))}")
    gone = tuple(name for name in named if any(fnmatch.fnmatchcase(name, one) for one in patterns))
    found = []
    for case in cases:
        kept = [
            (file, name)
            for file, name in zip(case.raters, case.rater_names, strict=True)
            if f"{case.name}/{name}" not in gone
        ]
        if kept:
            files, names = zip(*kept, strict=True)
            found.append(replace(case, raters=files, rater_names=names))
    if not found:
        raise FileError("every file of the readers is left out")
    return found, gone


def _write(study: StudyScores, plan: ScorePlan) -> None:
    folder = plan.output
    tables = (
        study.summary(), study.all_comparisons(), study.ranks(), study.of_cases(), study.pairs()
    )  # fmt: skip
    for name, rows in zip(TABLES, tables, strict=True):
        write_text(folder / name, csv_text(list(rows[0]), rows) if rows else "")
    for name, text in zip(
        OTHERS, (study.to_json(), _markdown(study), study.to_latex()), strict=True
    ):
        write_text(folder / name, text)
    write_text(folder / PAGE, score_page(study, {**TABLES, **OTHERS}, plan.left_out))


def _markdown(study: StudyScores) -> str:
    """Return the table as Markdown; with several structures, followed by one table for each
    of them.
    """
    parts = [part for part in study.parts if part != study.main_part]
    titled = [f"\n{study.parts[part]}\n\n{study.to_markdown(part)}" for part in parts]
    lead = [f"Mean of {len(parts)} structures\n\n"] if parts else []
    return "".join([*lead, study.to_markdown(), *titled])


def _read_claims(
    cases: Sequence[BatchCase], submissions: Mapping[str, Mapping[str, Any]]
) -> list[Claim]:
    """Return the claims on the files to read; a missing file is reported as an error of its
    case.
    """
    found = [
        Claim(f"a reader of case {one.name!a}, {path}", path)
        for one in cases
        for path in one.raters
    ]
    for name, files in submissions.items():
        for path in files.values():
            listed = path if isinstance(path, list) else [path]
            found += [Claim(f"submission {name!a}, {one}", one) for one in listed]
    return found


def _write_claims(plan: ScorePlan, names: Sequence[str]) -> list[Claim]:
    return [Claim(f"the study: {plan.output / name}", plan.output / name) for name in names]
