"""Records: what a file of readable JSON says, checked field by field, and a checksum of the whole.

A record is a dataclass whose annotations hold the constraint on each field and, if it differs, its
name in the file: ``number: Annotated[int, Integer(1), "n"]``. They write the file, and check all of
it when it is read. Files of tensors and of arrays (`deep/weights.py`, `chunked/run_record.py`) are
in the formats of their libraries instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_type_hints

import itk_consensus
from itk_consensus.core.constraints import BeyondRange, Integer, Kind, OneOf, Real, Text, shown
from itk_consensus.core.errors import FileError
from itk_consensus.storage.files import read_bytes, write_text

SCHEMA_VERSION = 1
LARGEST_RECORD = 64 * 2**20
"""Characters; a case takes about a hundred."""

P = TypeVar("P", bound="Part")
R = TypeVar("R", bound="Record")
T = TypeVar("T")


class RecordError(ValueError):
    """What is wrong with a record, without the name of its file."""

    def __init__(self, problem: str, where: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = where  #: The field, as ``cases[3].score``

    def __str__(self) -> str:
        return f"{self.where or 'it'} {self.problem}"

    def inside(self, where: str) -> RecordError:
        """The same about a field that lies within another one."""
        between = "." if where and self.where and self.where[0] != "[" else ""
        return RecordError(self.problem, f"{where}{between}{self.where}")


def _accepted(kind: Kind[T], value: Any, where: str) -> T:
    """What a constraint makes of a JSON value, or a `RecordError` that says where it stands."""
    try:
        accepted = kind.accept(value)
        if isinstance(value, bool) != isinstance(accepted, bool):
            raise TypeError  # true is no number in JSON, and 1 is no Boolean
        return accepted
    except RecordError as error:
        raise error.inside(where) from None
    except (TypeError, ValueError) as error:
        wanted = str(error) if isinstance(error, BeyondRange) else kind.wanted
        raise RecordError(f"must be {wanted}, got {shown(value)}", where) from None


# -- constraints that only JSON needs ----------------------------------------------------------


class Infinity(Kind[float]):
    """Infinity, which JSON lacks, as a text."""

    wanted = "inf"

    def accept(self, value: Any) -> float:
        if value not in ("inf", "-inf"):
            raise ValueError
        return float(value)


@dataclass(frozen=True)
class Each(Kind[tuple[Any, ...]]):
    """A list whose members all have one kind."""

    kind: Kind[Any]
    shortest: int = 0
    longest: int = LARGEST_RECORD

    @property
    def wanted(self) -> str:
        return f"a list of {self.shortest} to {self.longest} members"

    def accept(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)) or not self.shortest <= len(value) <= self.longest:
            raise TypeError
        return tuple(_accepted(self.kind, member, f"[{i}]") for i, member in enumerate(value))


@dataclass(frozen=True)
class Members(Kind[dict[str, Any]]):
    """An object whose members all have one kind, whatever their names."""

    kind: Kind[Any]
    wanted = "an object"

    def accept(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise TypeError
        names = [_accepted(Text(), name, "the name of a member") for name in value]
        return {name: _accepted(self.kind, value[name], f"{name:.40}") for name in names}


@dataclass(frozen=True)
class Anything(Kind[Any]):
    """Whatever JSON holds, nested no more than `depth` deep."""

    depth: int = 8
    wanted = "what JSON can hold, 8 levels deep at most"

    def accept(self, value: Any) -> Any:
        if isinstance(value, (Mapping, list, tuple)):
            if not self.depth:
                raise ValueError
            inner = Anything(self.depth - 1)
            return (Members if isinstance(value, Mapping) else Each)(inner).accept(value)
        if isinstance(value, str):
            return Text(may_be_empty=True).accept(value)
        if value is None or isinstance(value, bool):
            return value
        return (Real() if isinstance(value, float) else Integer(-(2**63), 2**63)).accept(value)


class OnePart(Kind[Any]):
    """An object that is one of some parts, which its fields tell apart."""

    wanted = "an object"

    def __init__(self, *classes: type[Part]) -> None:
        self.classes = classes

    def accept(self, value: Any) -> Part:
        names = value.keys() if isinstance(value, Mapping) else ()
        fitting = (cls for cls in self.classes if names == _entries(cls).keys())
        return next(fitting, self.classes[0]).checked(value)


ANY_REAL: OneOf[float] = OneOf((Real(), Infinity()))


# -- records ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A record, or an object in it."""

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Fields that are right alone but do not fit each other, each with its problem."""
        yield from ()

    def plain(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return {key: _plain(getattr(self, name)) for key, (name, _) in _entries(type(self)).items()}

    @classmethod
    def checked(cls: type[P], value: Any) -> P:
        """The part that a JSON object describes; a `RecordError` if it describes none."""
        entries = _entries(cls)
        if not isinstance(value, Mapping):
            raise RecordError(f"must be an object, got {shown(value)}")
        odd = sorted(entries.keys() ^ value.keys())
        if odd:
            lacks = "lacks" if odd[0] in entries else "must not have"
            raise RecordError(f"{lacks} '{odd[0]:.40}'")
        made = cls(**{name: _accepted(kind, value[k], k) for k, (name, kind) in entries.items()})
        for where, problem in made.contradictions():
            raise RecordError(problem, where)
        return made


@dataclass(frozen=True)
class Record(Part):
    """What one file says, with its kind, its version and a checksum."""

    schema: ClassVar[str]
    schema_version: ClassVar[int] = SCHEMA_VERSION
    largest: ClassVar[int] = LARGEST_RECORD
    said: ClassVar[tuple[str, ...]] = ()
    """Properties that are written for human readers and ignored when read."""
    edited: ClassVar[str] = "the record is damaged, or was edited: its checksum is another"
    #: Why there is nothing of an older version that could be read, and what to do.
    outdated: ClassVar[str] = ""

    def to_json(self) -> str:
        """The record as text."""
        said = {name: getattr(self, name) for name in self.said}
        return self.seal({**self.opening(), **said, **self.plain()})

    @classmethod
    def opening(cls) -> dict[str, Any]:
        """How every file of this kind begins."""
        return {"schema": cls.schema, "schema_version": cls.schema_version}

    @classmethod
    def seal(cls, written: Mapping[str, Any]) -> str:
        """Fields as text, with a checksum, whatever their layout, at the end."""
        sealed = {**written, "checksum": checksum(written)}
        return "{\n" + ",\n".join(field_lines(sealed)) + "\n}\n"

    @classmethod
    def is_sealed(cls, written: Mapping[str, Any], contents: str) -> bool:
        """Whether a file's checksum is that of its fields, or of its text."""
        return bool(written.get("checksum") == checksum(written))

    @classmethod
    def from_json(cls: type[R], contents: str, source: str) -> R:
        """Read a record back exactly; `source` is the file, for messages."""
        if len(contents) > cls.largest:
            raise FileError(f"is too large for a record: {len(contents)} characters", path=source)
        try:
            written = json.loads(contents)
        except (ValueError, RecursionError) as error:
            raise FileError(f"is not JSON: {error}", path=source) from error
        if not isinstance(written, dict) or written.get("schema") != cls.schema:
            raise FileError(f"is not a record of the kind '{cls.schema}'", path=source)
        if type(found := written.get("schema_version")) is not int or found != cls.schema_version:
            raise FileError(cls._why_not(found), path=source)
        try:
            if not cls.is_sealed(written, contents):
                raise FileError(cls.edited, path=source)
            own = {*cls.opening(), "checksum", *cls.said}
            return cls.checked({key: one for key, one in written.items() if key not in own})
        except (RecordError, OverflowError, RecursionError) as error:
            raise FileError(f"the record is damaged: {error}", path=source) from error

    @classmethod
    def read(cls: type[R], path: Path) -> R:
        """Read a record from a file."""
        contents = read_bytes(path)
        try:
            return cls.from_json(contents.decode("utf-8"), str(path))
        except UnicodeDecodeError as error:
            raise FileError("the record is damaged: it is not UTF-8", path=path) from error

    def write(self, path: Path) -> None:
        """Write the record, replacing the file in one step."""
        write_text(path, self.to_json())

    @classmethod
    def _why_not(cls, found: Any) -> str:
        reads = f"this itk_consensus {itk_consensus.__version__} reads {cls.schema_version}"
        if isinstance(found, int) and found > cls.schema_version:
            return f"has schema version {found}, {reads}; update itk_consensus"
        return f"has schema version {found!r:.40}; {cls.outdated or reads}"


def checksum(written: Mapping[str, Any]) -> str:
    """Checksum of the record's other fields, whatever their layout."""
    others = {key: value for key, value in written.items() if key != "checksum"}
    return hashlib.blake2b(json.dumps(others, sort_keys=True).encode(), digest_size=16).hexdigest()


def _table(cls: type[Part]) -> dict[str, tuple[str, Kind[Any]]]:
    """By name in the file: name in Python, and its constraint."""
    hints = get_type_hints(cls, include_extras=True)
    table = {field.name: hints[field.name].__metadata__ for field in fields(cls)}
    return {(key or (name,))[0]: (name, kind) for name, (kind, *key) in table.items()}


_entries: Callable[[Any], dict[str, tuple[str, Kind[Any]]]] = cache(_table)


def _plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.plain()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, (list, tuple)) else value


def field_lines(written: Mapping[str, Any]) -> list[str]:
    """Each field for human readers: objects and lists of objects take a line per member."""
    return [f"  {_dumped(key)}: {_lines(value)}" for key, value in written.items()]


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
