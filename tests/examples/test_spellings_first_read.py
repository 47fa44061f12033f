"""What the decisions say of spellings at their first reading is what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path

from examples.benchmarks.contours.spellings_first_read import shares, together

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "examples" / "benchmarks" / "contours" / "spellings_first_read.json"


def test_the_decisions_quote_the_kept_first_readings() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    every = together(kept["parts"])
    _, found = shares(every["one"], kept["place"])
    text = (ROOT / "docs" / "decisions" / "images.md").read_text(encoding="utf-8")
    assert f"so that {found:.3f} is what names and places find".replace("0.", ".") in text
    pairs = every["one"].total()
    assert f"{pairs - every['one']['apart']} of {pairs} pairs" in " ".join(text.split())


def test_no_name_was_joined_with_that_of_another_structure_at_its_first_reading() -> None:
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    every = together(kept["parts"])["two"]
    assert every.keys() <= {"apart", "left to place"}
    assert every.total() > 10000
    assert kept["place"]["wrongly"] == 0
