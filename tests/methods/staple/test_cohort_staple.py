from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stacks import drawn_stacks, encode

from examples.simulation import disc_phantom, heterogeneous_raters
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.cohort_staple import cohort_staple
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple import VARIANTS, StapleSettings, staple
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

QUALITIES = [(0.95, 0.98), (0.8, 0.95), (0.7, 0.92), (0.85, 0.99), (0.6, 0.97)]


def encoded(raters) -> DecisionPatterns:
    return DecisionPatterns.from_stack(
        LabelStack.binary([None if r is None else r.astype(np.uint8) for r in raters], 1.0)
    )


def small_cases(number: int, seed: int) -> list[np.ndarray]:
    """Return raters with QUALITIES, of discs with radii of 5 to 10."""
    rng = np.random.default_rng(seed)
    truths = [disc_phantom(radius, shape=(40, 40)).truth for radius in rng.uniform(5, 10, number)]
    return [heterogeneous_raters(t, int(rng.integers(2**31)), QUALITIES) for t in truths]


def performance(result) -> np.ndarray:
    return np.stack([result.sensitivity, result.specificity], axis=1)


@given(drawn_stacks(raters=(2, 5)), st.sampled_from(list(VARIANTS)), st.sampled_from([1, 4]))
def test_a_cohort_of_one_is_staple(drawn, variant, starts):
    patterns = encode(drawn, foreground=drawn.labels()[-1])
    assume(patterns.number_of_voxels > 0)
    settings = StapleSettings().for_variant(variant, stop=StopRule(1e-7, 60))
    settings = replace(settings, plan=replace(settings.plan, number=starts))
    alone = staple(patterns, settings)
    assume(alone.prior[1] not in (0.0, 1.0))
    cohort = cohort_staple([patterns], settings)
    np.testing.assert_allclose(cohort.posteriors[0], alone.foreground, atol=1e-12)
    np.testing.assert_allclose(performance(cohort.shared), performance(alone), atol=1e-12)
    np.testing.assert_allclose(cohort.priors, [alone.prior[1]], atol=1e-12)
    assert cohort.shared.iterations == alone.iterations


def test_with_one_prior_for_all_a_cohort_is_staple_on_the_merged_table():
    cases = [encoded(case) for case in small_cases(4, 0)]
    settings = StapleSettings(prior=0.1, stop=StopRule(0.0, 25))
    cohort = cohort_staple(cases, settings)
    merged = staple(cases[0].merge(*cases[1:]), settings)
    np.testing.assert_allclose(performance(cohort.shared), performance(merged), atol=1e-10)
    assert cohort.shared.log_likelihood == pytest.approx(merged.log_likelihood, rel=1e-10)


@pytest.mark.parametrize("variant", list(VARIANTS))
def test_the_order_of_cases_does_not_matter(variant):
    cases = [encoded(case) for case in small_cases(5, 1)]
    settings = StapleSettings().for_variant(variant, stop=StopRule(1e-9, 30))
    forward, backward = cohort_staple(cases, settings), cohort_staple(cases[::-1], settings)
    np.testing.assert_allclose(backward.priors[::-1], forward.priors, atol=1e-9)
    for one, other in zip(forward.posteriors, backward.posteriors[::-1], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_the_log_posterior_never_falls(damping):
    cases = [encoded(case) for case in small_cases(6, 2)]
    settings = StapleSettings().for_variant("advanced", damping=damping, stop=StopRule(1e-9, 60))
    settings = replace(settings, plan=StartPlan("majority_vote", 5))
    steps = np.diff(cohort_staple(cases, settings).shared.starts.trace, axis=0)
    assert (steps[~np.isnan(steps)] >= -1e-6).all()


def test_every_case_has_its_own_prior():
    truths = [disc_phantom(radius, shape=(40, 40)).truth for radius in (4, 8, 14)]
    cases = [encoded(heterogeneous_raters(t, 3, QUALITIES)) for t in truths]
    priors = cohort_staple(cases, StapleSettings().for_variant("advanced")).priors
    np.testing.assert_allclose(priors, [truth.mean() for truth in truths], atol=0.01)


def test_a_case_without_foreground_stays_empty_and_spoils_nothing():
    cases = [encoded(case) for case in small_cases(3, 4)]
    empty = encoded(np.zeros((5, 12, 12), bool))
    result = cohort_staple([*cases, empty], StapleSettings().for_variant("advanced"))
    assert result.priors[-1] == 0
    assert not result.posteriors[-1].any()
    assert np.isfinite(performance(result.shared)).all()


def test_cohorts_of_nothing_but_background_are_background():
    empty = encoded(np.zeros((3, 6, 6), bool))
    result = cohort_staple([empty, empty])
    assert np.isnan(result.shared.sensitivity).all()
    np.testing.assert_array_equal(result.shared.specificity, 1)
    assert not result.priors.any()


def test_raters_may_be_absent_from_some_cases():
    cases = small_cases(12, 5)
    gappy = [
        [None if (k + n) % 4 == 0 else rater for k, rater in enumerate(case)]
        for n, case in enumerate(cases)
    ]
    result = cohort_staple(
        [encoded(case) for case in gappy], StapleSettings().for_variant("advanced")
    )
    np.testing.assert_allclose(performance(result.shared), QUALITIES, atol=0.04)


@pytest.mark.parametrize("variant", ["basic", "advanced"])
@pytest.mark.parametrize("seed", range(3))
def test_a_cohort_knows_its_raters_better_than_any_case(variant, seed):
    cases = [encoded(case) for case in small_cases(20, 10 + seed)]
    settings = StapleSettings().for_variant(variant)
    shared = np.abs(performance(cohort_staple(cases, settings).shared) - QUALITIES)
    alone = np.array([np.abs(performance(staple(c, settings)) - QUALITIES) for c in cases])
    errors = alone.mean(axis=(0, 1))
    assert (shared.mean(axis=0) < errors / 1.5).all()
    assert shared.mean() < alone.mean(axis=(1, 2)).min()


def test_cases_with_other_numbers_of_raters_are_refused():
    cases = [encoded(case) for case in small_cases(2, 0)]
    odd = encoded(small_cases(1, 0)[0][:3])
    with pytest.raises(InputError, match="case 0 has 5, case 2 has 3"):
        cohort_staple([*cases, odd])


def test_no_case_at_all_is_refused():
    with pytest.raises(InputError, match="needs at least one case, got none"):
        cohort_staple([])


def test_priors_are_one_or_one_per_case():
    cases = [encoded(case) for case in small_cases(3, 0)]
    given_each = cohort_staple(cases, StapleSettings(prior=np.array([0.1, 0.2, 0.3])))
    np.testing.assert_array_equal(given_each.priors, [0.1, 0.2, 0.3])
    with pytest.raises(ParameterError, match="one for each of the 3 cases, got 2"):
        cohort_staple(cases, StapleSettings(prior=np.array([0.1, 0.2])))


def test_a_confidence_weight_that_makes_a_prior_impossible_is_refused():
    cases = [encoded(case) for case in small_cases(2, 0)]
    with pytest.raises(ParameterError, match="ConfidenceWeight must keep every case's prior"):
        cohort_staple(cases, StapleSettings(confidence_weight=50.0))
