"""Text from elsewhere, such as names of files, on its way into a terminal, a table or a page.

Each medium has one function here, and everything that is written there passes through it.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: What moves cursors, reorders text, or cannot be encoded. Line feeds and tabs are layout.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
#: Spreadsheets calculate what begins like this, whatever the file calls it.
_FORMULA = ("=", "+", "-", "@", "\t", "＝", "＋", "－", "＠")


def visible(text: str) -> str:
    """For a terminal: control characters and letters that cannot be encoded are spelled out."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def on_one_line(text: str) -> str:
    """For a cell of a table on a terminal: line breaks and tabs are spelled out too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def html_text(text: str) -> str:
    """For a page: no letter of it is markup."""
    return html.escape(visible(text))


def csv_text(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A CSV file; numbers stay numbers, and no text becomes a formula in a spreadsheet."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _csv_cell(row[name]) for name in names})
    return text.getvalue()


def _csv_cell(value: Any) -> Any:
    """A text that begins like a formula gets the apostrophe by which spreadsheets mark texts."""
    if not isinstance(value, str):
        return value
    cell = visible(value)
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
