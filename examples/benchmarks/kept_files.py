"""Files of kept results, and how their numbers are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def kept(name: str) -> Any:
    """A file of results below this folder."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def short(value: float) -> str:
    """Three digits, without the leading zero."""
    return f"{value:.3f}".removeprefix("0")


def signed(value: float) -> str:
    """The same with its sign."""
    return f"{value:+.3f}".replace("0.", ".", 1)
