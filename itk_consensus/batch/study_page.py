"""The index page of a batch: cases (worst first), raters, structures, and failed cases."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from statistics import median
from typing import Any
from urllib.parse import quote

import numpy as np

from itk_consensus.assessment.sentences import join_items
from itk_consensus.assessment.verdict import WORDS
from itk_consensus.batch.one_case import FAILED, OTHER_GRID, UNREADABLE, CaseResult
from itk_consensus.batch.study_tables import ALL_RATERS, Row, Study, outliers
from itk_consensus.report.agreement_tables import heat_cell
from itk_consensus.report.dispute_figures import line_sample, thumbnail_legend
from itk_consensus.report.markup import (
    Markup,
    collapsible,
    data_table,
    document,
    join_markup,
    section,
    tag,
)
from itk_consensus.report.study_plots import Volume, bland_altman, box_plots
from itk_consensus.report.text import pluralize
from itk_consensus.review.rater_colors import rater_color
from itk_consensus.space.boxes import written_unit

#: Matches the first difference between two grids in the error message of a failed case.
_DIFFERENCES = re.compile(r"\b(size|spacing|origin|direction|shape) \([^)]*\) instead of \([^)]*\)")

#: Maximum numbers of thumbnails, of rows in the map of raters, and of plots; more would load
#: slowly.
_MOST_THUMBNAILS = 500
_MOST_OF_MAP = 200
_MOST_PLOTS = 40
#: Maximum number of cases per verdict that are named at the top.
_MOST_NAMED = 8


def index_text(
    results: Sequence[CaseResult],
    method: str,
    study: Study,
    thumbnails: Mapping[str, bytes],
    links: Mapping[str, str],
) -> str:
    """Return the HTML page of the cohort.

    Parameters
    ----------
    results : sequence of CaseResult
        Sorted, the worst first.
    thumbnails : mapping of str to bytes
        A PNG for each case that has one.
    links : mapping of str to str
        Other files of the batch, keyed by description.
    """
    broken = [result for result in results if result.status == FAILED]
    done = [result for result in results if result.status != FAILED]
    overlaps = {one.case: one.mean_dice for one in done if one.mean_dice is not None}
    absent = {case: names for case in study.cases if (names := study.missing(case))}
    facts = [f"Method: {method}."]
    if overlaps:
        facts.append(f"Median Dice between readers: {median(overlaps.values()):.3f}.")
    missing = tag("p", f"Without a file: {_absences(absent)}.") if absent else None
    about = tag("p", " ".join(facts), class_="quiet")
    lead = join_markup([verdict_sentence(results), _farthest_sentence(study), missing, about])
    parts = []
    if broken:
        items = [
            tag("li", tag("b", f"{one.case}: {failure(one)}"),
                collapsible("The whole message", one.finding), class_="do-not-use")
            for one in broken
        ]  # fmt: skip
        parts.append(section("Failed", tag("ul", *items, class_="findings"), id_="failed"))
    table = _case_table(done, outliers(overlaps), absent, thumbnails)
    parts.append(section("Cases, worst first", _filters(done), table, id_="cases"))
    if study.cases:
        parts += _of_study(done, study)
    listed = [tag("li", tag("a", path, href=quote(path)), f" – {k}") for k, path in links.items()]
    parts.append(section("Files", tag("ul", *listed), id_="files"))
    script = (files("itk_consensus.report") / "sorting.js").read_text(encoding="utf-8")
    title = f"Consensus of {pluralize(len(results), 'case')}"
    return document(title, lead, *parts, tag("script", Markup(script)))


def verdict_sentence(results: Sequence[CaseResult]) -> Markup:
    """Describe how many cases may be used, and list the others with links to their pages."""
    done = [one for one in results if one.status != FAILED]
    fine = sum(one.verdict == "use" for one in done)
    word = tag("b", "use", class_="word use")
    number = tag("a", f"{fine} of {pluralize(len(results), 'case')}", href="#cases",
                 data_show="use")  # fmt: skip
    said: list[Any] = [number, ": ", word, ". "]
    for verdict, opening in (("look", "Look at"), ("do not use", "Do not use")):
        links = [_case_link(one) for one in done if one.verdict == verdict]
        said += _naming(opening, verdict, links)
    links = [
        tag("a", f"{one.case} ({why})" if (why := _short_failure(one)) else one.case,
            href="#failed")
        for one in results
        if one.status == FAILED
    ]  # fmt: skip
    said += _naming("Failed:", "do not use", links, "#failed")
    return tag("p", *said, class_="verdicts")


def _naming(opening: str, verdict: str, links: Sequence[Markup], rest: str = "#cases") -> list[Any]:
    """Name some cases in a sentence whose opening is coloured; empty if there are none.

    Parameters
    ----------
    rest : str
        Link to the cases that are not named; in the table of cases, it filters by verdict.
    """
    if not links:
        return []
    named: list[Any] = [part for link in links[:_MOST_NAMED] for part in (", ", link)][1:]
    more = len(links) - _MOST_NAMED
    show = verdict if rest == "#cases" else None
    named += [" and ", tag("a", f"{more} more", href=rest, data_show=show)] if more > 0 else []
    word = tag("b", opening, class_=f"word {verdict.replace(' ', '-')}")
    return [word, " ", *named, ". "]


def _farthest_sentence(study: Study) -> Markup | None:
    """Describe which rater deviates most over the study, with a link to the table of
    readers; None if unknown.
    """
    one = study.farthest_rater()
    if one is None:
        return None
    labels = {row.label for case in study.cases.values() for row in case.labels}
    where = f" in {study.structure(one.label)}" if len(labels) > 1 else ""
    cases = pluralize(one.cases, "case")
    numbers = (
        f"Dice to the vote of the others {one.dice:.2f}, where the other readers have "
        f"{one.others:.2f}"
    )
    reader = tag("a", one.rater, href="#raters")
    if one.is_clear:
        return tag("p", reader, f" is farthest from the others over {cases}{where}: {numbers}.")
    return tag("p", f"No reader is clearly apart from the others over {cases}; ", reader,
               f" is farthest{where} ({numbers}).")  # fmt: skip


def _case_link(one: CaseResult) -> Markup:
    return tag("a", one.case, href=quote(one.page or one.consensus))


def _short_failure(one: CaseResult) -> str:
    if one.rule == UNREADABLE:
        return f"{one.reader}'s file cannot be read"
    return f"{one.reader}'s file has another grid" if one.rule == OTHER_GRID else ""


def failure(one: CaseResult) -> str:
    """Describe in one line why a case failed and, if known, what to do."""
    if one.rule == UNREADABLE:
        return f"{one.reader}'s file cannot be read: ask for it again."
    if one.rule == OTHER_GRID:
        found = _DIFFERENCES.search(one.finding)
        grid = f" ({_shortened(found[0])})" if found else ""
        return (
            f"{one.reader}'s file has another grid than the others'{grid}: perhaps that of another "
            "case; else resample it."
        )
    reason = re.sub(r"^(\w+Error: )?(\w+Filter: )?", "", one.finding)
    return f"no result: {_shortened(re.split(r'(?<=[.;]) ', reason)[0])}"


def _shortened(text: str) -> str:
    """Return the text with file names instead of paths and numbers with at most four digits."""
    text = re.sub(r"(?<![\w.])([A-Za-z]:)?[\\/][^\s:,;]*[\\/]", "", text)
    return re.sub(r"-?\d+\.\d{4,}", lambda found: f"{float(found[0]):.4g}", text)


def _absences(absent: Mapping[str, Sequence[str]]) -> str:
    """Describe which readers are missing in which cases: "dora in case-04"."""
    cases: dict[str, list[str]] = {}
    for case, names in absent.items():
        for name in names:
            cases.setdefault(name, []).append(case)
    return "; ".join(f"{name} in {join_items(where)}" for name, where in cases.items())


def _filters(done: Sequence[CaseResult]) -> Markup:
    """Return select boxes for verdict and reader, which filter the rows of the table."""
    named = {name for one in done for name in one.reader.split(", ") if name}
    choices = {"verdict": reversed(WORDS), "reader": sorted(named)}
    boxes = [
        tag(
            "label",
            f"{what} ",
            tag(
                "select",
                tag("option", "all", value=""),
                *(tag("option", one, value=one) for one in values),
                data_filter=what,
            ),
        )
        for what, values in choices.items()
    ]
    return tag("p", *boxes, tag("span", role="status", class_="quiet"), class_="filters on-screen")


def _case_table(
    results: Sequence[CaseResult],
    far: set[str],
    absent: Mapping[str, list[str]],
    thumbnails: Mapping[str, bytes],
) -> Markup:
    names = ("case", "verdict", "reader", "what and where", "mean Dice between readers",
             "lowest Dice of two readers", "readers", "missing readers")  # fmt: skip
    header = [tag("button", name, type="button") for name in names]
    rows = []
    for number, one in enumerate(results):
        picture = thumbnails.get(one.case) if number < _MOST_THUMBNAILS else None
        text = " ".join(filter(None, [one.finding, f"See {one.where}." if one.where else ""]))
        if one.case in far:
            text = f"{text} Readers agree far less than in the other cases.".strip()
        rows.append(
            [
                join_markup([_thumbnail(picture), _case_link(one)]),
                _word(one.verdict),
                tag("td", one.reader or "–", class_="name" if one.reader else "name nothing",
                    data_reader=one.reader),
                tag("td", text, class_="text"),
                one.mean_dice if one.mean_dice is not None else float("nan"),
                one.lowest_dice if one.lowest_dice is not None else float("nan"),
                one.raters,
                tag("td", ", ".join(absent.get(one.case, [])) or "–",
                    class_="name" if one.case in absent else "name nothing"),
            ]
        )  # fmt: skip
    caption = "By verdict, then by the mean Dice between readers."
    sorting = tag("span", "Headings sort.", class_="quiet wide on-screen")
    above = tag("p", *(thumbnail_legend() if thumbnails else ()), sorting, class_="legend")
    labels = ["", "", "", "mean Dice between readers", "lowest of two", "readers", "missing"]
    table = data_table(caption, header, rows, class_="sortable cards", labels=labels)
    return join_markup([above, table])


def _word(verdict: str) -> Markup:
    word = tag("b", verdict, class_=f"word {verdict.replace(' ', '-')}")
    return tag("td", word, class_="name", data_verdict=verdict)


def _thumbnail(picture: bytes | None) -> Markup | None:
    if picture is None:
        return None
    uri = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
    return tag("img", src=uri, alt="", class_="thumbnail")


def _of_study(results: Sequence[CaseResult], study: Study) -> list[Markup]:
    """Return the sections about raters and structures over all cases."""
    raters = study.of_raters()
    return [
        section("Readers", _rater_table(raters), _map(results, study), id_="raters"),
        section("Structures", *_structures(study), id_="structures"),
    ]


def _rater_table(rows: Sequence[Row]) -> Markup:
    caption = (
        "Each rater over all cases: bias of volume against the mean of the others, and Dice with "
        "the vote of the others, with its 95 % interval (bootstrap over cases). The row of all "
        "raters is the human ceiling."
    )
    header = ["rater", "structure", "cases", "volume bias %", "its SD %", "Dice to the others",
              "95 % interval"]  # fmt: skip
    body = []
    numbers = {name: n for n, name in enumerate(dict.fromkeys(row["rater"] for row in rows))}
    for row in rows:
        is_all = row["rater"] == ALL_RATERS
        sample = None if is_all else line_sample(rater_color(numbers[row["rater"]]), 3)
        low, high = row["dice_low"], row["dice_high"]
        body.append(
            [
                tag("b", ALL_RATERS) if is_all else join_markup([sample, row["rater"]]),
                tag("td", row["structure"], class_="name"),
                row["cases"],
                _one_decimal(row["volume_bias_percent"], signed=True),
                _one_decimal(row["volume_bias_sd_percent"]),
                _nan(row["dice_to_vote_of_others"]),
                "–" if low is None else f"{low:.3f}–{high:.3f}",
            ]
        )
    return data_table(caption, header, body)


def _map(results: Sequence[CaseResult], study: Study) -> Markup:
    """Return a table of raters by cases: Dice with the vote of the others."""
    raters = study.raters
    rows = []
    for one in results[:_MOST_OF_MAP]:
        if one.case not in study.cases:
            continue
        called = dict(zip(study.raters_of(one.case), study.cases[one.case].mean_left_out(),
                          strict=True))  # fmt: skip
        cells = [heat_cell(called[r]) if r in called else tag("td", "missing") for r in raters]
        rows.append([one.case, *cells])
    caption = (
        "Dice of each rater with the vote of the others, mean of structures (darker = better, "
        "white ≤ 0.5)"
    )
    if len(results) > _MOST_OF_MAP:
        caption += f"; the first {_MOST_OF_MAP} cases"
    return tag("div", data_table(caption, ["case", *raters], rows), class_="heat")


def _structures(study: Study) -> list[Markup]:
    boxes: dict[str, list[float]] = {}
    for row in study.pairs():
        boxes.setdefault(row["structure"], []).append(row["dice"])
    boxes = dict(sorted(boxes.items(), key=lambda item: median(item[1])))
    parts = []
    if boxes:
        some = dict(list(boxes.items())[:_MOST_PLOTS])
        title = "Dice between every two raters in every case, by structure; the worst first"
        parts.append(box_plots(some, title))
    numbers = {name: n for n, name in enumerate(study.raters)}
    points = []
    for case, one in study.cases.items():
        for label in one.labels:
            for j, rater in enumerate(study.raters_of(case)):
                others = [volume for k, volume in enumerate(label.volumes) if k != j]
                if not others:
                    continue
                mean = (label.volumes[j] + float(np.mean(others))) / 2
                apart = label.volumes[j] - float(np.mean(others))
                points.append(Volume(case, numbers[rater], mean, 100 * apart / mean if mean else 0))
    unit = next(iter(study.cases.values())).unit
    title = (
        "Bland and Altman: each rater's volume less the mean of the others, in % of their mean; "
        "colours as in the table of raters"
    )
    return [*parts, bland_altman(points, written_unit(unit), title)]


def _one_decimal(value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:+.1f}" if signed else f"{value:.1f}"


def _nan(value: Any) -> float:
    return float("nan") if value is None else float(value)
