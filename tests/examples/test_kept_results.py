"""Stored results record the run that produced them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"
FACTS = {"commit", "command", "date", "machine"}


def runs_in(kept: Any) -> Iterator[dict[str, str]]:
    """Yield the facts of each run in a file of stored results."""
    if isinstance(kept, list):
        for row in kept:
            yield from row["runs"]
    elif "run" not in kept and "environment" not in kept and "provenance" not in kept:
        for part in kept.values():  # parts may come from several runs, each with its own facts
            yield from runs_in(part)
    else:
        place = kept.get("environment", kept.get("provenance", kept))
        yield place["run"]


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*/*.json")), ids=lambda path: path.name)
def test_a_kept_result_names_its_run_or_says_that_it_is_unknown(path: Path) -> None:
    runs = list(runs_in(json.loads(path.read_text(encoding="utf-8"))))
    assert runs
    for run in runs:
        assert run == {"commit": "unknown run"} or set(run) == FACTS
