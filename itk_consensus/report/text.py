"""Format values, lists and tables as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from itk_consensus.core.escaping import escape_line

#: Name of the command-line program.
PROGRAM = "itk-consensus"


def format_value(value: Any) -> str:
    """Format a value for display; None, which also stands for NaN, becomes a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ",".join(f"{key}:{format_value(member)}" for key, member in value.items()) or "-"
    if isinstance(value, (list, tuple)):
        return ",".join(format_value(member) for member in value) or "-"
    return str(value)


def pluralize(number: int, noun: str) -> str:
    """Format a number with its noun: 1 rater, 2 raters."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_extents(values: Iterable[float]) -> str:
    """Format extents: 512 x 512 x 300."""
    return " x ".join(format_value(value) for value in values)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Return the lines of an aligned table; all but the first column are right-aligned."""
    cells = [[escape_line(format_value(value)) for value in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in cells
    ]


def pairs(entries: Mapping[str, str]) -> list[str]:
    """Return lines of names and values in two aligned columns."""
    width = max(map(len, entries), default=0)
    return [f"{name:<{width}}  {escape_line(value)}".rstrip() for name, value in entries.items()]


def wrap_lines(text: str, width: int = 96) -> list[str]:
    """Wrap text to lines no longer than `width`, with continuation lines indented."""
    return [
        piece
        for line in text.splitlines()
        for piece in textwrap.wrap(line, width, subsequent_indent="    ")
    ]


def section(title: str, lines: Iterable[str]) -> str:
    """Return a title followed by indented lines."""
    return "\n".join([title, *(f"  {line}" for line in lines)])
