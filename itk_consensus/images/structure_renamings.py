"""Renaming of structures by editable CSV or TOML files.

A CSV file has the columns reader, old and new; other columns are ignored. If the reader is empty or
``*``, the row applies to all raters with such a structure. A TOML file has lines ``old = "new"``
for all raters, and a table of such lines for each single rater, by name.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from math import isnan, nan
from pathlib import Path

from itk_consensus.core.errors import FileError, ParameterError
from itk_consensus.images.structure_matching import MatchedStructures, Renamings
from itk_consensus.images.structure_names import StructureWords, default_words
from itk_consensus.storage.files import PathLike, read_bytes

_COLUMNS = ("reader", "old", "new")
_ALL_RATERS = ("", "*")


def read_renamings(path: PathLike) -> list[tuple[str, str, str]]:
    """Read the rows of a file: rater ("" for all), old and new name."""
    content = read_bytes(Path(path)).decode("utf-8-sig", errors="replace")
    rows = (
        _of_toml(content, path) if str(path).lower().endswith(".toml") else _of_csv(content, path)
    )
    stripped = [(reader.strip(), old, new.strip()) for reader, old, new in rows]
    return [
        ("" if reader in _ALL_RATERS else reader, old, new) for reader, old, new in stripped if new
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
        content_of_file = tomllib.loads(content)
    except ValueError as error:
        raise FileError(f"is not a TOML file: {error}", path=path) from error
    rows = []
    for key, value in content_of_file.items():
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
    words: StructureWords | None = None,
) -> Renamings:
    """Convert rows to the `mapping` of `match_structures`.

    An old name that no rater uses exactly is matched to its other spellings.

    Parameters
    ----------
    rows : iterable of (reader, old, new)
        Raters are identified by their names, or by the names or paths of their files.
    names : mapping of str to sequence of str
        Names of the structures of each rater.
    files : mapping of str to Path, optional
        File of each rater; by default raters are named after their files.
    words : StructureWords, optional
        Table of organ names; by default the package's own.
    """
    words = words or default_words()
    files = files or {name: Path(name) for name in names}
    found: dict[str | tuple[str, str], str] = {}
    for reader, old, new in rows:
        who = [name for name in names if reader in ("", name, *_aliases(files[name]))]
        if not who:
            raise ParameterError(
                f"--rename: no reader is called {reader!a}; there are {', '.join(names)}"
            )
        if reader and len(who) > 1:
            raise ParameterError(
                f"--rename: several readers are called {reader!a}; give their paths"
            )
        if any(old in names[one] for one in who):
            found[(who[0], old) if reader else old] = new
            continue
        spelled = [(one, name) for one in who for name in _spellings(old, names[one], words)]
        if not spelled:
            raise MissingStructureError(reader, old, new, {n for one in who for n in names[one]})
        found.update(dict.fromkeys(spelled, new))
    return found


def _spellings(name: str, others: Sequence[str], words: StructureWords) -> list[str]:
    """Return those of the other names that have the same meaning as a name."""
    meaning = words.read(name)
    return [other for other in others if words.read(other).is_same_as(meaning)]


class MissingStructureError(ParameterError):
    """A structure that is to be renamed does not exist."""

    def __init__(self, reader: str, old: str, new: str, known: Iterable[str]) -> None:
        self.old, self.known = old, sorted(known)
        owner = reader or "no rater"
        has = "has no structure" if reader else "has a structure"
        super().__init__(f"--rename {old}={new}: {owner} {has} {old!a}")


def _aliases(path: Path) -> tuple[str, ...]:
    return str(path), path.name, path.name.split(".", 1)[0]


def names_csv(
    matched: MatchedStructures, swapped: Mapping[tuple[str, str], tuple[str, float]] | None = None
) -> str:
    """Return a CSV of all raters' names and their matches, to be edited and passed to ``--rename``.

    Proposals are in separate columns, which are ignored when the file is read.

    Parameters
    ----------
    swapped : mapping of (reader, structure) to (structure, Dice), optional
        Structures that the other raters name differently: their name for it, and the Dice with
        them.
    """
    proposed = {
        (who, old): (one.new, one.dice) for one in matched.proposals for who, old in one.renamings
    }
    stream = io.StringIO()
    table = csv.writer(stream, lineterminator="\n")
    table.writerow([*_COLUMNS, "readers", "proposed", "dice"])
    for title, reader, old, count in _rows(matched):
        may_be = (swapped or {}).get((reader, title)) or proposed.get((reader, old), ("", nan))
        dice = "" if isnan(may_be[1]) else f"{may_be[1]:.2f}"
        table.writerow([reader, old, title, count, may_be[0], dice])
    return stream.getvalue()


def _rows(matched: MatchedStructures) -> Iterator[tuple[str, str, str, int]]:
    for title, row in matched.table.items():
        count = sum(one is not None for one in row)
        for reader, one in zip(matched.readers, row, strict=True):
            if one is not None:
                yield title, reader, one.name, count
