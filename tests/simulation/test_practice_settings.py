from __future__ import annotations

import numpy as np
import pytest

from examples.simulation import PRACTICE_SETTINGS, SLIP_SETTINGS, SLIPS
from examples.simulation.practice_settings import blob
from itk_consensus.votes.overlap import dice

EVERY = SLIP_SETTINGS | PRACTICE_SETTINGS


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
