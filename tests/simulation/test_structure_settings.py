from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import label

from examples.simulation import STRUCTURE_SETTINGS
from examples.simulation.structure_settings import ring, scattered_lesions, vessel_tree


@pytest.mark.parametrize("name", STRUCTURE_SETTINGS)
def test_a_setting_is_a_function_of_its_seed(name):
    first, again, other = (STRUCTURE_SETTINGS[name](seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.truth, again.truth)
    np.testing.assert_array_equal(first.raters, again.raters)
    assert (first.raters != other.raters).any()
    assert first.raters.shape[1:] == first.truth.shape
    assert first.raters.dtype == first.truth.dtype
    assert len(first.spacing) == first.truth.ndim
    assert first.truth.any()


def test_the_number_of_raters_is_in_the_name():
    for number in (2, 3, 4, 15):
        assert len(STRUCTURE_SETTINGS[f"{number} raters"](0).raters) == number


def test_vessels_are_connected_tubes():
    thin, thick = (vessel_tree((40, 40), r, np.random.default_rng(0), 1) for r in (0.5, 1.5))
    assert label(thin, np.ones((3, 3)))[1] == 1
    assert (thick | ~thin).all()
    assert thick.sum() > 2 * thin.sum()


def test_a_ring_has_a_hole():
    mask = ring((40, 40), 12, 2)
    assert label(~mask)[1] == 2


def test_lesions_are_apart_and_of_the_wanted_size():
    lesions = scattered_lesions((60, 60), 5, (3, 10), np.random.default_rng(1))
    assert len(lesions) == 5
    assert all(3 <= lesion.sum() <= 10 for lesion in lesions)
    assert label(np.any(lesions, axis=0), np.ones((3, 3)))[1] == 5


def test_two_raters_are_empty_and_one_is_inverted():
    assert (~STRUCTURE_SETTINGS["two empty"](0).raters.any(axis=(1, 2))).sum() == 2
    assert (STRUCTURE_SETTINGS["one inverted"](0).raters.mean(axis=(1, 2)) > 0.5).sum() == 1
