from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

from examples.simulation import STRUCTURE_SETTINGS
from itk_consensus.votes.overlap import dice

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def evidence():
    return importlib.import_module("examples.benchmarks.methods.consensus_evidence")


def test_a_table_has_means_errors_losses_and_the_worst(evidence, capsys):
    arguments = "--first-seed 5 --seeds 2 --settings ring --without-real --fusers consensus"
    evidence.main(arguments.split())
    lines = capsys.readouterr().out.splitlines()
    cases = [STRUCTURE_SETTINGS["ring"](seed) for seed in (5, 6)]
    mean = np.mean([dice(case.raters.mean(axis=0) > 0.5, case.truth) for case in cases])
    assert f"{mean:7.4f} {0:+8.4f} +- {0:.4f}" in lines[1]
    assert lines[2].startswith("ring")
    assert "worst setting against the vote" in lines[-1]


def test_a_row_compares_case_by_case(evidence):
    row = evidence.Row(np.array([0.9, 0.7, 0.8]), np.array([0.8, 0.75, 0.8]))
    assert str(row).split() == ["0.8000", "+0.0167", "+-", "0.0441", "33%", "-0.050"]


@pytest.mark.parametrize("name", ["smoothed", "corrected", "coherence", "staple-smooth", "direct"])
def test_every_fuser_returns_a_label_map(evidence, name):
    case = STRUCTURE_SETTINGS["3 raters"](0)
    found = evidence.FUSERS[name](evidence.encoded(case.raters), case.spacing)
    assert found.shape == case.truth.shape
    assert dice(found == 1, case.truth) > 0.85


@pytest.mark.slow
def test_the_consensus_meets_its_requirements_on_a_few_fresh_seeds(evidence):
    """Consensus is at most .02 below the vote, and on average above the corrected vote, in the
    twelve settings.
    """
    seeds = range(3900, 3908)
    ours, theirs = [], []
    for group, name, cases in evidence.all_settings(seeds):
        rows = evidence.compare(cases, ["consensus", "corrected"])
        assert (rows["consensus"].ours - rows["consensus"].vote).mean() > -0.02, name
        if group == "noise":
            ours.append(rows["consensus"].ours.mean())
            theirs.append(rows["corrected"].ours.mean())
    assert np.mean(ours) > np.mean(theirs)
