"""Records: JSON files with a checksum, in which every field is validated on reading.

A record is a dataclass whose annotations contain the constraint on each field and, if it differs,
the field's name in the file: ``number: Annotated[int, Integer(1), "n"]``. Reading, validation and
writing are derived from these annotations. Files of tensors and of arrays (`deep/weights.py`,
`chunked/run_record.py`) use the formats of their libraries instead.
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
from itk_consensus.core.constraints import BeyondRange, Integer, Kind, OneOf, Real, Text, short_repr
from itk_consensus.core.errors import FileError
from itk_consensus.storage.files import read_bytes, write_text

SCHEMA_VERSION = 1
LARGEST_RECORD = 64 * 2**20
"""Maximum length of a record in characters; a case takes about a hundred."""

P = TypeVar("P", bound="Part")
R = TypeVar("R", bound="Record")
T = TypeVar("T")


class RecordError(ValueError):
    """A problem in a record; the caller adds the file name."""

    def __init__(self, problem: str, where: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.where = where  #: The field, e.g. ``cases[3].score``

    def __str__(self) -> str:
        return f"{self.where or 'it'} {self.problem}"

    def inside(self, where: str) -> RecordError:
        """Return the same problem, with its field given as a member of the field `where`."""
        between = "." if where and self.where and self.where[0] != "[" else ""
        return RecordError(self.problem, f"{where}{between}{self.where}")


def _accept(kind: Kind[T], value: Any, where: str) -> T:
    """Validate and convert a JSON value; a `RecordError` names the field `where`."""
    try:
        accepted = kind.accept(value)
        if isinstance(value, bool) != isinstance(accepted, bool):
            raise TypeError  # true is not a number in JSON, and 1 is not a Boolean
        return accepted
    except RecordError as error:
        raise error.inside(where) from None
    except (TypeError, ValueError) as error:
        wanted = str(error) if isinstance(error, BeyondRange) else kind.wanted
        raise RecordError(f"must be {wanted}, got {short_repr(value)}", where) from None


# -- constraints that only JSON requires ---------------------------------------------------------


class Infinity(Kind[float]):
    """Infinity as a string, since JSON cannot represent it."""

    wanted = "inf"

    def accept(self, value: Any) -> float:
        if value not in ("inf", "-inf"):
            raise ValueError
        return float(value)


@dataclass(frozen=True)
class Each(Kind[tuple[Any, ...]]):
    """A list whose members all satisfy the same constraint."""

    kind: Kind[Any]
    shortest: int = 0
    longest: int = LARGEST_RECORD

    @property
    def wanted(self) -> str:
        return f"a list of {self.shortest} to {self.longest} members"

    def accept(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)) or not self.shortest <= len(value) <= self.longest:
            raise TypeError
        return tuple(_accept(self.kind, member, f"[{i}]") for i, member in enumerate(value))


@dataclass(frozen=True)
class Members(Kind[dict[str, Any]]):
    """An object whose members may have any name and all satisfy the same constraint."""

    kind: Kind[Any]
    wanted = "an object"

    def accept(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise TypeError
        names = [_accept(Text(), name, "the name of a member") for name in value]
        return {name: _accept(self.kind, value[name], f"{name:.40}") for name in names}


@dataclass(frozen=True)
class Anything(Kind[Any]):
    """Any JSON value with a nesting depth of at most `depth`."""

    depth: int = 8
    wanted = "a JSON value nested at most 8 levels deep"

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
    """An object of one of several `Part` classes, determined by the names of its fields."""

    wanted = "an object"

    def __init__(self, *classes: type[Part]) -> None:
        self.classes = classes

    def accept(self, value: Any) -> Part:
        names = value.keys() if isinstance(value, Mapping) else ()
        fitting = (cls for cls in self.classes if names == _entries(cls).keys())
        return next(fitting, self.classes[0]).from_plain(value)


ANY_REAL: OneOf[float] = OneOf((Real(), Infinity()))


# -- records ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A record, or an object within a record."""

    def contradictions(self) -> Iterator[tuple[str, str]]:
        """Yield (field, problem) pairs for fields that are valid but contradict other fields."""
        yield from ()

    def to_plain(self) -> dict[str, Any]:
        """Return the fields as a JSON object."""
        return {
            key: _to_plain(getattr(self, name)) for key, (name, _) in _entries(type(self)).items()
        }

    @classmethod
    def from_plain(cls: type[P], value: Any) -> P:
        """Validate a JSON object and convert it to this class; raise `RecordError` if invalid."""
        entries = _entries(cls)
        if not isinstance(value, Mapping):
            raise RecordError(f"must be an object, got {short_repr(value)}")
        odd = sorted(entries.keys() ^ value.keys())
        if odd:
            lacks = "lacks" if odd[0] in entries else "must not have"
            raise RecordError(f"{lacks} '{odd[0]:.40}'")
        made = cls(**{name: _accept(kind, value[k], k) for k, (name, kind) in entries.items()})
        for where, problem in made.contradictions():
            raise RecordError(problem, where)
        return made


