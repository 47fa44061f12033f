from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from itk_consensus.calibration.scores import ScoreDistribution

# Few distinct values, so that ties are frequent.
scores_lists = st.lists(st.integers(-4, 4).map(lambda n: n / 2), min_size=1, max_size=60)


@given(scores_lists, st.data())
def test_ranks_are_those_of_the_sorted_scores(scores, data):
    rank = data.draw(st.integers(1, len(scores)))
    assert ScoreDistribution.of(np.array(scores)).smallest(rank) == sorted(scores)[rank - 1]


@given(scores_lists, st.floats(-3, 3))
def test_missed_share_is_counted(scores, threshold):
    missed = ScoreDistribution.of(np.array(scores)).missed_share(threshold)
    assert missed == pytest.approx(np.mean(np.array(scores) > threshold))


@given(scores_lists, st.integers(0, 20).map(lambda n: n / 20))
def test_threshold_is_the_smallest_that_keeps_the_tolerance(scores, tolerance):
    distribution = ScoreDistribution.of(np.array(scores))
    threshold = distribution.threshold_for(tolerance)
    allowed = round(tolerance * 20) * len(scores) / 20
    assert np.sum(np.array(scores) > threshold) <= allowed
    lower = [score for score in scores if score < threshold]
    assert all(np.sum(np.array(scores) > score) > allowed for score in lower)


@given(st.lists(scores_lists, min_size=1, max_size=4))
def test_pooling_is_concatenation(parts):
    pooled = ScoreDistribution.pool([ScoreDistribution.of(np.array(part)) for part in parts])
    whole = ScoreDistribution.of(np.concatenate([np.array(part) for part in parts]))
    np.testing.assert_array_equal(pooled.values, whole.values)
    np.testing.assert_array_equal(pooled.cumulative, whole.cumulative)


def test_nothing_to_miss_is_missed_by_no_threshold():
    nothing = ScoreDistribution.of(np.empty(0))
    assert nothing.total == 0
    assert nothing.missed_share(-np.inf) == 0
    assert nothing.threshold_for(0.05) == -np.inf


def test_tolerance_means_its_decimal_digits():
    """0.1 of 30 voxels is 3, and 0.7 of 10 is 7, despite binary rounding."""
    ranks = np.arange(1, 31)
    assert ScoreDistribution.of(ranks).threshold_for(0.1) == 27
    assert ScoreDistribution.of(ranks[:10]).threshold_for(0.7) == 3
