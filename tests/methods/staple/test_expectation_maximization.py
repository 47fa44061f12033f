from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from stacks import Drawn, drawn_stacks, encode

from itk_consensus.core.work import working
from itk_consensus.fusing.iteration import StopRule, largest_change
from itk_consensus.methods.staple.confusion_model import ConfusionModel, worse_than_chance
from itk_consensus.methods.staple.expectation_maximization import (
    StartPlan,
    damped,
    make_starts,
    maximize,
)
from itk_consensus.methods.staple.staple_result import best_start
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import vote_frequencies

ROUNDING = 1e-12

initializations = st.sampled_from(["mean", "majority_vote", "theta", "label_voting"])


def annotated(drawn: Drawn) -> DecisionPatterns | None:
    """Return patterns with at least one vote; None if there are none."""
    patterns = encode(drawn)
    return patterns if (patterns.present.any(axis=1) & (patterns.counts > 0)).any() else None


def model_and_starts(patterns: DecisionPatterns, plan: StartPlan, **changes):
    size = patterns.number_of_labels
    settings = {
        "weights": patterns.counts.astype(float),
        "pseudo_counts": np.zeros((size, size)),
        "estimate_prior": False,
        **changes,
    }
    model = ConfusionModel(patterns, **settings)
    frequencies = vote_frequencies(patterns, patterns.counts.astype(float))
    return model, make_starts(model, plan, frequencies, frequencies)


@st.composite
def models(draw: st.DrawFn):
    drawn = draw(drawn_stacks(raters=(2, 4), most_labels=3).filter(annotated))
    patterns = annotated(drawn)
    size = patterns.number_of_labels
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = patterns.counts.astype(float)
    if draw(st.booleans()) and not patterns.unanimous.all():
        weights = np.where(patterns.unanimous, 0.0, weights)
    pseudo = draw(st.sampled_from([0.0, 2.0])) * np.eye(size)
    if draw(st.booleans()):
        pseudo = pseudo + rng.choice([0.0, 0.5, 19.0], (size, size))
    plan = StartPlan(draw(initializations), draw(st.integers(1, 5)), draw(st.integers(0, 99)))
    model, starts = model_and_starts(
        patterns, plan, weights=weights, pseudo_counts=pseudo, estimate_prior=draw(st.booleans())
    )
    # If all votes are tied, ITK's initial estimate is empty, and such a start explains no voxel.
    assume((starts.expectation(model).responsibilities[weights > 0].sum(axis=2) > 0).all())
    return model, starts


def em_step(model, responsibilities, theta, prior, damping):
    """Run M-step, damping and E-step as in textbooks."""
    new, prior = model.m_step(responsibilities, prior)
    theta = damped(new, theta, damping)
    return theta, prior, model.e_step(theta, prior)


@given(models(), st.sampled_from([0.0, 0.3, 0.6, 0.9]))
def test_no_single_step_lowers_the_log_posterior(built: tuple, damping: float) -> None:
    model, starts = built
    responsibilities = starts.expectation(model).responsibilities
    theta, prior = starts.theta, starts.prior
    last = None
    for _ in range(15):
        theta, prior, expectation = em_step(model, responsibilities, theta, prior, damping)
        responsibilities = expectation.responsibilities
        now = model.log_posterior(expectation.log_likelihood, theta, prior)
        assert np.isfinite(now).all()
        if last is not None:
            assert (now >= last - ROUNDING * (model.weights.sum() + np.abs(last))).all()
        last = now


@given(models(), st.sampled_from([0.0, 0.5, 0.9]))
def test_the_trace_never_falls(built: tuple, damping: float) -> None:
    model, starts = built
    optima = maximize(model, starts, StopRule(1e-7, 60), damping=damping)
    for path in optima.trace.T:
        path = path[~np.isnan(path)]
        assert (np.diff(path) >= -ROUNDING * (model.weights.sum() + np.abs(path[1:]))).all()


