from __future__ import annotations

import numpy as np
import pytest
import SimpleITK as sitk
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus.core.work import working
from itk_consensus.methods.selection.simple import overlap_with, selective_simple
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def encode(raters, **common) -> DecisionPatterns:
    return DecisionPatterns.from_stack(
        LabelStack.multilabel([np.asarray(rater, np.uint8) for rater in raters], **common)
    )


def reference_dice(rater: np.ndarray, consensus: np.ndarray) -> float:
    """Return SimpleITK's Dice, averaged over the foreground labels that occur in either."""
    measures = sitk.LabelOverlapMeasuresImageFilter()
    measures.Execute(
        *(sitk.GetImageFromArray(a.astype(np.uint8).reshape(1, -1)) for a in (rater, consensus))
    )
    labels = np.setdiff1d(np.union1d(rater, consensus), [0])
    return float(np.mean([measures.GetDiceCoefficient(int(label)) for label in labels]))


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(1, 4))
def test_overlap_on_patterns_is_simpleitks_dice(seed, number, highest):
    rng = np.random.default_rng(seed)
    raters = rng.integers(0, highest + 1, (number, 60))
    raters[:, 0] = highest
    patterns = encode(raters)
    decision = rng.integers(0, patterns.number_of_labels, len(patterns.counts))
    consensus = patterns.labels[patterns.expand(decision)]
    expected = [reference_dice(rater, consensus) for rater in raters]
    np.testing.assert_allclose(overlap_with(patterns, decision), expected, atol=1e-12)


def test_overlap_counts_only_what_a_rater_annotated():
    raters = np.array([[1, 1, 0, 9], [1, 1, 0, 1], [1, 1, 0, 1]])
    patterns = encode(raters, missing_label=9)
    decision = np.searchsorted(patterns.labels, patterns.labels[patterns.patterns[:, 1]])
    np.testing.assert_array_equal(overlap_with(patterns, decision), 1.0)


def test_raters_who_drew_nothing_overlap_fully():
    patterns = encode(np.zeros((3, 10)))
    result = selective_simple(patterns)
    np.testing.assert_array_equal(result.weights, 1.0)
    assert not result.dropped.any()


def voxelwise_simple(raters: np.ndarray, deviations: float) -> tuple[np.ndarray, np.ndarray]:
    """Run Langerak's algorithm on voxels; return the consensus and the selected raters."""

    def overlap(a, b):
        return 2 * np.sum(a & b) / (a.sum() + b.sum())

    stay = np.full(len(raters), True)
    consensus = raters.mean(axis=0) > 0.5
    while True:
        scores = np.array([overlap(rater, consensus) for rater in raters])
        limit = scores[stay].mean() - deviations * scores[stay].std()
        kept = stay & (scores >= limit - 1e-12) & (scores > 0)
        weights = np.where(kept, scores, 0)
        consensus = weights @ raters > weights.sum() / 2 * (1 + 1e-12)
        if (kept == stay).all():
            return consensus, kept
        stay = kept


@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.sampled_from([0.5, 1.0, 2.0]))
def test_selection_on_patterns_is_the_loop_on_voxels(seed, number, deviations):
    rng = np.random.default_rng(seed)
    truth = np.arange(200) % 4 == 0
    errors = rng.uniform(0.02, 0.4, number)
    raters = truth ^ (rng.random((number, 200)) < errors[:, None])
    raters[:, 0] = True
    patterns = encode(raters)
    result = selective_simple(
        patterns, deviations=deviations, maximum_iterations=100, ties="background"
    )
    consensus, kept = voxelwise_simple(raters, deviations)
    np.testing.assert_array_equal(patterns.expand(result.vote.decision) == 1, consensus)
    np.testing.assert_array_equal(~result.dropped, kept)
    assert result.converged


@pytest.mark.parametrize("number", [3, 4, 5, 10])
def test_a_rater_who_drew_elsewhere_is_dropped_from_any_number(number):
    raters = np.zeros((number, 100))
    raters[:, 10:40] = 1
    raters[-2, 10:38] = 1
    raters[-1] = 0
    raters[-1, 60:90] = 1
    result = selective_simple(encode(raters))
    assert result.dropped[-1]
    assert result.weights[-1] == 0
    assert not result.dropped[:2].any()


def test_disjoint_raters_all_stay():
    result = selective_simple(encode(np.eye(4, 9)))
    assert not result.dropped.any()
    np.testing.assert_array_equal(result.weights, 1.0)


def test_a_missing_rater_is_neither_kept_nor_dropped():
    present = [np.array([0, 1, 1, 0], np.uint8)] * 3
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel([None, *present]))
    result = selective_simple(patterns)
    assert result.weights[0] == 0
    assert not result.dropped.any()


def test_lower_limits_drop_fewer_raters():
    rng = np.random.default_rng(5)
    truth = np.arange(500) % 3 == 0
    raters = [truth ^ (rng.random(500) < error) for error in (0.02, 0.03, 0.05, 0.2, 0.3, 0.4)]
    patterns = encode(raters)
    dropped = [selective_simple(patterns, deviations=d).dropped.sum() for d in (0.5, 1.0, 1.5, 2.5)]
    assert dropped == sorted(dropped, reverse=True)
    assert dropped[0] > dropped[-1] == 0


def test_the_observer_stops_the_loop():
    rng = np.random.default_rng(5)
    truth = np.arange(500) % 3 == 0
    patterns = encode([truth ^ (rng.random(500) < e) for e in (0.02, 0.03, 0.05, 0.2, 0.4)])
    seen = []
    with working(on_iteration=lambda n: bool(seen.append(n))):
        result = selective_simple(patterns, deviations=0.5)
    assert seen == [1]
    assert len(result.trace) == 1
    assert not result.converged
