"""Who draws generously, and where, as a page shows it: millimetres by direction, with bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from itk_consensus.assessment.agreement.reader_bias import PADDING, ConsensusSurface
from itk_consensus.core.array_types import Floats
from itk_consensus.report.agreement_tables import rater_name
from itk_consensus.report.markup import Markup, data_table, tag
from itk_consensus.report.shown_case import ShownCase
from itk_consensus.review.rater_colors import rater_color
from itk_consensus.space.boxes import bounding_box

#: Of more structures a page would be tables of bias only.
_MOST_STRUCTURES = 6
#: Bars reach at least so far, or contours that agree would seem to differ.
_SHORTEST_REACH_MM = 1.0

_Row = dict[str, float]


def bias_tables(case: ShownCase) -> list[Markup]:
    """A table for each structure; none of many, of arrays, or beyond three dimensions."""
    like = case.result.like
    axes = like.geometry.dimension
    if not like.family.has_space or axes > 3 or len(case.agreement.labels) > _MOST_STRUCTURES:
        return []
    # ITK's axes are those of the array in reverse.
    orientation = np.reshape(like.geometry.direction, (axes, axes))[:, ::-1]
    found = {one.label: _biases(case, one.label, orientation) for one in case.agreement.labels}
    tables = [_table(case, label, rows) for label, rows in found.items() if any(rows)]
    # Paper has two sheets.
    return [tag("div", table, class_="on-screen") for table in tables]


def _biases(case: ShownCase, label: int, orientation: Floats) -> list[_Row | None]:
    """By rater; None of those who left the label out or did not annotate all of its box."""
    consensus, *drawn = (labels == label for labels in (case.consensus, *case.maps))
    box = bounding_box(np.any([consensus, *drawn], axis=0))
    if box is None or not consensus.any():
        return []
    surface = ConsensusSurface(np.pad(consensus[box], PADDING), case.spacing, orientation)
    return [
        surface.by_direction(np.pad(mask[box], PADDING))
        if mask.any() and not (labels[box] == case.missing).any()
        else None
        for mask, labels in zip(drawn, case.maps, strict=True)
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
    """A number above its bar."""
    if mm != mm:
        return tag("td", "–")
    number = f"{round(mm, 1) or 0.0:+.1f}"  # and not -0.0
    return tag("td", number, tag("svg", *_bar(mm / reach, color), viewBox="-31 0 62 8",
                                       aria_hidden="true"))  # fmt: skip


def _bar(share: float, color: str) -> Iterator[Markup]:
    """From the line in the middle outwards; the whole half is 1."""
    length = 30 * abs(share)
    yield tag("rect", x=f"{min(0.0, 30 * share):.1f}", y=1, width=f"{length:.1f}", height=6,
              fill=color)  # fmt: skip
    yield tag("line", x1=0, x2=0, y1=0, y2=8)
