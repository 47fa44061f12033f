"""Lists of cases as CSV or JSON, for all commands that process several cases."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from itk_consensus.cli.options import is_file_name
from itk_consensus.core.errors import FileError
from itk_consensus.storage.files import read_bytes

FORMATS_HELP = """\
CASES is a CSV file with these columns, or a JSON list of objects with these keys. Several files in
one field of the CSV are separated by ';'; in JSON they are a list. Paths are relative to CASES;
a rater can be named by NAME=FILE."""


class Column(NamedTuple):
    """One column in a list of cases."""

    name: str
    required: bool = False
    holds_files: bool = True  #: Whether its values are file names; other values are left unchanged
    #: Whether members of a list may be empty (null in JSON), which represents missing raters.
    may_lack: bool = False
    #: Whether a missing file is an error of the whole list rather than of its case only.
    must_exist: bool = True
    #: Whether a file may be given as NAME=FILE.
    may_be_named: bool = False
    #: Whether the value is a single text or number instead of a list.
    is_single: bool = False


@dataclass(frozen=True)
class Case:
    """One case: its name, and its files or values, by column."""

    name: str
    columns: Mapping[str, tuple[Any, ...]]
    #: For each column, the names given to its files; None for files without a name.
    names: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    def __getitem__(self, column: str) -> tuple[Any, ...]:
        return self.columns.get(column, ())

    @property
    def files(self) -> list[Path]:
        """All files of the case."""
        return [one for cells in self.columns.values() for one in cells if isinstance(one, Path)]


def read_case_list(path: Path, columns: Sequence[Column]) -> list[Case]:
    """Read the cases from a file, which may have the column "case" in addition to `columns`.

    Raises
    ------
    FileError
        The file cannot be read, lacks a column or a value, or names a nonexistent file.
    """
    contents = read_bytes(path)
    is_json = contents.lstrip()[:1] in (b"[", b"{") or path.suffix.lower() == ".json"
    rows = _json_rows if is_json else _csv_rows
    cases = [_case(path, place, row, columns) for place, row in rows(path, contents, columns)]
    if not cases:
        raise FileError("must hold a list of cases", path=path)
    for column in columns:
        given = sum(column.name in case.columns for case in cases)
        if not column.required and 0 < given < len(cases):
            raise FileError(
                f"gives {column.name} for {given} of {len(cases)} cases; give all or none",
                path=path,
            )
    return cases


def _csv_rows(
    path: Path, contents: bytes, columns: Sequence[Column]
) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        reader = csv.DictReader(io.StringIO(contents.decode("utf-8-sig"), newline=""), strict=True)
        found = [name.strip() for name in reader.fieldnames or ()]
        missing = [
            column.name for column in columns if column.required and column.name not in found
        ]
        if missing:
            raise FileError(
                f"has no column {', '.join(missing)}; its first line has the columns "
                f"{', '.join(map(repr, found)) or '(none)'}, separated by commas",
                path=path,
            )
        reader.fieldnames = found
        for row in reader:
            if None in row:
                raise FileError(
                    f"line {reader.line_num} has more cells than the {len(found)} columns "
                    "of the first line; separate several files of one cell by ';'",
                    path=path,
                )
            cells = {name: (row[name] or "").strip() for name in found}
            yield (
                f"line {reader.line_num}",
                {
                    name: cell if name == "case" else [part.strip() for part in cell.split(";")]
                    for name, cell in cells.items()
                    if cell
                },
            )
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileError(f"cannot be read as CSV: {error}", path=path) from error


def _json_rows(
    path: Path, contents: bytes, columns: Sequence[Column]
) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        objects = json.loads(contents)
    except (ValueError, RecursionError) as error:
        raise FileError(f"cannot be read as JSON: {error}", path=path) from error
    if not isinstance(objects, list):
        raise FileError("must hold a list of cases", path=path)
    known = {"case", *(column.name for column in columns)}
    for number, found in enumerate(objects):
        if not isinstance(found, dict):
            raise FileError(f"case {number} must be an object, got {_excerpt(found)}", path=path)
        unknown = found.keys() - known
        if unknown:
            raise FileError(f"case {number} has the unknown key {min(unknown)}", path=path)
        yield f"case {number}", {name: cell for name, cell in found.items() if cell is not None}


def _case(path: Path, place: str, row: Mapping[str, Any], columns: Sequence[Column]) -> Case:
    cells, names = {}, {}
    for column in columns:
        if column.name in row:
            cell = row[column.name]
            if column.may_be_named:
                listed = cell if isinstance(cell, list) else [cell]
                both = [_split_name(path, one) for one in listed]
                names[column.name], cell = tuple(name for name, _ in both), [one for _, one in both]
            cells[column.name] = tuple(_members(path, place, column, cell))
        elif column.required:
            raise FileError(f"{place} names no file in column {column.name}", path=path)
    return Case(str(row.get("case") or place.split()[1]), cells, names)


def _split_name(path: Path, member: Any) -> tuple[str | None, Any]:
    """Split NAME=FILE into name and file, unless a file with the whole text as its name exists."""
    if not isinstance(member, str) or not is_file_name(member) or (path.parent / member).exists():
        return None, member
    name, equals, file = (part.strip() for part in member.partition("="))
    return (name, file) if name and equals and file and "/" not in name else (None, member)


def _members(path: Path, place: str, column: Column, cell: Any) -> list[Any]:
    if column.is_single:
        (*_, value) = cell if isinstance(cell, list) and cell else [cell]
        if isinstance(value, bool | list | dict) or (isinstance(cell, list) and len(cell) > 1):
            raise FileError(f"{place}: {column.name} must be one value", path=path)
        return [str(value)]
    if column.holds_files:
        listed = cell if isinstance(cell, list) else [cell]
        return [_file(path, place, column, member) for member in listed]
    if not isinstance(cell, list):
        raise FileError(f"{place}: {column.name} must be a list, got {_excerpt(cell)}", path=path)
    return [None if member == "" else member for member in cell]


def _file(path: Path, place: str, column: Column, member: Any) -> Path | None:
    if member in (None, "") and column.may_lack:
        return None
    if not isinstance(member, str) or not is_file_name(member):
        raise FileError(
            f"{place}: {column.name} must name a file, got {_excerpt(member)}", path=path
        )
    file = path.parent / member
    if not column.must_exist:
        return file
    try:
        file.stat()
    except OSError as error:
        raise FileError(f"{error.strerror} (named in {path}, {place})", path=file) from error
    return file


def _excerpt(value: Any) -> str:
    return f"{json.dumps(value):.80}"
