"""Suggestions for misspelled commands, methods, options and files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a suggestion of the closest known word, to be appended to a message; "" if
    none is close.
    """
    close = get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def near_file(path: Path) -> str:
    """If `path` does not exist, suggest a file with a similar name in the same folder."""
    try:
        names = [] if os.path.lexists(path) else os.listdir(path.parent)
    except OSError:
        return ""
    close = get_close_matches(path.name, names, 1)
    return f"; did you mean {path.parent / close[0]}?" if close else ""
