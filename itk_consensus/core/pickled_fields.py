"""Pickling of dataclasses without cached values."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class FieldsOnly:
    """Base class of frozen dataclasses, which pickles their fields but no cached properties."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
