from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus.methods.pooling.opinion_pool import PoolSettings, pool_probabilities, pool_votes
from itk_consensus.votes import fusions
from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def encode(raters, **common) -> DecisionPatterns:
    return DecisionPatterns.from_stack(
        LabelStack.multilabel([np.asarray(rater, np.uint8) for rater in raters], **common)
    )


def pooled(raters, settings, **common):
    """Return the (K, *shape) probabilities of the pooled labels."""
    patterns = encode(raters, **common)
    result = pool_votes(patterns, settings)
    return np.stack([patterns.expand(np.ascontiguousarray(p)) for p in result.probabilities.T])


def foreground(opinions, masks, settings):
    """Return the foreground probability of pooled foreground probabilities."""
    return pool_probabilities(SoftVotes([[p] for p in opinions], masks), settings).probability(1)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 5),
    st.integers(2, 4),
    st.floats(0.001, 0.49),
)
def test_labels_pool_as_the_product_of_powers(seed, number, labels, error):
    rng = np.random.default_rng(seed)
    raters = rng.integers(0, labels, (number, 40))
    raters[0, :labels] = np.arange(labels)
    exponents, prior = rng.uniform(0, 2, number), rng.dirichlet(np.ones(labels)) + 0.01
    prior /= prior.sum()
    opinions = np.where(raters == np.arange(labels)[:, None, None], 1 - error, error / (labels - 1))
    expected = prior[:, None] * np.prod(opinions ** exponents[:, None], axis=1)
    found = pooled(raters, PoolSettings(exponents, prior, error))
    np.testing.assert_allclose(found, expected / expected.sum(axis=0), rtol=1e-9, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_probabilities_pool_as_the_product_of_powers(seed, number):
    rng = np.random.default_rng(seed)
    opinions = rng.uniform(0.1, 0.9, (number, 30))
    exponents, share = rng.uniform(0, 2, number), rng.uniform(0.1, 0.9)
    settings = PoolSettings(exponents, np.array([1 - share, share]), 0.05)
    yes = share * np.prod(opinions ** exponents[:, None], axis=0)
    no = (1 - share) * np.prod((1 - opinions) ** exponents[:, None], axis=0)
    found = foreground(list(opinions), [None] * number, settings)
    np.testing.assert_allclose(found, yes / (yes + no), rtol=1e-9)


def test_masks_are_probabilities_of_0_and_1():
    rng = np.random.default_rng(0)
    raters = rng.integers(0, 2, (4, 50))
    settings = PoolSettings(rng.uniform(0.2, 1, 4), np.array([0.7, 0.3]), 0.1)
    as_labels = pooled(raters, settings)[1]
    found = foreground(list(raters.astype(float)), [None] * 4, settings)
    np.testing.assert_allclose(found, as_labels, rtol=1e-12)


def test_a_rater_asked_twice_changes_nothing_if_weights_sum_to_one():
    rng = np.random.default_rng(1)
    opinion = rng.uniform(0.1, 0.9, 20)
    even = np.array([0.5, 0.5])
    once = foreground([opinion], [None], PoolSettings(np.ones(1), even))
    twice = foreground([opinion] * 2, [None] * 2, PoolSettings(even, even))
    np.testing.assert_allclose(once, twice, atol=1e-12)
    np.testing.assert_allclose(once, opinion, atol=1e-12)


def test_no_single_opinion_overrules_the_others():
    certain = [np.zeros(1), np.ones(1), np.ones(1)]
    settings = PoolSettings(np.full(3, 1 / 3), np.array([0.5, 0.5]), 1e-6)
    assert foreground(certain, [None] * 3, settings) > 0.5


@pytest.mark.parametrize("missing", ["label", "mask", "weight"])
def test_a_silent_rater_is_no_rater(missing):
    rng = np.random.default_rng(2)
    raters = rng.integers(0, 2, (3, 30))
    even = np.array([0.5, 0.5])
    exponents = np.array([1.0, 1.0, 0.0 if missing == "weight" else 1.0])
    expected = pooled(raters[:2], PoolSettings(np.ones(2), even))
    if missing == "label":
        raters[2] = 9
        found = pooled(raters, PoolSettings(exponents, even), missing_label=9)
    elif missing == "mask":
        masks = [None, None, np.zeros(30)]
        found = pooled(raters, PoolSettings(exponents, even), rater_masks=masks)
    else:
        found = pooled(raters, PoolSettings(exponents, even))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_where_nobody_spoke_the_prior_stands():
    prior = np.array([0.2, 0.8])
    settings = PoolSettings(np.ones(2), prior)
    raters = np.array([[0, 1, 9], [0, 1, 9]])
    np.testing.assert_allclose(pooled(raters, settings, missing_label=9)[:, 2], prior)
    masks = [np.array([1, 1, 0])] * 2
    found = foreground([np.array([0.3, 0.6, 0.1])] * 2, masks, settings)
    np.testing.assert_allclose(found[2], 0.8)


def test_one_labels_probabilities_need_no_table_of_all(monkeypatch):
    monkeypatch.setattr(fusions, "SHARES_AT_ONCE", 1 << 10)
    labels = 40
    patterns = encode(np.random.default_rng(3).integers(0, labels, (6, 4000)))
    settings = PoolSettings(np.full(6, 1 / 6), np.full(labels, 1 / labels))
    pooled = pool_votes(patterns, settings)
    wanted = pooled.probabilities[:, 7]
    tracemalloc.start()
    found = pooled.of_label(7)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert peak < labels * found.nbytes / 4