@dataclass(frozen=True)
class Record(Part):
    """The contents of a file: its fields, the name and version of its schema, and a checksum."""

    schema: ClassVar[str]
    schema_version: ClassVar[int] = SCHEMA_VERSION
    largest: ClassVar[int] = LARGEST_RECORD
    readable_properties: ClassVar[tuple[str, ...]] = ()
    """Properties that are written for people only and ignored when the file is read."""
    checksum_problem: ClassVar[str] = (
        "the record is damaged or was edited: its checksum does not match"
    )
    #: Message for a file of an older version that cannot be read: the reason, and what to do.
    outdated_problem: ClassVar[str] = ""
    #: Older versions that `upgrade` can convert.
    older_versions: ClassVar[tuple[int, ...]] = ()

    def to_json(self) -> str:
        """Return the text of the file."""
        said = {name: getattr(self, name) for name in self.readable_properties}
        return self.seal({**self.opening(), **said, **self.to_plain()})

    @classmethod
    def opening(cls) -> dict[str, Any]:
        """Return the first fields of all files of this schema."""
        return {"schema": cls.schema, "schema_version": cls.schema_version}

    @classmethod
    def seal(cls, written: Mapping[str, Any]) -> str:
        """Format fields as JSON text that ends with their checksum."""
        sealed = {**written, "checksum": checksum(written)}
        return "{\n" + ",\n".join(field_lines(sealed)) + "\n}\n"

    @classmethod
    def is_sealed(cls, written: Mapping[str, Any], contents: str) -> bool:
        """Whether a file's checksum matches its fields or, in a subclass, its text."""
        return bool(written.get("checksum") == checksum(written))

    @classmethod
    def from_json(cls: type[R], contents: str, source: str) -> R:
        """Parse and validate a record; `source` is the file name used in messages."""
        if len(contents) > cls.largest:
            raise FileError(f"is too large for a record: {len(contents)} characters", path=source)
        try:
            written = json.loads(contents)
        except (ValueError, RecursionError) as error:
            raise FileError(f"is not JSON: {error}", path=source) from error
        if not isinstance(written, dict) or written.get("schema") != cls.schema:
            raise FileError(f"is not a record of the kind '{cls.schema}'", path=source)
        found = written.get("schema_version")
        if type(found) is not int or found not in (cls.schema_version, *cls.older_versions):
            raise FileError(cls._version_problem(found), path=source)
        try:
            if not cls.is_sealed(written, contents):
                raise FileError(cls.checksum_problem, path=source)
            if found in cls.older_versions:
                written = cls.upgrade(written)
            own = {*cls.opening(), "checksum", *cls.readable_properties}
            return cls.from_plain({key: one for key, one in written.items() if key not in own})
        except (RecordError, OverflowError, RecursionError) as error:
            raise FileError(f"the record is damaged: {error}", path=source) from error

    @classmethod
    def upgrade(cls, written: dict[str, Any]) -> dict[str, Any]:
        """Convert the fields of a file of an older version to those of this version."""
        return written

    @classmethod
    def read(cls: type[R], path: Path) -> R:
        """Read a record from a file."""
        contents = read_bytes(path)
        try:
            return cls.from_json(contents.decode("utf-8"), str(path))
        except UnicodeDecodeError as error:
            raise FileError("the record is damaged: it is not UTF-8", path=path) from error

    def write(self, path: Path) -> None:
        """Write the record atomically, replacing the file."""
        write_text(path, self.to_json())

    @classmethod
    def _version_problem(cls, found: Any) -> str:
        reads = f"this itk_consensus {itk_consensus.__version__} reads {cls.schema_version}"
        if isinstance(found, int) and found > cls.schema_version:
            return f"has schema version {found}, {reads}; update itk_consensus"
        return f"has schema version {found!r:.40}; {cls.outdated_problem or reads}"


def checksum(written: Mapping[str, Any]) -> str:
    """Return the checksum of a record's other fields, independent of the text's layout."""
    others = {key: value for key, value in written.items() if key != "checksum"}
    return hashlib.blake2b(json.dumps(others, sort_keys=True).encode(), digest_size=16).hexdigest()


def _table(cls: type[Part]) -> dict[str, tuple[str, Kind[Any]]]:
    """Map each field's name in the file to its Python name and its constraint."""
    hints = get_type_hints(cls, include_extras=True)
    table = {field.name: hints[field.name].__metadata__ for field in fields(cls)}
    return {(key or (name,))[0]: (name, kind) for name, (kind, *key) in table.items()}


_entries: Callable[[Any], dict[str, tuple[str, Kind[Any]]]] = cache(_table)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Part):
        return value.to_plain()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _to_plain(member) for key, member in value.items()}
    return [_to_plain(member) for member in value] if isinstance(value, (list, tuple)) else value


def field_lines(written: Mapping[str, Any]) -> list[str]:
    """Format each field; objects and lists of objects use one line per member."""
    return [f"  {_dump(key)}: {_format_field(value)}" for key, value in written.items()]


def _format_field(value: Any) -> str:
    """Format the value of a field; objects and lists of objects use one line per member."""
    if isinstance(value, Mapping) and value:
        members = [f"{_dump(key)}: {_dump(member)}" for key, member in value.items()]
        return "{\n    " + ",\n    ".join(members) + "\n  }"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n    " + ",\n    ".join(map(_dump, value)) + "\n  ]"
    return _dump(value)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
