"""Reliability: intraclass correlation, variance components, limits of agreement, AC1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from itk_consensus.assessment.agreement.chance import ChanceTerms, Ratings
from itk_consensus.assessment.agreement.next_reading import next_reading
from itk_consensus.assessment.reliability.intraclass import (
    intraclass_correlations,
    limits_of_agreement,
    raters_needed,
)
from itk_consensus.assessment.reliability.repeated_readings import (
    repeatability,
    variance_components,
)
from itk_consensus.assessment.resampling import mean_interval, paired_comparisons, ranking
from itk_consensus.core.errors import InputError
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

#: Table 2 of Shrout and Fleiss (1979): six cases, four judges.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)

#: Output of ICC() in R's package psych: estimate, lower and upper bound.
OF_PSYCH = {
    "ICC(1,1)": (0.17, -0.133, 0.723),
    "ICC(2,1)": (0.29, 0.019, 0.761),
    "ICC(3,1)": (0.71, 0.342, 0.946),
    "ICC(1,k)": (0.44, -0.884, 0.912),
    "ICC(2,k)": (0.62, 0.071, 0.927),
    "ICC(3,k)": (0.91, 0.676, 0.986),
}


def test_intraclass_correlations_of_shrout_and_fleiss_are_those_of_r():
    found = {one.form: one for one in intraclass_correlations(SHROUT_FLEISS)}
    assert found.keys() == OF_PSYCH.keys()
    for form, (value, low, high) in OF_PSYCH.items():
        assert found[form].value == pytest.approx(value, abs=0.005)
        assert found[form].low == pytest.approx(low, abs=0.0006)
        assert found[form].high == pytest.approx(high, abs=0.0006)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:The inplace keyword")
@pytest.mark.parametrize("seed", range(4))
def test_intraclass_correlations_are_those_of_pingouin(seed):
    pingouin = pytest.importorskip("pingouin")
    import pandas

    rng = np.random.default_rng(seed)
    cases, raters = rng.integers(4, 12), rng.integers(2, 6)
    table = (
        rng.normal(0, 2, (cases, 1)) + rng.normal(0, 1, raters) + rng.normal(size=(cases, raters))
    )
    frame = pandas.DataFrame(
        [{"case": i, "rater": j, "value": table[i, j]} for i in range(cases) for j in range(raters)]
    )
    theirs = pingouin.intraclass_corr(frame, targets="case", raters="rater", ratings="value")
    ours = intraclass_correlations(table)
    values = theirs["ICC"].to_numpy()
    bounds = np.array([list(one) for one in theirs.filter(like="CI95").iloc[:, 0]])
    assert [one.value for one in ours] == pytest.approx(values)
    # The paper prints two or three digits of the bounds.
    assert np.array([[one.low, one.high] for one in ours]) == pytest.approx(bounds, abs=0.006)


def test_a_table_with_gaps_or_one_rater_has_no_intraclass_correlation():
    with pytest.raises(InputError, match="1 are missing"):
        intraclass_correlations([[1.0, 2.0], [np.nan, 3.0]])
    with pytest.raises(InputError, match="at least two cases"):
        intraclass_correlations([[1.0], [2.0]])


def test_a_constant_table_has_no_reliability_and_no_crash():
    assert all(math.isnan(one.value) for one in intraclass_correlations(np.ones((4, 3))))


def test_raters_needed_follows_spearman_and_brown():
    # Two raters with reliability .5 reach 2 * .5 / 1.5 = .667; nine reach .9.
    assert raters_needed(0.5, 2 / 3) == 2
    assert raters_needed(0.5, 0.9) == 9
    assert raters_needed(0.9, 0.8) == 1
    assert raters_needed(-0.1, 0.8) == math.inf


def test_variance_components_of_a_balanced_design_are_those_worked_out_by_hand():
    # Mean squares in Shrout and Fleiss: cases 11.242, judges 32.486, error 1.019.
    found = variance_components(SHROUT_FLEISS)
    assert found.cases == pytest.approx((11.2417 - 1.0194) / 4, abs=1e-3)
    assert found.raters == pytest.approx((32.4861 - 1.0194) / 6, abs=1e-3)
    assert found.interaction == pytest.approx(1.0194, abs=1e-3)
    assert math.isnan(found.readings)


def test_repeatability_is_that_of_bland_and_altman():
    # Differences between two readings: 2, 0, -1; within variance = mean of d^2 / 2 = 5 / 6.
    values = np.array([[[10.0, 12.0]], [[11.0, 11.0]], [[13.0, 12.0]], [[9.0, np.nan]]])
    found = repeatability(values)
    assert found.pairs == 3
    assert found.deviation == pytest.approx(math.sqrt(5 / 6))
    assert found.coefficient == pytest.approx(1.96 * math.sqrt(2) * math.sqrt(5 / 6), rel=1e-3)
    assert found.variation == pytest.approx(math.sqrt(5 / 6) / 11.5)
    assert found.low < found.deviation < found.high
    assert repeatability(values[..., :1]) is None


def test_a_rater_who_read_little_costs_no_case():
    values = np.array([[1.0, 2, 1], [3, 3, np.nan], [5, 6, np.nan], [7, 7, np.nan]])
    found = variance_components(values)
    assert (found.number_of_cases, found.number_of_raters) == (4, 2)


def test_planted_variances_are_found():
    rng = np.random.default_rng(11)
    cases, raters, readings = 400, 8, 2
    values = (
        rng.normal(0, 5, (cases, 1, 1))
        + rng.normal(0, 2, (1, raters, 1))
        + rng.normal(0, 1.5, (cases, raters, 1))
        + rng.normal(0, 1, (cases, raters, readings))
    )
    found = variance_components(values)
    assert found.cases == pytest.approx(25, rel=0.2)
    assert found.interaction == pytest.approx(2.25, rel=0.1)
    assert found.readings == pytest.approx(1, rel=0.1)
    # With only eight raters, the variance between raters is estimated imprecisely.
    assert 0.5 < found.raters < 12


def test_limits_of_agreement_are_those_worked_out_by_hand():
    found = limits_of_agreement([10.0, 12, 14, np.nan], [9.0, 13, 11, 4])
    # Differences 1, -1, 3: their mean is 1, their standard deviation 2.
    assert (found.cases, found.bias) == (3, pytest.approx(1))
    assert (found.low, found.high) == (
        pytest.approx(1 - 3.92, abs=1e-3),
        pytest.approx(4.92, abs=1e-3),
    )
    assert found.bias_high - 1 == pytest.approx(4.303 * 2 / math.sqrt(3), rel=1e-3)


def terms(*raters):
    stack = LabelStack.multilabel([np.array(one, np.uint8) for one in raters])
    return ChanceTerms.of(Ratings.of(DecisionPatterns.from_stack(stack)))


def test_ac1_is_that_worked_out_by_hand():
    # 2 x 2 table 8, 1, 1, 0: agreement .8, share of the first category .9.
    one, other = [0] * 9 + [1], [0] * 8 + [1, 0]
    found = terms(one, other)
    assert found.ac1 == pytest.approx((0.8 - 2 * 0.9 * 0.1) / (1 - 2 * 0.9 * 0.1))
    assert found.kappa == pytest.approx((0.8 - 0.82) / (1 - 0.82))


def test_terms_of_several_cases_are_those_of_all_voxels_together():
    rng = np.random.default_rng(5)
    first, second = (rng.integers(0, 2, (3, 40)) for _ in range(2))
    together = terms(*np.concatenate([first, second], axis=1))
    added = ChanceTerms.of_numbers(terms(*first).numbers + terms(*second).numbers)
    for name in ("kappa", "alpha", "ac1"):
        assert getattr(added, name) == pytest.approx(getattr(together, name))


def test_intervals_of_a_mean_are_students_for_normal_numbers():
    values = np.random.default_rng(3).normal(0, 1, 12)
    found = mean_interval([*values, np.nan])
    from statsmodels.stats.weightstats import DescrStatsW

    low, high = DescrStatsW(values).tconfint_mean()
    assert found.value == pytest.approx(values.mean())
    assert (found.low, found.high) == (pytest.approx(low, abs=0.08), pytest.approx(high, abs=0.08))
    assert math.isnan(mean_interval([1.0]).low)


def test_sign_changes_of_few_cases_are_all_tried():
    found = paired_comparisons(["a", "b"], [[3.0, 5, 4, 6], [2.0, 4, 3, 5]])
    # All four differences have the same sign: two of sixteen sign assignments are as extreme.
    assert found[0].p == found[0].corrected_p == 2 / 16


def test_the_correction_is_that_of_the_largest_comparison():
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1, (4, 9))
    values[3] += 3
    found = {(one.first, one.second): one for one in paired_comparisons(list("abcd"), values)}
    assert all(one.corrected_p >= one.p for one in found.values())
    assert found["a", "d"].corrected_p < 0.05 < found["a", "b"].corrected_p


def test_ranks_tell_how_often_the_order_changes():
    clear = ranking(["bad", "good"], [[0.1, 0.2, 0.1], [0.8, 0.9, 0.7]], higher_is_better=True)
    assert [one.name for one in clear.ranks] == ["good", "bad"]
    assert clear.changed == 0
    assert clear.ranks[0].first == 1
    close = ranking(["a", "b"], [[0.5, 0.7, 0.6], [0.6, 0.5, 0.69]], higher_is_better=True)
    assert 0.1 < close.changed < 0.9
    assert close.places.sum(axis=1) == pytest.approx([1, 1])
    lower = ranking(["bad", "good"], [[3.0, 4], [1.0, 2]], higher_is_better=False)
    assert lower.ranks[0].name == "good"


@pytest.mark.slow
@pytest.mark.parametrize("cases", [8, 20, 40])
def test_intervals_cover_in_repeated_draws(cases):
    rng = np.random.default_rng(cases)
    hits = 0
    for _ in range(600):
        found = mean_interval(1 - rng.beta(2, 8, cases))
        hits += found.low <= 0.8 <= found.high
    assert 0.92 <= hits / 600 <= 0.98


def test_the_next_reading_is_what_leaving_one_out_moved_and_less():
    # One row of voxels and four raters: leaving out any rater resolves the tie, which changes the
    # vote by half a voxel.
    rows = np.array([[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 0], [1, 0, 0, 0, 0]], np.uint8)
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(rows)))
    found = next_reading(patterns, 1)

    def vote(some):
        return np.clip(2 * some.sum(axis=0, dtype=int) - len(some) + 1, 0, 2) / 2

    moved = [np.abs(vote(rows) - vote(np.delete(rows, j, axis=0))).sum() for j in range(4)]
    assert found.voxels == pytest.approx(math.sqrt(3 / 5) * np.mean(moved))
    assert next_reading(DecisionPatterns.from_stack(LabelStack.multilabel([rows[0]])), 1) is None
    same = DecisionPatterns.from_stack(LabelStack.multilabel([rows[0]] * 3))
    assert next_reading(same, 1).share == 0