@given(models())
def test_maximize_is_em_step_repeated(built: tuple) -> None:
    model, starts = built
    optima = maximize(model, starts, StopRule(-1.0, 4), damping=0.25)
    theta, prior = starts.theta, starts.prior
    responsibilities = starts.expectation(model).responsibilities
    for _ in range(4):
        theta, prior, expectation = em_step(model, responsibilities, theta, prior, 0.25)
        responsibilities = expectation.responsibilities
    # Compiled exponentials may differ from NumPy's in the last digit.
    np.testing.assert_allclose(optima.theta, theta, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(
        optima.truth.probabilities(), responsibilities, rtol=1e-9, atol=1e-15
    )
    np.testing.assert_allclose(optima.log_likelihood, expectation.log_likelihood, rtol=1e-11)
    if model.estimate_prior:
        np.testing.assert_allclose(optima.prior, prior, rtol=1e-9, atol=1e-15)


@given(models())
def test_starts_do_not_see_each_other(built: tuple) -> None:
    model, starts = built
    together = maximize(model, starts, StopRule(1e-5, 40))
    for start in range(starts.theta.shape[2]):
        only = slice(start, start + 1)
        alone = maximize(
            model,
            replace(
                starts,
                votes=starts.votes[starts.from_votes[:start].sum() :][
                    : int(starts.from_votes[start])
                ],
                prior=starts.prior[only],
                theta=starts.theta[:, :, only],
            ),
            StopRule(1e-5, 40),
        )
        assert alone.iterations[0] == together.iterations[start]
        assert alone.converged[0] == together.converged[start]
        np.testing.assert_allclose(
            alone.truth.probabilities()[:, 0], together.truth.probabilities()[:, start], atol=1e-9
        )
        np.testing.assert_allclose(
            alone.log_posterior[0], together.log_posterior[start], rtol=1e-12
        )


@given(models())
def test_posteriors_are_probabilities(built: tuple) -> None:
    model, starts = built
    optima = maximize(model, starts, StopRule(1e-7, 30))
    assert ((optima.truth.probabilities() >= 0) & (optima.truth.probabilities() <= 1)).all()
    counted = model.weights > 0
    np.testing.assert_allclose(optima.truth.probabilities()[counted].sum(axis=2), 1, rtol=1e-14)
    columns = optima.theta.sum(axis=1)
    np.testing.assert_allclose(columns[~np.isnan(columns)], 1, rtol=1e-14)


@given(models(), st.integers(2, 50))
def test_equal_voxels_more_often_change_nothing_without_priors(built: tuple, times: int) -> None:
    """The estimate depends only on the shares of voxels, so it does not change if the volume is
    repeated.
    """
    model, starts = built
    plain = replace(model, pseudo_counts=np.zeros_like(model.pseudo_counts))
    repeated = replace(plain, weights=times * plain.weights)
    once = maximize(plain, starts, StopRule(-1.0, 5))
    often = maximize(repeated, starts, StopRule(-1.0, 5))
    np.testing.assert_allclose(once.theta, often.theta, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        times * once.log_likelihood,
        often.log_likelihood,
        rtol=1e-9,
        atol=ROUNDING * repeated.weights.sum(),
    )


@pytest.fixture
def patterns(masks: list[np.ndarray]) -> DecisionPatterns:
    return encode(Drawn(list(masks)), foreground=1)


@pytest.mark.parametrize("cap", [1, 2, 5])
def test_the_cap_is_the_iteration_count_it_reports(patterns: DecisionPatterns, cap: int) -> None:
    model, starts = model_and_starts(patterns, StartPlan("mean", 2))
    optima = maximize(model, starts, StopRule(0.0, cap))
    assert optima.iterations.tolist() == [cap, cap]
    assert not optima.converged.any()
    assert optima.trace.shape == (cap, 2)


def test_the_count_is_the_index_of_the_step_that_met_the_stop_rule(
    patterns: DecisionPatterns,
) -> None:
    model, starts = model_and_starts(patterns, StartPlan("mean", 4))
    optima = maximize(model, starts, StopRule(1e-7, 10_000))
    assert optima.converged.all()
    steps = np.sum(~np.isnan(optima.trace), axis=0)
    np.testing.assert_array_equal(optima.iterations, steps - 1)
    assert len(optima.trace) == optima.iterations.max() + 1


def test_a_start_made_from_votes_never_stops_at_its_first_step() -> None:
    agreed = np.array([0, 1, 1, 0], np.uint8)
    patterns = encode(Drawn([agreed, agreed]), foreground=1)
    model, starts = model_and_starts(patterns, StartPlan("mean"))
    assert maximize(model, starts, StopRule(1e-7, 100)).iterations.tolist() == [1]


def test_the_observer_is_told_every_iteration_and_may_stop(patterns: DecisionPatterns) -> None:
    model, starts = model_and_starts(patterns, StartPlan("mean", 3))
    told: list[int] = []

    def observer(number: int) -> bool:
        told.append(number)
        return number < 3

    with working(on_iteration=observer):
        optima = maximize(model, starts, StopRule(0.0, 100))
    assert told == [1, 2, 3]
    assert optima.iterations.tolist() == [3, 3, 3]
    assert not optima.converged.any()
    capped = maximize(model, starts, StopRule(0.0, 3))
    np.testing.assert_array_equal(optima.theta, capped.theta)


def test_inputs_of_maximize_are_left_as_they_were(patterns: DecisionPatterns) -> None:
    model, starts = model_and_starts(patterns, StartPlan("theta", 3), estimate_prior=True)
    before = [starts.theta.copy(), starts.prior.copy(), starts.frequencies.copy()]
    maximize(model, starts, StopRule(1e-7, 100))
    after = [starts.theta, starts.prior, starts.frequencies]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_damping_of_the_first_step_needs_an_old_theta(patterns: DecisionPatterns) -> None:
    model, starts = model_and_starts(patterns, StartPlan("mean"))
    damped = maximize(model, starts, StopRule(0.0, 1), damping=0.9)
    plain = maximize(model, starts, StopRule(0.0, 1))
    np.testing.assert_allclose(damped.theta, plain.theta, rtol=1e-14)
    model, starts = model_and_starts(patterns, StartPlan("theta"))
    damped = maximize(model, starts, StopRule(0.0, 1), damping=0.9)
    plain = maximize(model, starts, StopRule(0.0, 1))
    np.testing.assert_allclose(damped.theta, 0.1 * plain.theta + 0.9 * starts.theta, rtol=1e-14)


@pytest.mark.parametrize("damping", [0.3, 0.9])
def test_damping_changes_the_path_not_the_destination(
    patterns: DecisionPatterns, damping: float
) -> None:
    model, starts = model_and_starts(patterns, StartPlan("mean"))
    plain = maximize(model, starts, StopRule(1e-12, 10_000))
    damped = maximize(model, starts, StopRule(1e-12, 10_000), damping=damping)
    np.testing.assert_allclose(damped.theta, plain.theta, atol=1e-9)


def test_largest_change_ignores_what_is_undefined_before_and_after() -> None:
    old = np.full((1, 2, 3, 2), np.nan)
    new = np.full((1, 2, 3, 2), 0.5)
    old[:, :, 1, 0] = 0.25
    old[:, :, 2] = 0.5
    np.testing.assert_array_equal(largest_change(new, old), [np.inf, 0.25, 0.0])


@given(st.data())
def test_random_starts_are_the_same_however_many_follow(data: st.DataObject) -> None:
    drawn = data.draw(drawn_stacks(raters=(2, 3)).filter(annotated))
    patterns, seed = annotated(drawn), data.draw(st.integers(0, 1000))
    _, few = model_and_starts(patterns, StartPlan("mean", 4, seed))
    _, many = model_and_starts(patterns, StartPlan("mean", 9, seed))
    np.testing.assert_array_equal(few.theta, many.theta[:, :, :4])
    _, other = model_and_starts(patterns, StartPlan("mean", 4, seed + 1))
    assert not np.array_equal(few.theta[:, :, 2:], other.theta[:, :, 2:])


def test_random_starts_stay_in_their_range(patterns: DecisionPatterns) -> None:
    _, starts = model_and_starts(patterns, StartPlan("mean", 200, 3, 0.6, 0.7))
    diagonal = np.einsum("jksk->jks", starts.theta)[:, :, 2:]
    assert 0.6 <= diagonal.min() < 0.61
    assert 0.69 < diagonal.max() <= 0.7
    np.testing.assert_allclose(starts.theta[:, :, 2:].sum(axis=1), 1)


def test_the_best_start_is_the_likeliest_that_is_not_switched(patterns: DecisionPatterns) -> None:
    model, starts = model_and_starts(patterns, StartPlan("mean", 3))
    optima = maximize(model, starts, StopRule(1e-7, 1000))
    theta = optima.theta.copy()
    theta[:, :, 1] = theta[:, ::-1, 1]
    crafted = replace(optima, theta=theta, log_posterior=np.array([-20.0, -5.0, -10.0]))
    assert worse_than_chance(crafted.theta).tolist() == [False, True, False]
    assert best_start(crafted) == 2
    near = replace(optima, log_posterior=np.array([-10.0 - 1e-9, np.nan, -10.0]))
    assert best_start(near) == 0
    theta[:, :, :] = optima.theta[:, ::-1]
    assert best_start(replace(crafted, theta=theta)) == 1


@given(models())
def test_raters_who_gave_nothing_do_not_hide_a_label_switch(built: tuple) -> None:
    model, starts = built
    optima = maximize(model, starts, StopRule(1e-5, 20))
    nobody = np.full((5, *optima.theta.shape[1:]), np.nan)
    with_nobody = replace(optima, theta=np.concatenate([optima.theta, nobody]))
    np.testing.assert_array_equal(
        worse_than_chance(with_nobody.theta), worse_than_chance(optima.theta)
    )
