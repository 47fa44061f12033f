"""Text tables that compare a published table with our runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

Rows: TypeAlias = dict[int, tuple[str, ...]]
"""One row per rater count or radius, each measure written as the paper prints it."""


def mean_and_spread(values: Sequence[float], decimals: int = 3) -> str:
    """Format mean ± standard deviation over seeds (ddof = 0) as the paper does."""
    return f"{np.mean(values):,.{decimals}f} ± {np.std(values):,.{decimals}f}"


def print_side_by_side(
    title: str, key: str, measures: Sequence[str], columns: Mapping[str, Rows]
) -> None:
    """Print one line per row and measure, with one column of text per run.

    Parameters
    ----------
    key : str
        Name of the quantity that identifies a row, such as "J".
    columns : mapping of column name to rows
        The first column determines which rows are printed.
    """
    names = list(columns)
    lines = [[key, "measure", *names]]
    for row in columns[names[0]]:
        for position, measure in enumerate(measures):
            cells = (columns[name][row][position] for name in names)
            lines.append([str(row), measure, *cells])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    print(title)
    for line in lines:
        print("  ".join(f"{cell:<{w}}" for cell, w in zip(line, widths, strict=True)).rstrip())
    print()
