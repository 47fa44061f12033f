"""Read files of stored results, and format their numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


def kept(name: str) -> Any:
    """Load a file of results below this folder."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def short(value: float) -> str:
    """Format with three decimals, without the leading zero."""
    return f"{value:.3f}".removeprefix("0")


def signed(value: float) -> str:
    """Format in the same way, with a sign."""
    return f"{value:+.3f}".replace("0.", ".", 1)
