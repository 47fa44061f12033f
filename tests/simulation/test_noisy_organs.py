from __future__ import annotations

import numpy as np
import pytest

from examples.simulation import noisy_organs_case


@pytest.mark.parametrize("shape", [(128, 128), (24, 48, 48)])
def test_organs_lie_in_the_middle_and_none_is_lost(shape):
    truth, raters = noisy_organs_case(0, shape)
    assert np.unique(truth).tolist() == [0, 1, 2, 3, 4, 5]
    assert raters.shape == (3, *shape)
    for occupied, side in zip(np.nonzero(truth), shape, strict=True):
        assert occupied.min() >= side // 4
        assert occupied.max() < side // 4 + side // 2


def test_raters_have_the_sensitivity_and_specificity_that_are_promised():
    cases = [noisy_organs_case(seed) for seed in range(10)]
    for organ in (1, 4):
        said = np.concatenate([raters == organ for _, raters in cases])
        true = np.concatenate([np.repeat(truth[None] == organ, 3, axis=0) for truth, _ in cases])
        empty = np.concatenate([np.repeat(truth[None] == 0, 3, axis=0) for truth, _ in cases])
        assert said[true].mean() == pytest.approx(0.87, abs=0.02)
        assert 1 - said[empty].mean() == pytest.approx(0.985, abs=0.001)


def test_a_seed_gives_the_same_case_each_time():
    first, second = noisy_organs_case(7), noisy_organs_case(7)
    np.testing.assert_array_equal(first.raters, second.raters)
    assert (first.raters != noisy_organs_case(8).raters).any()
