from __future__ import annotations

import numpy as np
import pytest

from examples.simulation import LESION_SETTINGS


@pytest.mark.parametrize("name", LESION_SETTINGS)
def test_a_setting_is_a_function_of_its_seed(name):
    first, again, other = (LESION_SETTINGS[name](seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.raters, again.raters)
    assert (first.raters != other.raters).any()
    assert first.raters.shape[1:] == first.truth.shape
    assert len(first.spacing) == first.truth.ndim


def test_readers_find_as_often_as_the_name_says():
    for name, wanted in (("found .95", 0.95), ("found .45", 0.45)):
        cases = [LESION_SETTINGS[name](seed) for seed in range(12)]
        found = [
            (rater[case.truth == number] > 0).mean() > 0.3
            for case in cases
            for rater in case.raters
            for number in range(1, case.truth.max() + 1)
        ]
        assert np.mean(found) == pytest.approx(wanted, abs=0.06)


def test_truths_touch_where_the_name_says_so():
    case = LESION_SETTINGS["touching"](0)
    truth = case.truth
    beside = (truth[1:] > 0) & (truth[:-1] > 0) & (truth[1:] != truth[:-1])
    assert beside.any()


def test_numbers_of_readers_mean_nothing():
    case = LESION_SETTINGS["found .95"](1)
    number = np.flatnonzero(np.bincount(case.truth.ravel())[1:])[0] + 1
    names = {int(np.median(rater[case.truth == number])) for rater in case.raters}
    assert len(names) > 2
