"""HTML page of a study of submissions: the ranking and its certainty, followed by all tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from itk_consensus.assessment.resampling import Interval
from itk_consensus.assessment.scoring.study_scores import READERS, StudyScores
from itk_consensus.report.markup import Markup, data_table, document, join_markup, section, tag
from itk_consensus.report.study_plots import Dot, dot_plot
from itk_consensus.report.text import pluralize

#: Significance level of differences (corrected p).
_SURE = 0.05


def score_page(study: StudyScores, links: Mapping[str, str], left_out: Sequence[str] = ()) -> str:
    """Return the HTML page of a study.

    Parameters
    ----------
    links : mapping of str to str
        Descriptions of the other files, by name.
    left_out : sequence of str
        Readers' files that were not used, each as case/reader.
    """
    part = study.main_part
    lead = join_markup(
        [tag("p", verdict(study), class_="verdict"), _facts(study), *_notes(study, left_out)]
    )
    header, body = study.table(part)
    caption = (
        "Means over cases with their 95 % interval (bootstrap over cases). Submissions and readers "
        "are scored against the same number of readers, each reader left out in turn; the last row "
        "is the readers' own score."
    )
    if len(study.structures) > 1:
        caption = f"Mean of {len(study.structures)} structures, each by itself below. {caption}"
    sections = [
        section("Scores", data_table(caption, header, _two_lines(body)), id_="scores"),
        section("Compared with readers", *_plots(study, part), id_="plots"),
        section("Order", *_order(study, part), id_="order"),
        *_structures(study),
        *_findings(study),
        section("What the columns mean", _meanings(study), id_="measures"),
        section("Files", _links(links), id_="files"),
    ]
    if study.failed:
        rows = [[case, tag("td", why, class_="text")] for case, why in study.failed.items()]
        table = data_table("Cases that could not be scored, and why.", ["case", "error"], rows)
        sections.insert(0, section("Failed", table, id_="failed"))
    script = (files("itk_consensus.report") / "sorting.js").read_text(encoding="utf-8")
    title = (
        f"{pluralize(len(study.submissions), 'submission')}, {pluralize(len(study.cases), 'case')}"
    )
    return document(title, lead, *sections, tag("script", Markup(script)))


def verdict(study: StudyScores) -> str:
    """Describe in one or two sentences which submission has the highest Dice and how certain this
    is.
    """
    part = study.main_part
    found = {one.name: one for one in study.summaries if one.structure == study.parts[part]}
    order = study.ranking(part, "dice").ranks
    best = order[0].name
    dice = found[best].values["dice"]
    ceiling = found[READERS].values["dice"]
    number = len(study.structures)
    reached = f"{dice.value:.3f}" + (f" (mean of {number} structures)" if number > 1 else "")
    words = [f"{best} reaches a Dice to the readers of {reached}"]
    if len(order) > 1:
        words = [f"{best} has the highest Dice to the readers, {reached}"]
        pairs = study.comparisons(part, "dice")
        sure = [
            one.second if one.first == best else one.first
            for one in pairs
            if best in (one.first, one.second) and one.corrected_p <= _SURE
        ]
        if len(sure) == len(order) - 1:
            words.append(", ahead of every other submission (p corrected <= .05)")
        elif sure:
            words.append(f", significantly ahead only of {', '.join(sure)}")
        else:
            words.append(", but not significantly ahead of any other (p corrected > .05)")
    words.append(".")
    if not math.isnan(ceiling.value):
        apart = study.distance_to_ceiling(best, part, "dice")
        words.append(
            f" Readers reach {ceiling.value:.3f} among themselves: {best} is {_apart(apart)}."
        )
    return "".join(words)


def _apart(distance: Interval) -> str:
    """Describe the difference from the readers' score and whether it is significant."""
    side, bounds = "above", (distance.low, distance.high)
    if distance.value < 0:
        side, bounds = "below", (-distance.high, -distance.low)
    apart = f"{abs(distance.value):.3f}"
    if math.isnan(bounds[0]):
        return f"{apart} {side}, without an interval"
    if bounds[0] <= 0:
        return (
            f"not surely above or below (difference {distance.value:.3f}, {distance.low:.3f} to "
            f"{distance.high:.3f})"
        )
    return f"{apart} {side} ({bounds[0]:.3f} to {bounds[1]:.3f})"


def _facts(study: StudyScores) -> Markup:
    readers = [len(case.readers) or 1 for case in study.cases]
    span = f"{min(readers)} to {max(readers)}" if min(readers) < max(readers) else str(readers[0])
    facts = {
        "cases": len(study.cases),
        "submissions": len(study.submissions),
        "readers a case": span,
        "structures": len(study.structures),
    }
    return tag("ul", *(tag("li", tag("b", v), k) for k, v in facts.items()), class_="facts")


