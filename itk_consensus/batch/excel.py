"""Write the tables of a study as sheets of one workbook; the only module that uses openpyxl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from itk_consensus.core.errors import MissingDependencyError
from itk_consensus.core.escaping import escape_controls
from itk_consensus.storage.replacing import atomic_write


def require_excel() -> Any:
    """Import openpyxl; if it is missing, raise an error that names the extra to install."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingDependencyError(
            "a workbook needs openpyxl: pip install 'itk-consensus[excel]'"
        ) from error
    return openpyxl


def write_workbook(path: Path, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Write each table to a sheet with a frozen header; text is never interpreted as a formula."""
    library = require_excel()
    book = library.Workbook()
    book.remove(book.active)
    for title, rows in tables.items():
        sheet = book.create_sheet(title)
        names = list(dict.fromkeys(name for row in rows for name in row))
        for number, name in enumerate(names, start=1):
            _put(sheet.cell(1, number), name)
            for line, row in enumerate(rows, start=2):
                _put(sheet.cell(line, number), row.get(name))
        sheet.freeze_panes = "A2"
        sheet.auto_filter.ref = sheet.dimensions
    with atomic_write(path, alone=True) as draft:
        book.save(draft)


def _put(cell: Any, value: Any) -> None:
    if isinstance(value, str):
        cell.value = escape_controls(value)
        cell.data_type = "s"  # otherwise openpyxl treats text that starts with = as a formula
    else:
        cell.value = value
