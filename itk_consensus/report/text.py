"""Values, lists and tables as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from itk_consensus.core.escaping import on_one_line

#: What the command is called.
PROGRAM = "itk-consensus"


def shown(value: Any) -> str:
    """A value as people write it; None, which also stands for NaN, is a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ",".join(f"{key}:{shown(member)}" for key, member in value.items()) or "-"
    if isinstance(value, (list, tuple)):
        return ",".join(shown(member) for member in value) or "-"
    return str(value)


def counted(number: int, noun: str) -> str:
    """1 rater, 2 raters."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def times(values: Iterable[float]) -> str:
    """Extents as 512 x 512 x 300."""
    return " x ".join(shown(value) for value in values)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Lines of an aligned table: the first column to the left, the others to the right."""
    cells = [[on_one_line(shown(value)) for value in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        ).rstrip()
        for row in cells
    ]


def pairs(entries: Mapping[str, str]) -> list[str]:
    """Lines of names and values, the values aligned."""
    width = max(map(len, entries), default=0)
    return [f"{name:<{width}}  {on_one_line(value)}".rstrip() for name, value in entries.items()]


def wrapped(text: str, width: int = 96) -> list[str]:
    """Lines no longer than `width`; what continues a line is indented."""
    return [
        piece
        for line in text.splitlines()
        for piece in textwrap.wrap(line, width, subsequent_indent="    ")
    ]


def section(title: str, lines: Iterable[str]) -> str:
    """A title with its lines indented below."""
    return "\n".join([title, *(f"  {line}" for line in lines)])
