"""Escape untrusted text, such as file names, for a terminal, a table or a page.

There is one function per output medium, and all text written to the medium is passed through it.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Characters that move the cursor, reorder text or cannot be encoded, except line feeds and tabs.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: Spreadsheets evaluate cells that begin with these characters, even from a CSV file.
_FORMULA = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def escape_controls(text: str) -> str:
    """Escape control characters and characters that cannot be encoded, for a terminal."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def escape_line(text: str) -> str:
    """Escape line breaks and tabs as well, for a table cell on a terminal."""
    return escape_controls(text).replace("\n", "\\n").replace("\t", "\\t")


def html_text(text: str) -> str:
    """Escape text for an HTML page."""
    return html.escape(escape_controls(text))


def csv_text(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Format a CSV file, escaping texts that spreadsheets would evaluate as formulas."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _csv_cell(row[name]) for name in names})
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """Prefix a text that begins like a formula with an apostrophe, which marks it as text."""
    if not isinstance(value, str):
        return value
    cell = escape_controls(value)
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
