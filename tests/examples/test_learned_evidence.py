"""The evaluation of learned fusion: its rules on simulated cohorts, and stored results."""

from __future__ import annotations

import json

import numpy as np
import pytest
from learned_cohort import ALIKE, HABITS, cohort

from examples.benchmarks.learned import learned_evidence
from examples.benchmarks.learned.cohorts import TrueCase, shuffled
from examples.benchmarks.learned.learned_evidence import RULES, drawn, gains, tables_of

KEPT = json.loads(learned_evidence.RESULTS.read_text(encoding="utf-8"))


def cases(habits: tuple[tuple[float, float], ...], number: int) -> list[TrueCase]:
    of = cohort(number, habits)
    pairs = enumerate(zip(of.cases, of.truths, strict=True))
    return [TrueCase(str(n), raters, truth, (1.0, 1.0)) for n, (raters, truth) in pairs]


def test_every_rule_is_tried_on_cases_that_it_did_not_see() -> None:
    tables = [tables_of(case) for case in cases(HABITS, 14)]
    found = gains(tables[:10], tables[10:], list(RULES))
    assert {len(values) for values in found.values()} == {4}
    # One rater is right and two draw too large, which every rule can learn.
    assert min(values.mean() for values in found.values()) > 0.02
    turned = gains(tables[10:][::-1], tables[:2], ["single"])["single"]
    np.testing.assert_allclose(turned, gains(tables[10:], tables[:2], ["single"])["single"])


def test_of_raters_who_are_alike_nothing_is_adopted_and_single_ones_lose() -> None:
    tables = [tables_of(case) for case in cases(ALIKE, 12)]
    rows = drawn([tables], 8, 6)
    assert rows["learned"]["mean"] == 0.0
    assert rows["single"]["mean"] < -0.02
    assert rows["single"]["draws"] == 6


def test_shuffled_raters_are_the_same_ones_in_another_order() -> None:
    before = cases(HABITS, 3)
    after = list(shuffled(lambda: iter(before)))
    for one, other in zip(before, after, strict=True):
        assert {r.tobytes() for r in one.raters} == {r.tobytes() for r in other.raters}
    assert any((a.raters[0] != b.raters[0]).any() for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("name", KEPT["report"])
def test_no_cohort_that_was_reported_is_harmed_on_average_or_often(name: str) -> None:
    for size, rules in KEPT["report"][name]["draws"].items():
        ours = rules["learned"]
        assert ours["mean"] >= -0.0005, size
        assert ours["harmed"] <= 0.05, size


def test_four_networks_gain_on_the_reported_prostates_from_ten_by_two_standard_errors() -> None:
    ten, twenty = [row for row in KEPT["networks"]["rows"] if row["networks"] == "all four"]
    assert (ten["learned_from"], twenty["learned_from"]) == (10, 20)
    assert ten["gain"]["learned"] > 2 * ten["error"]["learned"]
    # With twenty training cases the rule follows a single network, whose gain varies more between
    # cases.
    assert twenty["gain"]["learned"] > ten["gain"]["learned"]
