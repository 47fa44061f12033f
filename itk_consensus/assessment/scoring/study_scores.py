"""Scores of a study: every case, the readers' ceiling, confidence intervals, and rankings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from itk_consensus.assessment.resampling import (
    Comparison,
    Interval,
    Ranking,
    mean_interval,
    paired_comparisons,
    ranking,
)
from itk_consensus.assessment.scoring.case_scores import (
    ALL,
    CaseScores,
    ScoreSettings,
    mean_of_known,
)
from itk_consensus.assessment.scoring.measures import Measure, measures
from itk_consensus.assessment.sentences import join_items
from itk_consensus.core.array_types import Floats
from itk_consensus.core.display import rows
from itk_consensus.core.escaping import csv_text

#: Name of the row with the mean of all readers.
READERS = "readers (ceiling)"

#: Maximum number of readers' files that may be wrong named in the notes; `findings` lists all.
_MOST_FINDINGS = 5
#: Rules whose findings may merely reflect another opinion; findings of other rules come first.
_OF_DEGREE = ("volume apart", "deviating rater")

Row = dict[str, Any]
_Scores = Mapping[int | str, Mapping[str, float]]

#: Escapes of characters that are special in LaTeX.
_LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\^{}", "–": "--"}
)


@dataclass(frozen=True)
class Summary:
    """Means of one submission, or of all readers, over all cases."""

    name: str
    structure: str
    cases: int  #: Number of cases with a value
    values: Mapping[str, Interval]  #: Mean and interval by measure


@dataclass(frozen=True)
class StudyScores:
    """Scores of all cases of a study, with tables for papers."""

    cases: tuple[CaseScores, ...]
    submissions: tuple[str, ...]
    structures: Mapping[int, str]  #: Names by label
    settings: ScoreSettings
    volume_unit: str = "ml"
    length_unit: str = "mm"
    #: Error messages for cases that could not be scored.
    failed: Mapping[str, str] | None = None

    @property
    def measures(self) -> dict[str, Measure]:
        """Definitions of the columns of the tables."""
        return measures(
            self.settings.rules, surfaces=self.settings.surfaces, lesions=self.settings.lesions
        )

    def column(self, measure: str) -> str:
        """Return the name of a measure's column, with its unit."""
        units = {"volume": self.volume_unit, "length": self.length_unit, "": ""}
        unit = units[self.measures[measure].unit].replace("^", "")
        return f"{measure}_{unit}" if unit else measure

    @property
    def parts(self) -> dict[int | str, str]:
        """Names of the scored structures by label, and of all together if there are several."""
        found: dict[int | str, str] = dict(self.structures.items())
        if len(found) != 1:
            found[ALL] = ALL
        return found

    @property
    def main_part(self) -> int | str:
        """The only structure, or all structures together if there are several."""
        return list(self.parts)[-1]

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Sentences on everything that affects the scores but is not visible in them."""
        return (
            *(f"case {case} is not scored: {why}" for case, why in (self.failed or {}).items()),
            *self._notes_on_structures(),
            *self._notes_on_submissions(),
            *self._notes_on_readers(),
        )

    def _notes_on_structures(self) -> Iterator[str]:
        shared = shared_labels(self.cases)
        for label in sorted({label for one in self.cases for label in one.drawn}):
            if label in self.structures or label in shared:
                continue
            who = {name: None for one in self.cases for name in one.drawn.get(label, ())}
            where = [one.case for one in self.cases if label in one.drawn]
            yield (
                f"label {label} is not scored: no two readers of a case drew it, only "
                f"{join_items(who)} in {_in_cases(where)}; if it is a structure, name it among "
                "the labels to score"
            )

    def _notes_on_submissions(self) -> Iterator[str]:
        known = {*self.structures, *shared_labels(self.cases)}
        for name in self.submissions:
            lacking = [
                one.case for one in self.cases if name in one.missing and name not in one.refused
            ]
            if lacking:
                yield f"{name} has no file in {_in_cases(lacking)}, and is scored as empty there"
            refused = {one.case: one.refused[name] for one in self.cases if name in one.refused}
            if refused:
                yield (
                    f"{name} cannot be compared with the readers in {_in_cases(refused)}, and is "
                    f"scored as empty there: {next(iter(refused.values()))}"
                )
            strange: dict[int, list[str]] = {}
            for one in self.cases:
                for label in set(one.submitted.get(name, ())) - known:
                    strange.setdefault(label, []).append(one.case)
            for label, cases in sorted(strange.items()):
                yield (
                    f"{name} has label {label} in {_in_cases(cases)}, which is no structure of the "
                    "readers: it is not scored; compare the label numbers"
                )

    def _notes_on_readers(self) -> Iterator[str]:
        found = sorted(self.findings(), key=lambda row: row["rule"] in _OF_DEGREE)
        shown = found[:_MOST_FINDINGS]
        yield from (f"case {row['case']}: {row['finding']}" for row in shown)
        if found:
            cases = len({row["case"] for row in found})
            above = f" (the first {len(shown)} are above)" if len(found) > len(shown) else ""
            yield (
                f"readers' files that may be wrong: {len(found)}, in {cases} of {len(self.cases)} "
                f"cases{above}. They count in all scores and in what readers reach: put them "
                "right, or leave them out"
            )

    @rows
    def findings(self) -> Iterator[Row]:
        """Yield a row for each reader's file that may be wrong."""
        for case in self.cases:
            for one in case.findings:
                if one.rule != "lone label" and one.label in (None, *self.structures):
                    named = one.named(labels=self.structures)
                    yield {"case": case.case, "reader": ", ".join(named.names), "rule": one.rule,
                           "finding": named.what}  # fmt: skip

    @rows
    def of_cases(self) -> Iterator[Row]:
        """Yield a row for each case, structure, and submission or reader."""
        for case in self.cases:
            for kind, everybody in (("submission", case.submissions), ("reader", case.readers)):
                for name, scores in everybody.items():
                    for part, title in self.parts.items():
                        row: Row = {"case": case.case, "structure": title, "scored": name}
                        row["kind"] = kind
                        row["missing"] = "yes" if name in case.missing else ""
                        for measure in self.measures:
                            row[self.column(measure)] = _finite_or_none(
                                self._value(scores, part, measure)
                            )
                        yield row

    @rows
    def pairs(self) -> Iterator[Row]:
        """Yield a row for each case, structure, submission and reader."""
        for case in self.cases:
            for pair in case.pairs:
                if pair["structure"] not in self.structures:
                    continue
                found = {**pair, "structure": self.structures[pair["structure"]]}
                if "hausdorff95" in found:
                    found[self.column("hausdorff95")] = found.pop("hausdorff95")
                yield {key: _finite_or_none(value) for key, value in found.items()}

    def _value(self, scores: _Scores, part: int | str, measure: str) -> float:
        """Return a measure for one case; a structure that does not occur in the case counts
        as empty.
        """
        about = self.measures[measure]
        if about.of_case:
            # With a single structure, the measure is shown in that structure's row.
            return (
                scores.get(ALL, {}).get(measure, math.nan) if part == self.main_part else math.nan
            )
        if part == ALL:
            return mean_of_known([self._value(scores, label, measure) for label in self.structures])
        return scores[part][measure] if part in scores else about.score_if_absent

    def values(self, name: str, part: int | str, measure: str) -> Floats:
        """Return the (N,) values of a submission by case; NaN if undefined."""
        return np.array([self._value(one.submissions[name], part, measure) for one in self.cases])

    def ceiling(self, part: int | str, measure: str) -> Floats:
        """Return the (N,) mean values of the readers by case; NaN for a single reader."""
        everybody = (one.readers.values() for one in self.cases)
        return np.array(
            [mean_of_known([self._value(s, part, measure) for s in all_]) for all_ in everybody]
        )

    @cached_property
    def summaries(self) -> list[Summary]:
        """Return means over cases with intervals, by submission (or readers) and structure."""
        found = []
        for part, title in self.parts.items():
            for name in (*self.submissions, READERS):
                columns = {
                    measure: self.ceiling(part, measure)
                    if name == READERS
                    else self.values(name, part, measure)
                    for measure in self.measures
                }
                number = max((int(np.isfinite(one).sum()) for one in columns.values()), default=0)
                intervals = {measure: mean_interval(one) for measure, one in columns.items()}
                found.append(Summary(name, title, number, intervals))
        return found

    @rows
    def summary(self) -> Iterator[Row]:
        """Yield a row for each submission and structure: means and their intervals."""
        for one in self.summaries:
            row: Row = {"scored": one.name, "structure": one.structure, "cases": one.cases}
            for measure in self.measures:
                interval = one.values.get(measure, Interval(math.nan, math.nan, math.nan))
                column = self.column(measure)
                row[column] = _finite_or_none(interval.value)
                row[f"{column}_low"] = _finite_or_none(interval.low)
                row[f"{column}_high"] = _finite_or_none(interval.high)
            yield row

    def distance_to_ceiling(self, name: str, part: int | str, measure: str) -> Interval:
        """Return the mean difference of a submission from the readers' own score, paired by
        case.
        """
        return mean_interval(self.values(name, part, measure) - self.ceiling(part, measure))

    def comparisons(self, part: int | str, measure: str) -> list[Comparison]:
        """Compare all pairs of submissions by a measure, correcting for multiple testing."""
        table = [self.values(name, part, measure) for name in self.submissions]
        return paired_comparisons(self.submissions, np.array(table))

    def ranking(self, part: int | str, measure: str) -> Ranking:
        """Rank the submissions by a measure."""
        table = np.array([self.values(name, part, measure) for name in self.submissions])
        better = self.measures[measure].better == "higher"
        return ranking(self.submissions, table, higher_is_better=better)

    @rows
    def all_comparisons(self) -> Iterator[Row]:
        """Yield a row for each structure, measure and pair of submissions."""
        for part, title in self.parts.items():
            for measure, about in self.measures.items():
                if about.better == "neither":
                    continue
                for one in self.comparisons(part, measure):
                    yield {
                        "structure": title,
                        "measure": self.column(measure),
                        "first": one.first,
                        "second": one.second,
                        "cases": one.cases,
                        "difference": _finite_or_none(one.difference.value),
                        "difference_low": _finite_or_none(one.difference.low),
                        "difference_high": _finite_or_none(one.difference.high),
                        "p": one.p,
                        "p_corrected": one.corrected_p,
                    }

    @rows
    def ranks(self) -> Iterator[Row]:
        """Yield a row for each structure, measure and submission, the best first."""
        for part, title in self.parts.items():
            for measure, about in self.measures.items():
                if about.better == "neither" or not self.submissions:
                    continue
                found = self.ranking(part, measure)
                for one in found.ranks:
                    yield {
                        "structure": title,
                        "measure": self.column(measure),
                        "submission": one.name,
                        "rank": one.rank,
                        "rank_low": one.low,
                        "rank_high": one.high,
                        "first_share": one.first,
                        "order_changes_share": found.changed,
                    }

    def to_csv(self) -> str:
        """Return the table of `of_cases` as CSV text."""
        found = self.of_cases()
        return csv_text(list(found[0]) if found else [], found)

    def to_dict(self) -> dict[str, Any]:
        """Convert all tables to plain types for JSON."""
        return {
            "submissions": list(self.submissions),
            "structures": {str(label): name for label, name in self.structures.items()},
            "measures": {
                self.column(name): {
                    "title": one.title,
                    "better": one.better,
                    "meaning": one.meaning,
                    "source": one.source,
                }
                for name, one in self.measures.items()
            },
            "summary": self.summary(),
            "comparisons": self.all_comparisons(),
            "ranks": self.ranks(),
            "cases": self.of_cases(),
            "missing": {case.case: list(case.missing) for case in self.cases if case.missing},
            "refused": {case.case: dict(case.refused) for case in self.cases if case.refused},
            "findings": self.findings(),
            "notes": list(self.notes),
            "failed": dict(self.failed or {}),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def table(self, part: int | str | None = None) -> tuple[list[str], list[list[str]]]:
        """Return header and rows of a table for papers: submissions by Dice rank, readers last."""
        chosen = self.main_part if part is None else part
        title = self.parts[chosen]
        found = {one.name: one for one in self.summaries if one.structure == title}
        order = [one.name for one in self.ranking(chosen, "dice").ranks] if self.submissions else []
        shown = [name for name, one in self.measures.items() if one.better != "neither"]
        header = ["", *(self._heading(name) for name in shown)]
        body = []
        for name in (*order, READERS):
            cells = [_format_interval(found[name].values.get(measure)) for measure in shown]
            body.append([name, *cells])
        return header, body

    def to_markdown(self, part: int | str | None = None) -> str:
        """Return the table as Markdown."""
        header, body = self.table(part)
        lines = [header, ["---", *["---:"] * (len(header) - 1)], *body]
        return "\n".join(f"| {' | '.join(map(_markdown, line))} |" for line in lines) + "\n"

    def to_latex(self, part: int | str | None = None) -> str:
        """Return the table as a LaTeX tabular."""
        header, body = self.table(part)
        lines = [rf"{' & '.join(map(_latex, line))} \\" for line in (header, *body)]
        columns = "l" + "r" * (len(header) - 1)
        head = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", lines[0], r"\hline"]
        return (
            "\n".join([*head, *lines[1:-1], r"\hline", lines[-1], r"\hline", r"\end{tabular}"])
            + "\n"
        )

    def _heading(self, measure: str) -> str:
        one = self.measures[measure]
        unit = {"volume": self.volume_unit, "length": self.length_unit, "": ""}[one.unit]
        return f"{one.title} ({unit})" if unit else one.title


def shared_labels(cases: Sequence[CaseScores]) -> set[int]:
    """Return the labels drawn by two readers of a case, or by the only reader of a case."""
    return {
        label
        for one in cases
        for label, who in one.drawn.items()
        if len(who) > 1 or len(one.readers) < 2
    }


def _in_cases(cases: Iterable[str]) -> str:
    """Count cases and name the first ones: "2 cases (a and b)"."""
    listed = list(cases)
    return f"{len(listed)} case{'s' * (len(listed) > 1)} ({join_items(listed)})"


def _format_interval(interval: Interval | None) -> str:
    if interval is None or math.isnan(interval.value):
        return "–"
    if math.isnan(interval.low):
        return f"{interval.value:.3g}" if abs(interval.value) >= 10 else f"{interval.value:.3f}"
    digits = 1 if abs(interval.value) >= 10 else 3
    return f"{interval.value:.{digits}f} ({interval.low:.{digits}f} to {interval.high:.{digits}f})"


def _markdown(text: str) -> str:
    return text.replace("|", r"\|")


def _latex(text: str) -> str:
    return text.translate(_LATEX)


def _finite_or_none(value: Any) -> Any:
    if isinstance(value, float) or value is None:
        return None if value is None or not math.isfinite(value) else float(value)
    return value
