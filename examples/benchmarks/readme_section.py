"""Replace sections of a page between a pair of markers."""

from __future__ import annotations

from pathlib import Path


def between_markers(text: str, name: str, content: str) -> str:
    """Replace the text between <!-- name:begin --> and <!-- name:end -->."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"must hold the lines {begin} and {end}")
    return f"{head}{begin}\n{content}\n{end}{tail}"


def replace_section(readme: Path, name: str, content: str) -> None:
    """Replace a section of a README file."""
    try:
        text = between_markers(readme.read_text(encoding="utf-8"), name, content)
    except ValueError as error:
        raise SystemExit(f"{readme} {error}") from error
    readme.write_text(text, encoding="utf-8")
