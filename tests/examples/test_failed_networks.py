from __future__ import annotations

import pytest

import itk_consensus as ic
from examples.benchmarks.findings.failed_networks import FAILURES, measured


@pytest.mark.parametrize("failure", [name for name in FAILURES if name != "none"])
def test_a_failed_network_is_named_and_the_mean_without_it_is_offered(failure):
    before, after, named = measured(ic.ProbabilityAverageFilter, [1000, 1001], 4, failure)
    assert named == 1
    assert after > before - 0.01
    if failure in ("inverted", "empty", "moved"):
        assert after > before + 0.005


def test_networks_that_agree_are_all_counted():
    before, after, named = measured(ic.LogOpinionPoolFilter, [1000, 1001], 4, "none")
    assert after == before
    assert named == 0
