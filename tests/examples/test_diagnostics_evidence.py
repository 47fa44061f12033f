from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from itk_consensus.assessment.findings import Diagnostics, Finding

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def evidence():
    return importlib.import_module("examples.benchmarks.findings.diagnostics_evidence")


def test_rates_are_shares_of_bad_and_of_good_results(evidence, monkeypatch):
    monkeypatch.setattr(evidence, "LEAST_BAD", 2)

    def run(ours, vote, severity):
        return evidence.Run("", ours, vote, Diagnostics((Finding("r", 1.0, severity),)))

    runs = [
        run(0.8, 0.9, "look"),
        run(0.7, 0.9, "note"),
        run(0.97, 0.9, "look"),
        run(0.99, 0.9, None),
        run(0.96, 0.97, "look"),
    ]
    flags = [bool(one.found.concerns) for one in runs]
    assert evidence.rates(flags, runs).split() == ["hits", "0.500", "false", "alarms", "0.500"]
    assert evidence.rates(flags[2:], runs[2:]).split()[1] == "-"


def test_the_table_is_printed(evidence, monkeypatch, capsys):
    monkeypatch.setattr(evidence, "STRUCTURE_SETTINGS", {})
    evidence.main(["--first-seed", "5", "--seeds", "1", "--methods", "STAPLE Basic", "--choose"])
    text = capsys.readouterr().out
    assert text.startswith("STAPLE Basic: 12 results, ")
    assert "fusion above note" in text
    assert "and Dice to the consensus <" in text
