"""Calibrations as JSON that a person can read, with a schema version."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from math import isfinite
from typing import Any

import itk_consensus
from itk_consensus.errors import FileError

SCHEMA_VERSION = 1


def library_versions() -> dict[str, str]:
    """The versions that made a record."""
    libraries = {name: version(name) for name in ("numpy", "scipy", "SimpleITK")}
    return {"itk_consensus": itk_consensus.__version__, **libraries}


def to_json(schema: str, fields: Mapping[str, Any]) -> str:
    """JSON text of a record; infinity, which JSON lacks, becomes the text "inf"."""
    record = {"schema": schema, "schema_version": SCHEMA_VERSION, **fields}
    lines = (f"  {_text(key)}: {_field(value)}" for key, value in record.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def from_json(text: str, schema: str, source: str) -> dict[str, Any]:
    """Fields of a record, or a `FileError` that says why it cannot be used.

    Parameters
    ----------
    source : str
        The file, for messages.
    """
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(f"{source}: is not JSON: {error}") from error
    if not isinstance(record, dict) or record.get("schema") != schema:
        raise FileError(f"{source}: is not a record of the kind '{schema}'")
    found = record.get("schema_version")
    if found != SCHEMA_VERSION:
        raise FileError(f"{source}: {_why_not(found)}")
    return record


def _why_not(found: Any) -> str:
    if isinstance(found, int) and found > SCHEMA_VERSION:
        return (
            f"has schema version {found}, this itk_consensus {itk_consensus.__version__} reads "
            f"{SCHEMA_VERSION}; update itk_consensus"
        )
    return (
        f"has schema version {found!r}; {SCHEMA_VERSION} is the first that was released, so there "
        "is nothing to migrate it from; calibrate again"
    )


def _field(value: Any) -> str:
    """A field for readers: mappings and lists of mappings take a line per member."""
    if isinstance(value, Mapping) and value:
        members = [f"{_text(key)}: {_text(member)}" for key, member in value.items()]
        return "{\n    " + ",\n    ".join(members) + "\n  }"
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], Mapping):
        return "[\n    " + ",\n    ".join(map(_text, value)) + "\n  ]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(_with_infinity_as_text(value), ensure_ascii=False, allow_nan=False)


def _with_infinity_as_text(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _with_infinity_as_text(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_infinity_as_text(member) for member in value]
    return value
