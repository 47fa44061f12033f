"""Recomputed decisions on spellings at their first reading equal the stored ones."""

from __future__ import annotations

import json
from pathlib import Path

from examples.benchmarks.contours.spellings_first_read import shares, together

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "examples" / "benchmarks" / "contours" / "spellings_first_read.json"


def test_the_decisions_quote_the_kept_first_readings() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    text = (ROOT / "docs" / "decisions" / "images.md").read_text(encoding="utf-8")
    found = [shares(part["one"], kept["place"])[1] for part in kept["parts"].values()]
    *others, last = [f"{one:.3f}".lstrip("0") for one in found]
    assert f"{', '.join(others)} and {last} of their true pairs" in " ".join(text.split())
    together_found = shares(together(kept["parts"])["one"], kept["place"])[1]
    assert f"together {together_found:.3f}".replace("0.", ".") in text


def test_no_name_was_joined_with_that_of_another_structure_at_its_first_reading() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    every = together(kept["parts"])["two"]
    assert "joined" not in every
    assert every.total() > 50000
    assert kept["parts"]["sealed4"]["two"].keys() <= {"apart", "left to place"}
    assert kept["place"]["wrongly"] == 0
