"""HTML tables of the raters' bias in millimetres by direction, with bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from itk_consensus.assessment.agreement.reader_bias import PADDING
from itk_consensus.report.agreement_tables import rater_name
from itk_consensus.report.markup import Markup, data_table, tag
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.review.rater_colors import rater_color

#: Maximum number of structures for which bias tables are shown; more would fill the page.
_MOST_STRUCTURES = 6
#: Minimum full scale of the bars, which keeps bars short if differences are small.
_SHORTEST_REACH_MM = 1.0

_Row = dict[str, float]


def bias_tables(case: ShownCase) -> list[Markup]:
    """Return a table for each structure; empty for many structures, plain arrays, or 4D images."""
    like = case.result.like
    axes = like.geometry.dimension
    if not like.family.has_space or axes > 3 or len(case.agreement.labels) > _MOST_STRUCTURES:
        return []
    found = {one.label: _biases(case, one.label) for one in case.agreement.labels}
    tables = [_table(case, label, rows) for label, rows in found.items() if any(rows)]
    # Not printed, since a printed case is limited to two sheets.
    return [tag("div", table, class_="on-screen") for table in tables]


def _biases(case: ShownCase, label: int) -> list[_Row | None]:
    """Return each rater's bias; None if the rater did not annotate the label or part of its box."""
    box, surface = case.box(label), case.surface(label)
    if surface is None:
        return []
    drawn = [(labels[box] == label, labels[box]) for labels in case.maps]
    return [
        surface.by_direction(np.pad(mask, PADDING))
        if mask.any() and not (labels == case.missing).any()
        else None
        for mask, labels in drawn
    ]


def _table(case: ShownCase, label: int, rows: Sequence[_Row | None]) -> Markup:
    known = [row for row in rows if row is not None]
    values = np.abs([list(row.values()) for row in known])
    reach = max(_SHORTEST_REACH_MM, float(np.nanmax(values)))
    body = []
    for index, row in enumerate(rows):
        cells = row or dict.fromkeys(known[0], float("nan"))
        color = rater_color(case.place(index))
        body.append([rater_name(case, index), *(_cell(mm, reach, color) for mm in cells.values())])
    return data_table(
        f"How far outside the consensus each rater draws, in mm, {case.structure(label)}: on "
        "average and on the side of the patient that is named; below 0, and left of the line, "
        "inside. The consensus follows each rater a little, who differs from the others by more.",
        ["rater", *known[0]],
        body,
        class_="bias",
    )


def _cell(mm: float, reach: float, color: str) -> Markup:
    """Return a table cell with a number above its bar."""
    if mm != mm:
        return tag("td", "–")
    number = f"{round(mm, 1) or 0.0:+.1f}"  # avoids "-0.0"
    return tag("td", number, tag("svg", *_bar(mm / reach, color), viewBox="-31 0 62 8",
                                       aria_hidden="true"))  # fmt: skip


def _bar(share: float, color: str) -> Iterator[Markup]:
    """Draw a bar outwards from the centre line; a share of 1 is full scale."""
    length = 30 * abs(share)
    yield tag("rect", x=f"{min(0.0, 30 * share):.1f}", y=1, width=f"{length:.1f}", height=6,
              fill=color)  # fmt: skip
    yield tag("line", x1=0, x2=0, y1=0, y2=8)
