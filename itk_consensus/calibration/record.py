"""Calibrations as JSON that a person can read and nobody edits unnoticed.

A record is a dataclass whose annotations say what each field may hold, and its name in the file if
that is another: ``number: Annotated[int, integer(1), "n"]``. That one table writes the file, and
checks all of it when it is read: types, ranges, lengths, nesting, and a checksum.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from math import inf, isfinite
from reprlib import repr
from typing import Any, ClassVar, NoReturn, TypeVar, get_type_hints

import itk_consensus
from itk_consensus.errors import FileError

SCHEMA_VERSION = 1
LARGEST_RECORD = 64 * 2**20
"""Characters; a case takes about a hundred."""

Check = Callable[[Any, str], Any]
"""Takes a value and where it stands; returns the value as Python keeps it, or raises."""
P = TypeVar("P", bound="Part")
R = TypeVar("R", bound="Record")

_LONGEST_TEXT = 10_000


class RecordError(ValueError):
    """What is wrong with a record, without the name of its file."""


# -- what a field may hold -------------------------------------------------------------------


def real(low: float = -inf, high: float = inf, *, infinite: bool = False) -> Check:
    """A number from `low` to `high`; infinity, which JSON lacks, is the text "inf"."""

    def check(value: Any, where: str) -> float:
        given = float(value) if infinite and value in ("inf", "-inf") else value
        if type(given) not in (int, float) or not low <= given <= high:
            _reject(where, f"a number from {low:g} to {high:g}", value)
        if not (infinite or isfinite(given)):
            _reject(where, "finite", value)
        return float(given)

    return check


def integer(low: int, high: int = 2**53) -> Check:
    """A whole number from `low` to `high`."""

    def check(value: Any, where: str) -> int:
        if type(value) is not int or not low <= value <= high:
            _reject(where, f"a whole number from {low} to {high}", value)
        return int(value)

    return check


def boolean(value: Any, where: str) -> bool:
    """True or false."""
    return value if type(value) is bool else _reject(where, "true or false", value)


def text(value: Any, where: str) -> str:
    """Not too long a text, and one that a file can hold: no half of a surrogate pair."""
    short = isinstance(value, str) and len(value) <= _LONGEST_TEXT
    whole = short and value.encode(errors="ignore").decode() == value
    return str(value) if whole else _reject(where, "a text", value)


def choice(options: Sequence[str]) -> Check:
    """One of some texts."""
    wanted = f"one of {', '.join(options)}"
    return lambda value, where: value if value in options else _reject(where, wanted, value)


def optional(check: Check) -> Check:
    """Null, or what `check` lets pass."""
    return lambda value, where: None if value is None else check(value, where)


def each(check: Check, shortest: int = 0, longest: int = LARGEST_RECORD) -> Check:
    """A list of what `check` lets pass."""

    def checked(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)) or not shortest <= len(value) <= longest:
            _reject(where, f"a list of {shortest} to {longest} members", value)
        return tuple(check(member, f"{where}[{i}]") for i, member in enumerate(value))

    return checked


def mapping(check: Check) -> Check:
    """An object whose members `check` lets pass, whatever their names."""

    def checked(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            _reject(where, "an object", value)
        names = [text(name, f"a name in {where}") for name in value]
        return {name: check(value[name], f"{where}.{name:.40}") for name in names}

    return checked


def anything(value: Any, where: str, depth: int = 8) -> Any:
    """Whatever JSON holds, nested no more than `depth` deep."""
    if depth and isinstance(value, (Mapping, list, tuple)):
        collection = mapping if isinstance(value, Mapping) else each
        return collection(lambda one, there: anything(one, there, depth - 1))(value, where)
    if isinstance(value, (float, str)):
        return (text if isinstance(value, str) else real())(value, where)
    if type(value) is int:
        return integer(-(2**63), 2**63)(value, where)
    plain = value is None or isinstance(value, bool)
    return value if plain else _reject(where, "what JSON can hold, 8 levels deep at most", value)


def part(*classes: type[Part]) -> Check:
    """An object that is one of these parts, told apart by its fields."""

    def check(value: Any, where: str) -> Part:
        known = value.keys() if isinstance(value, Mapping) else ()
        fitting = (cls for cls in classes if known == _entries(cls).keys())
        return next(fitting, classes[0]).checked(value, where)

    return check


def _reject(where: str, wanted: str, value: Any) -> NoReturn:
    # Python refuses to print very large integers.
    got = f"2**{value.bit_length()}" if type(value) is int and abs(value) > 2**99 else repr(value)
    raise RecordError(f"{where} must be {wanted}, got {got}")


# -- records ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A record, or an object in it."""

    def contradictions(self) -> Iterator[str]:
        """What is wrong although each field alone is right."""
        yield from ()

    def plain(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return {key: _plain(getattr(self, name)) for key, (name, _) in _entries(type(self)).items()}

    @classmethod
    def checked(cls: type[P], value: Any, where: str = "") -> P:
        """The part that a JSON object describes; a `RecordError` if it describes none."""
        entries = _entries(cls)
        if not isinstance(value, Mapping):
            _reject(where, "an object", value)
        odd = sorted(entries.keys() ^ value.keys())
        if odd:
            lacks = "lacks" if odd[0] in entries else "must not have"
            raise RecordError(f"{where or 'it'} {lacks} '{odd[0]:.40}'")
        inside = f"{where}." if where else ""
        made = cls(**{n: check(value[k], inside + k) for k, (n, check) in entries.items()})
        for contradiction in made.contradictions():
            raise RecordError(inside + contradiction)
        return made


@dataclass(frozen=True)
class Record(Part):
    """What a calibration leaves behind."""

    schema: ClassVar[str]
    said: ClassVar[tuple[str, ...]] = ()
    """Properties that are written for people, and never read."""

    def to_json(self) -> str:
        """The record as text."""
        kind = {"schema": self.schema, "schema_version": SCHEMA_VERSION}
        written = {**kind, **{name: getattr(self, name) for name in self.said}, **self.plain()}
        written["checksum"] = checksum(written)
        lines = (f"  {_dumped(key)}: {_lines(value)}" for key, value in written.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls: type[R], contents: str, source: str) -> R:
        """Read a record back, bit by bit the same; `source` is the file, for messages."""
        if len(contents) > LARGEST_RECORD:
            raise FileError(f"{source}: is too large for a record: {len(contents)} characters")
        try:
            written = json.loads(contents)
        except (ValueError, RecursionError) as error:
            raise FileError(f"{source}: is not JSON: {error}") from error
        if not isinstance(written, dict) or written.get("schema") != cls.schema:
            raise FileError(f"{source}: is not a record of the kind '{cls.schema}'")
        if type(found := written.get("schema_version")) is not int or found != SCHEMA_VERSION:
            raise FileError(f"{source}: {_why_not(found)}")
        try:
            if written.get("checksum") != checksum(written):
                raise RecordError("it was edited: its checksum is another; calibrate again")
            own = {"schema", "schema_version", "checksum", *cls.said}
            return cls.checked({key: one for key, one in written.items() if key not in own})
        except (RecordError, OverflowError, RecursionError) as error:
            raise FileError(f"{source}: the record is damaged: {error}") from error


def checksum(written: Mapping[str, Any]) -> str:
    """Of everything else in a record, however it is laid out."""
    others = {key: value for key, value in written.items() if key != "checksum"}
    return hashlib.blake2b(json.dumps(others, sort_keys=True).encode(), digest_size=16).hexdigest()


def library_versions() -> dict[str, str]:
    """The versions that made a record."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "SimpleITK")}
    return {"itk_consensus": itk_consensus.__version__, **libraries}


def _table(cls: type[Part]) -> dict[str, tuple[str, Check]]:
    """By name in the file: name in Python, and what it may hold."""
    hints = get_type_hints(cls, include_extras=True)
    table = {field.name: hints[field.name].__metadata__ for field in fields(cls)}
    return {(key or (name,))[0]: (name, check) for name, (check, *key) in table.items()}


_entries: Callable[[Any], dict[str, tuple[str, Check]]] = cache(_table)


def _why_not(found: Any) -> str:
    if isinstance(found, int) and found > SCHEMA_VERSION:
        return (
            f"has schema version {found}, this itk_consensus {itk_consensus.__version__} reads "
            f"{SCHEMA_VERSION}; update itk_consensus"
        )
    return (
        f"has schema version {found!r:.40}; {SCHEMA_VERSION} is the first that was released, so "
        "there is nothing to migrate it from; calibrate again"
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.plain()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, (list, tuple)) else value


def _lines(value: Any) -> str:
    """A field for readers: objects and lists of objects take a line per member."""
    if isinstance(value, Mapping) and value:
        members = [f"{_dumped(key)}: {_dumped(member)}" for key, member in value.items()]
        return "{\n    " + ",\n    ".join(members) + "\n  }"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n    " + ",\n    ".join(map(_dumped, value)) + "\n  ]"
    return _dumped(value)


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
