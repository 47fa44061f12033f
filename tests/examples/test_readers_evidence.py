from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "examples" / "benchmarks"


@pytest.fixture
def evidence() -> Any:
    return importlib.import_module("examples.benchmarks.findings.readers_evidence")


def test_kept_rates_meet_what_was_asked_for(evidence: Any) -> None:
    """Nine of ten simulated errors are identified; at most one of twenty cases with agreeing
    readers has findings.
    """
    kept = json.loads(evidence.RESULTS.read_text())
    for row in kept["slips"]:
        if not row["slip"].endswith("in crops"):  # which cannot be detected from the votes alone
            assert row["cases"] == 20
            assert row["named"] >= 18, row
    real = [row for row in kept["agreeing"] if row["readers"] in ("LIDC readers", "crowd workers")]
    assert sum(row["false"] for row in real) <= 0.05 * sum(row["cases"] for row in real)


@pytest.mark.parametrize("slip", ["labels swapped", "another case's mask"])
def test_a_few_planted_slips_are_named_again(
    slip: str, evidence: Any, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "DATA", shared_data)
    monkeypatch.setattr(evidence, "NUMBER", 4)
    for one in evidence.planted(slip, 1):
        said = {finding.rule: finding for finding in evidence.cautions(one.case)}
        assert one.reader in said[one.rule].who
