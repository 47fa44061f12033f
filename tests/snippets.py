"""The code blocks of README and documentation, as a person would paste them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/howto/*.md")])

#: Languages whose blocks run; others, such as console for what installs things, are only read.
_RUN = ("python", "sh")


class Snippet(NamedTuple):
    """One block: its language, and its text with the line on which it starts."""

    language: str
    text: str
    line: int


def snippets_of(page: Path) -> list[Snippet]:
    """The blocks of a page that run, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        if found[1] in _RUN
    ]


def python_of(page: Path) -> str:
    """The Python of a page as one module."""
    return "\n".join(one.text for one in snippets_of(page) if one.language == "python")


PAGES_WITH_CODE = [page for page in PAGES if snippets_of(page)]
