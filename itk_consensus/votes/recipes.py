"""What a pickle of a result holds."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class FieldsOnly:
    """A frozen dataclass of which fields are pickled, and nothing that was derived from them."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
