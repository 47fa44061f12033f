from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus import COLLATEFilter, MultiLabelSTAPLEImageFilter, ParameterError
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.collate import CollateSettings, collate
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple import MULTILABEL, staple
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

UNTIL_STILL = StopRule(1e-12, 5000)


def patterns_of(arrays):
    return DecisionPatterns.from_stack(LabelStack.multilabel(list(arrays)))


def noisy_raters(seed, labels=3, raters=4, size=400, error=0.25):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, size)
    wrong = rng.random((raters, size)) < error
    return np.where(wrong, rng.integers(0, labels, (raters, size)), truth).astype(np.uint8)


def test_ease_zero_alone_is_staple():
    patterns = patterns_of(noisy_raters(0))
    prior = np.array([0.2, 0.3, 0.5])
    pseudo = np.eye(3) * 2
    plain = staple(
        patterns,
        replace(
            MULTILABEL,
            prior=prior,
            pseudo_counts=pseudo,
            stop=UNTIL_STILL,
            plan=StartPlan("majority_vote"),
        ),
    )
    ours = collate(patterns, CollateSettings((0.0,), prior=prior, stop=UNTIL_STILL))
    np.testing.assert_allclose(ours.theta, plain.theta, atol=1e-8)
    np.testing.assert_allclose(ours.truth.rows(slice(None)), plain.posterior, atol=1e-8)


def test_ease_one_alone_is_the_vote():
    patterns = patterns_of(noisy_raters(1))
    even = np.full(3, 1 / 3)
    ours = collate(patterns, CollateSettings((1.0,), prior=even))
    np.testing.assert_array_equal(ours.decision, majority_vote(patterns).decision)


@pytest.mark.parametrize("ease", [(0.0, 1.0), (0.0, 0.5, 1.0), (0.3,)])
def test_posteriors_are_bayes_rule_over_levels_and_truths(ease):
    patterns = patterns_of(noisy_raters(2, labels=2, raters=3))
    settings = CollateSettings(ease, stop=UNTIL_STILL)
    found = collate(patterns, settings)
    easy = np.where(np.eye(2), 1 - settings.error_rate, settings.error_rate)
    for row, votes in enumerate(patterns.patterns):
        joint = {}
        for level, truth in itertools.product(range(len(ease)), range(2)):
            p = found.shares[level, truth]
            for rater, said in enumerate(votes):
                hard = found.theta[rater, said, truth]
                p *= ease[level] * easy[said, truth] + (1 - ease[level]) * hard
            joint[level, truth] = p
        total = sum(joint.values())
        for truth in range(2):
            expected = sum(joint[level, truth] for level in range(len(ease))) / total
            assert found.truth.rows(slice(None))[row, truth] == pytest.approx(expected, abs=1e-9)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.lists(st.floats(0, 1), min_size=1, max_size=3),
    st.floats(0, 5),
)
def test_every_iteration_raises_the_log_posterior(seed, labels, ease, diagonal):
    patterns = patterns_of(noisy_raters(seed, labels, size=60))
    settings = CollateSettings(tuple(ease), pseudo_counts=(diagonal, 0.5), stop=StopRule(0, 30))
    trace = collate(patterns, settings).trace
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()


def hard_and_easy(easy_voxels, seed=0):
    """Return raters with known confusions on 4000 hard voxels, and without errors on easy ones."""
    rng = np.random.default_rng(seed)
    accuracy = np.array([0.95, 0.8, 0.75, 0.7, 0.65])
    hard = rng.integers(0, 2, 4000)
    wrong = rng.random((5, 4000)) > accuracy[:, None]
    drawn = np.where(wrong, 1 - hard, hard)
    return np.concatenate([drawn, np.zeros((5, easy_voxels), int)], 1).astype(np.uint8), accuracy


@pytest.mark.parametrize("easy_voxels", [2_000, 20_000, 200_000])
def test_confusion_is_that_of_hard_voxels_however_many_are_easy(easy_voxels):
    drawn, accuracy = hard_and_easy(easy_voxels)
    filter_ = COLLATEFilter()
    filter_.Execute(list(drawn))
    found = np.diagonal(filter_.GetConfusionTables(), axis1=1, axis2=2)
    np.testing.assert_allclose(found, np.stack([accuracy] * 2, 1), atol=0.05)
    assert filter_.GetLevelShares()[1] == pytest.approx(
        easy_voxels / (easy_voxels + 4000), abs=0.02
    )
    plain = MultiLabelSTAPLEImageFilter(Variant="advanced")
    plain.Execute(list(drawn))
    specificity = plain.GetConfusionTables()[:, 0, 0]
    assert (specificity > found[:, 0]).all()


def test_the_levels_of_a_voxel_sum_to_one_and_disputed_voxels_are_hard():
    drawn, _ = hard_and_easy(20_000)
    filter_ = COLLATEFilter()
    filter_.Execute(list(drawn))
    hard, easy = filter_.GetLevelImage(0), filter_.GetLevelImage(1)
    np.testing.assert_allclose(hard + easy, 1, atol=1e-12)
    assert easy[4000:].min() > 0.9
    disputed = (drawn != drawn[0]).any(0)
    assert hard[disputed].min() > 0.9
    for level in (-1, 2, 0.5, "a", None, True):
        with pytest.raises(ParameterError, match="level must be 0 to 1"):
            filter_.GetLevelImage(level)


def test_a_larger_error_rate_lets_confusion_explain_the_easy_background():
    drawn, accuracy = hard_and_easy(20_000)
    filter_ = COLLATEFilter(ErrorRate=0.01)
    filter_.Execute(list(drawn))
    found = np.diagonal(filter_.GetConfusionTables(), axis1=1, axis2=2)
    assert np.abs(found - accuracy[:, None]).max() > 0.1


def test_a_level_between_is_not_shut_out():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 20_000)
    ease = np.repeat([0.0, 0.5], 10_000)
    accuracy = np.array([0.9, 0.75, 0.7, 0.65, 0.6])[:, None]
    wrong = rng.random((5, 20_000)) > ease + (1 - ease) * accuracy
    patterns = patterns_of(np.where(wrong, 1 - truth, truth).astype(np.uint8))
    two, three = (
        collate(patterns, CollateSettings(levels, stop=StopRule(0, 3000)))
        for levels in ((0.0, 1.0), (0.0, 0.5, 1.0))
    )
    assert (three.shares > 0).all()
    assert three.trace[-1] > two.trace[-1]


def test_no_levels_at_all_are_refused():
    with pytest.raises(ParameterError, match="ConsensusLevels must not be empty"):
        COLLATEFilter(ConsensusLevels=()).Execute([np.zeros(3, np.uint8)] * 2)
