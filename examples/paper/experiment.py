"""Results of an experiment, and their conversion from printed text to plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from examples.paper.side_by_side import Rows

HOLDS = "holds"


@dataclass
class Experiment:
    """Results of one experiment, for display.

    Attributes
    ----------
    columns : dict of name to rows
        The published values, our values with the same procedure, and those of a careful run, as
        text.
    figures : list of dict
        Each has a title, axis labels, and one (x, y) line per name, or one dot per row and column.
    """

    title: str
    claim: str
    key: str
    measures: Sequence[str]
    columns: dict[str, Rows]
    word: str = ""
    verdict: str = ""
    figures: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return asdict(self)


def number(text: str) -> float:
    """Return the mean in a text such as "0.925 ± 0.040", "3,974 ± 1,387" or "95.0%"."""
    return float(text.split(" ")[0].replace(",", "").rstrip("%"))


def column(rows: Rows, position: int) -> list[float]:
    """Return the values of one measure in all rows."""
    return [number(row[position]) for row in rows.values()]


def lines(
    title: str, x: str, y: str, rows: dict[str, tuple[Rows, int]], **more: Any
) -> dict[str, Any]:
    """Return a line plot: one measure against the rows' keys, with one line per name."""
    drawn = {
        name: [(float(k), number(row[place])) for k, row in table.items()]
        for name, (table, place) in rows.items()
    }
    return {"title": title, "x": x, "y": y, "lines": drawn, **more}


def dots(title: str, x: str, measures: Sequence[str], columns: dict[str, Rows]) -> dict[str, Any]:
    """Return a dot plot of an experiment with one row: one dot per measure and column."""
    drawn = {
        name: {
            measure: number(text)
            for measure, text in zip(measures, next(iter(rows.values())), strict=True)
            if text != "–"
        }
        for name, rows in columns.items()
    }
    return {"title": title, "x": x, "dots": drawn}
