"""The page on theory names the code and the tests of each equation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py): ([\w.]+)`", PAGE)))


def test_equations_have_a_function_and_a_test_each() -> None:
    rows = [row for row in PAGE.splitlines() if row.startswith("| ") and ".py: " in row]
    assert len(rows) > 20
    for row in rows:
        assert len(re.findall(r"`[\w/]+\.py: ", row)) == 2, row


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[name for _, name in NAMED])
def test_what_the_page_names_exists(file: str, name: str) -> None:
    folder = "tests" if Path(file).name.startswith("test_") else "itk_consensus"
    text = (ROOT / folder / file).read_text(encoding="utf-8")
    *owner, function = name.split(".")
    for part in (*owner, function):
        assert re.search(rf"(?:def|class) {part}\b", text), f"{file} has no {part}"
