from __future__ import annotations

import numpy as np
import pytest
from exhaustive import TinyStack

from itk_consensus.core.work import working
from itk_consensus.methods.direct_inference.gibbs_sampling import SamplingPlan, sample
from itk_consensus.methods.direct_inference.label_evidence import LabelEvidence
from itk_consensus.methods.direct_inference.most_probable_map import (
    DirectInferenceResult,
    DirectInferenceSettings,
    direct_inference,
)
from itk_consensus.methods.staple.expectation_maximization import StartPlan

#: Tolerance in standard errors. It is exceeded by chance once in two million cases for a normal
#: mean, and once in fifty thousand for Student's t with 32 batches. The draws are fixed.
STANDARD_ERRORS = 5

BINARY = TinyStack(
    np.array([[0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 1, 0, 1, 1, 0, 1], [0, 0, 0, 1, 1, 0, 1, 1]]),
    np.array([[4.0, 2.0], [2.0, 4.0]]),
)
INCOMPLETE = TinyStack(
    np.array([[0, 0, 0, -1, 1, 1, 1], [0, 0, -1, -1, 1, -1, 0], [0, 1, 0, -1, 1, 0, -1]]),
    np.array([[2.0, 0.0], [0.0, 2.0]]),
)
THREE_LABELS = TinyStack(
    np.array([[0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 2, 0], [0, 2, 0, 1, 2, 2, 2]]),
    np.where(np.eye(3, dtype=bool), 4.0, 1.0),
)
STACKS = pytest.mark.parametrize("tiny", [BINARY, INCOMPLETE, THREE_LABELS])


def sampled(
    tiny: TinyStack, number: int, burn_in: int = 50, seed: int = 1
) -> DirectInferenceResult:
    counts = float(tiny.alpha[0, 0]), float(tiny.alpha[1:, 0].sum())
    plan = SamplingPlan(number, burn_in, seed)
    return direct_inference(
        tiny.encode(), DirectInferenceSettings(counts, StartPlan(number=1), plan)
    )


def batch_error(draws: np.ndarray, batches: int = 32) -> np.ndarray:
    """Return the standard error of the mean of correlated draws, from the means of long batches."""
    means = np.array([batch.mean(axis=0) for batch in np.array_split(draws, batches)])
    return means.std(axis=0, ddof=1) / np.sqrt(batches)


@STACKS
def test_marginals_are_those_of_all_maps(tiny: TinyStack):
    patterns = tiny.encode()
    result = sampled(tiny, 6000)
    maps, weights = tiny.posterior()
    for label in range(tiny.labels):
        exact = weights @ (maps == label)
        found = patterns.expand(np.ascontiguousarray(result.shares[:, label]))
        error = patterns.expand(np.ascontiguousarray(result.samples.marginal_errors[:, label]))
        assert (np.abs(found - exact) < STANDARD_ERRORS * error).all()
        # The error is small enough for a meaningful comparison.
        assert error.max() < 0.02


@STACKS
def test_performance_is_that_of_all_maps(tiny: TinyStack):
    result = sampled(tiny, 6000)
    maps, weights = tiny.posterior()
    _, dirichlet = tiny.dirichlet(maps)
    right, total = np.einsum("jkmk->jmk", dirichlet), dirichlet.sum(axis=1)
    draws = result.samples.performance
    moments = {1: right / total, 2: right * (right + 1) / (total * (total + 1))}
    for power, given_map in moments.items():
        exact = np.einsum("m,jmk->jk", weights, given_map)
        found, error = (draws**power).mean(axis=0), batch_error(draws**power)
        assert (np.abs(found - exact) < STANDARD_ERRORS * error).all()
    np.testing.assert_allclose(result.performance.mean, draws.mean(axis=0))
    np.testing.assert_allclose(np.einsum("jkk->jk", result.theta), draws.mean(axis=0))


@STACKS
def test_the_label_prior_is_that_of_all_maps(tiny: TinyStack):
    result = sampled(tiny, 6000)
    maps, weights = tiny.posterior()
    prior, _ = tiny.dirichlet(maps)
    exact = weights @ (prior / prior.sum(axis=1, keepdims=True))
    # The error of the label prior is at most the mean error of the marginals plus the prior's own
    # sampling error.
    own = np.sqrt(exact * (1 - exact) / (tiny.voxels + tiny.labels + 1) / 6000)
    allowed = STANDARD_ERRORS * (own + result.samples.marginal_errors.max(axis=0))
    assert (np.abs(result.prior - exact) < allowed).all()


def test_quantiles_hold_the_share_of_draws_they_name():
    result = sampled(BINARY, 2000)
    draws = result.samples.performance
    for column, share in enumerate((0.025, 0.5, 0.975)):
        below = (draws <= result.performance.quantiles[..., column]).mean(axis=0)
        np.testing.assert_allclose(below, share, atol=1 / 1000)


def test_samples_depend_on_the_seed_alone():
    one, same, other = (sampled(BINARY, 20, seed=seed).samples for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.performance, same.performance)
    np.testing.assert_array_equal(one.marginals, same.marginals)
    assert not np.array_equal(one.performance, other.performance)


def test_burn_in_drops_the_first_samples_of_the_same_chain():
    whole, rest = sampled(BINARY, 30, burn_in=0), sampled(BINARY, 20, burn_in=10)
    np.testing.assert_array_equal(whole.samples.performance[10:], rest.samples.performance)


def test_sampling_leaves_the_most_probable_map_alone():
    one, other = sampled(THREE_LABELS, 0), sampled(THREE_LABELS, 10)
    assert one.samples is None
    assert other.log_evidence == one.log_evidence
    np.testing.assert_array_equal(other.decision, one.decision)


def test_a_chain_stopped_early_keeps_what_it_has():
    model = LabelEvidence(BINARY.encode(), BINARY.alpha)
    start = np.eye(2)[model.patterns.patterns[:, 0]] * model.patterns.counts[:, None]
    plan = SamplingPlan(1000, burn_in=2)
    with working(on_iteration=lambda number: number < 5):
        assert len(sample(model, start, plan).performance) == 3
    with working(on_iteration=lambda _: False):
        assert sample(model, start, plan) is None


def test_a_single_sample_has_no_error_estimate():
    assert np.isnan(sampled(BINARY, 1).samples.marginal_errors).all()
