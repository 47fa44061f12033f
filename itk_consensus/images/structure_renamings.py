"""What structures are to be called, as files that people edit: CSV or TOML.

A CSV has the columns reader, old and new; other columns are for people. Where the reader is empty
or ``*`` the row is for all who have such a structure. A TOML file has ``old = "new"`` for all
readers, and a table of such lines by the name of a reader.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from itk_consensus.core.errors import FileError, ParameterError
from itk_consensus.images.structure_matching import MatchedStructures, Proposal, Renamings
from itk_consensus.storage.files import PathLike, read_bytes

_COLUMNS = ("reader", "old", "new")
_EVERYBODY = ("", "*")


def read_renamings(path: PathLike) -> list[tuple[str, str, str]]:
    """Reader (empty: all), old and new name of each row of a file."""
    content = read_bytes(Path(path)).decode("utf-8-sig", errors="replace")
    rows = (
        _of_toml(content, path) if str(path).lower().endswith(".toml") else _of_csv(content, path)
    )
    stripped = [(reader.strip(), old, new.strip()) for reader, old, new in rows]
    return [
        ("" if reader in _EVERYBODY else reader, old, new) for reader, old, new in stripped if new
    ]


def _of_csv(content: str, path: PathLike) -> list[tuple[str, str, str]]:
    try:
        table = csv.DictReader(io.StringIO(content))
        if not {"old", "new"} <= set(table.fieldnames or ()):
            raise FileError(f"must have the columns {', '.join(_COLUMNS)}", path=path)
        return [(row.get("reader") or "", row["old"] or "", row["new"] or "") for row in table]
    except csv.Error as error:
        raise FileError(f"is not a CSV file: {error}", path=path) from error


def _of_toml(content: str, path: PathLike) -> list[tuple[str, str, str]]:
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        said = tomllib.loads(content)
    except ValueError as error:
        raise FileError(f"is not a TOML file: {error}", path=path) from error
    rows = []
    for key, value in said.items():
        given = value.items() if isinstance(value, dict) else [(key, value)]
        for old, new in given:
            if not isinstance(new, str):
                raise FileError(f"{old!a} must be a name in quotes, got {new!a}", path=path)
            rows.append((key if isinstance(value, dict) else "", old, new))
    return rows


def renamings_of(
    rows: Iterable[tuple[str, str, str]],
    names: Mapping[str, Sequence[str]],
    files: Mapping[str, Path] | None = None,
) -> Renamings:
    """Rows as what `match_structures` takes.

    Parameters
    ----------
    rows : iterable of (reader, old, new)
        Readers by their names, or their files' names or paths.
    names : mapping of str to sequence of str
        What each reader calls the structures.
    files : mapping of str to Path, optional
        Each reader's file, if readers are not called by it.
    """
    files = files or {name: Path(name) for name in names}
    found: dict[str | tuple[str, str], str] = {}
    for reader, old, new in rows:
        who = [name for name in names if reader in ("", name, *_called(files[name]))]
        if not who:
            raise ParameterError(
                f"--rename: no reader is called {reader!a}; there are {', '.join(names)}"
            )
        if reader and len(who) > 1:
            raise ParameterError(
                f"--rename: several readers are called {reader!a}; give their paths"
            )
        if not any(old in names[one] for one in who):
            raise MissingStructureError(reader, old, new, {n for one in who for n in names[one]})
        if reader:
            found[who[0], old] = new
        else:
            found[old] = new
    return found


class MissingStructureError(ParameterError):
    """A structure is to be called otherwise that nobody has."""

    def __init__(self, reader: str, old: str, new: str, known: Iterable[str]) -> None:
        self.old, self.known = old, sorted(known)
        owner = reader or "no rater"
        has = "has no structure" if reader else "has a structure"
        super().__init__(f"--rename {old}={new}: {owner} {has} {old!a}")


def _called(path: Path) -> tuple[str, ...]:
    return str(path), path.name, path.name.split(".", 1)[0]


def names_csv(matched: MatchedStructures) -> str:
    """Every reader's names and what they count as, to be edited and given to ``--rename``.

    What is proposed is in columns of its own, which are not read.
    """
    proposed = {(who, old): one for one in matched.proposals for who, old in one.renamings}
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*_COLUMNS, "readers", "proposed", "dice"])
    for title, reader, old, count in _rows(matched):
        one: Proposal | None = proposed.get((reader, old))
        dice = "" if one is None or one.dice != one.dice else f"{one.dice:.2f}"
        table.writerow([reader, old, title, count, "" if one is None else one.new, dice])
    return stream.getvalue()


def _rows(matched: MatchedStructures) -> Iterator[tuple[str, str, str, int]]:
    for title, row in matched.table.items():
        count = sum(one is not None for one in row)
        for reader, one in zip(matched.readers, row, strict=True):
            if one is not None:
                yield title, reader, one.name, count