def _notes(study: StudyScores, left_out: Sequence[str]) -> list[Markup]:
    said = [f"Left out: {', '.join(left_out)}"] if left_out else []
    return [tag("p", f"{one[:1].upper()}{one[1:]}.") for one in (*said, *study.notes)]


def _findings(study: StudyScores) -> list[Markup]:
    """List the readers' files that may be wrong."""
    rows = [
        [row["case"], row["reader"], tag("td", row["finding"], class_="text")]
        for row in study.findings()
    ]
    if not rows:
        return []
    about = "Files that may be wrong; they count in all scores, and in what readers reach."
    table = data_table(about, ["case", "reader", "finding"], rows)
    return [section("Readers to look at", table, id_="readers")]


def _plots(study: StudyScores, part: int | str) -> list[Markup]:
    """Return a plot with one dot per submission over the band of the readers' scores."""
    found = {one.name: one for one in study.summaries if one.structure == study.parts[part]}
    plots = []
    for measure, about in study.measures.items():
        ceiling = found[READERS].values[measure]
        dots = [
            Dot(name, value.value, value.low, value.high)
            for name in study.submissions
            if not math.isnan((value := found[name].values[measure]).value)
        ]
        if not dots:
            continue
        better = {"higher": "; right is better", "lower": "; left is better", "neither": ""}
        title = f"{study.column(measure)}: {about.title}{better[about.better]}"
        band = None if math.isnan(ceiling.value) else (ceiling.low, ceiling.value, ceiling.high)
        plots.append(dot_plot(dots, band, title))
    return plots


def _order(study: StudyScores, part: int | str) -> list[Markup]:
    """Return how often each submission has each rank in bootstrap samples of the cases."""
    if len(study.submissions) < 2:
        return [tag("p", "A single submission has no ranking.", class_="quiet")]
    found = study.ranking(part, "dice")
    places = [f"place {number}" for number in range(1, len(found.ranks) + 1)]
    rows = [
        [one.name, one.rank, f"{one.low} to {one.high}", *map(_place, shares)]
        for one, shares in zip(found.ranks, found.places, strict=True)
    ]
    caption = (
        "Ranking by Dice to the readers, and how often each submission has each place in bootstrap "
        f"samples of the cases; the order differs in {found.changed:.0%} of the samples."
    )
    table = data_table(caption, ["submission", "place", "95 % interval", *places], rows)
    compared = [
        [
            f"{one.first} less {one.second}",
            one.difference.value,
            _interval(one.difference.low, one.difference.high),
            f"{one.p:.4f}",
            f"{one.corrected_p:.4f}",
        ]
        for one in study.comparisons(part, "dice")
    ]
    header = ["difference of Dice", "mean", "95 % interval", "p", "p corrected"]
    about = "Paired by case; p by changing signs of differences, corrected for the number of pairs."
    return [table, data_table(about, header, compared)]


def _structures(study: StudyScores) -> list[Markup]:
    if len(study.parts) < 2:
        return []
    tables = []
    for part, title in study.parts.items():
        if part == study.main_part:
            continue
        header, body = study.table(part)
        tables.append(data_table(title, header, _two_lines(body)))
    return [section("Structures", *tables, id_="structures")]


def _meanings(study: StudyScores) -> Markup:
    rows = [
        [
            study.column(name),
            tag("td", f"{one.title}. {one.meaning}", class_="text"),
            one.better,
            tag("td", one.source or "–", class_="text"),
        ]
        for name, one in study.measures.items()
    ]
    return data_table("As in the tables.", ["column", "meaning", "better", "source"], rows)


def _two_lines(body: list[list[str]]) -> list[list[Any]]:
    """In the cells of a table, put intervals on a second line below their values."""

    def cell(text: str) -> Any:
        value, _, interval = text.partition(" (")
        below = tag("small", interval.rstrip(")")) if interval else None
        return tag("td", value, below, class_="interval")

    return [[name, *map(cell, cells)] for name, *cells in body]


def _place(share: float) -> Markup:
    """Return a share as a table cell; larger shares are darker."""
    return tag("td", f"{share:.0%}", style=f"--share:{share:.2f}", class_="place")


def _links(links: Mapping[str, str]) -> Markup:
    items = [
        tag("li", tag("a", name, href=quote(name)), f" – {what}") for name, what in links.items()
    ]
    return tag("ul", *items)


def _interval(low: float, high: float) -> str:
    return "–" if math.isnan(low) else f"{low:.3f} to {high:.3f}"
