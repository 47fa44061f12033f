"""What somebody may have meant who misspelled a command, a method, an option or a file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a message: the known word that is closest, or nothing if none is close."""
    close = get_close_matches(word, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


def near_file(path: Path) -> str:
    """The same for a file that is not there, among those of its folder."""
    try:
        names = [] if os.path.lexists(path) else os.listdir(path.parent)
    except OSError:
        return ""
    close = get_close_matches(path.name, names, 1)
    return f"; did you mean {path.parent / close[0]}?" if close else ""
