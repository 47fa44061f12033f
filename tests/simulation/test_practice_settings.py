from __future__ import annotations

import numpy as np
import pytest

from examples.simulation import HARM_SETTINGS, PRACTICE_SETTINGS, SLIP_SETTINGS, SLIPS
from examples.simulation.practice_settings import blob
from itk_consensus.votes.overlap import dice

EVERY = SLIP_SETTINGS | PRACTICE_SETTINGS | HARM_SETTINGS


@pytest.mark.parametrize("name", list(EVERY))
def test_a_case_follows_from_its_seed(name):
    first, again, other = (EVERY[name](seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.raters, again.raters)
    assert not np.array_equal(first.raters, other.raters)
    assert first.raters.shape[1:] == first.truth.shape
    assert len(first.spacing) == first.truth.ndim


@pytest.mark.parametrize("name", list(PRACTICE_SETTINGS))
def test_readers_of_practice_see_the_structure(name):
    case = PRACTICE_SETTINGS[name](3)
    assert min(dice(reader, case.truth) for reader in case.raters) > 0.5


@pytest.mark.parametrize("slip", list(SLIPS))
def test_a_slip_is_far_from_what_was_drawn(slip):
    drawn = blob(2)
    changed = SLIPS[slip](drawn, np.random.default_rng(0))
    assert dice(changed, drawn) < (0.9 if slip == "three wider" else 0.3)


def test_a_leak_covers_the_structure_and_what_lies_beside_it():
    leaking, *others = HARM_SETTINGS["leak, 3 readers"](4).raters
    drawn = np.any(others, axis=0)
    assert np.count_nonzero(leaking & drawn) > 0.85 * np.count_nonzero(drawn)
    assert np.count_nonzero(leaking & ~drawn) > 0.1 * np.count_nonzero(drawn)


def test_some_readers_paint_over_holes_that_others_spare():
    case = HARM_SETTINGS["spared vessels, 4 readers"](4)
    organ = case.raters.any(axis=0)
    spared = [np.count_nonzero(organ & ~case.truth & ~reader) for reader in case.raters]
    assert max(spared) > 1.3 * min(spared) > 0


def test_small_labels_lie_between_large_ones():
    case = HARM_SETTINGS["small neighbours 3D"](4)
    sizes = np.bincount(case.truth.reshape(-1))[1:]
    assert np.sort(sizes)[-4:].min() > 900 > np.sort(sizes)[: len(sizes) - 4].max()
