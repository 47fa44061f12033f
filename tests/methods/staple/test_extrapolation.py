from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.methods.staple import extrapolation as module
from itk_consensus.methods.staple.extrapolation import Leaps

GOAL = np.array([0.2, 0.5, 0.3, 0.0])
RATES = np.array([0.99, 0.98, 0.5, 0.9])


def slow_step(x):
    """Take a step that covers a small part of the distance to the goal.

    Return the new point, and minus the remaining distance as the objective.
    """
    return GOAL + RATES * (x - GOAL), -float(np.abs(x - GOAL).sum())


def run(step, state, tolerance=1e-9):
    """Return the objectives until convergence, and the fixed point."""
    leaps = Leaps(step, lambda arrays: arrays[0], lambda x: (x,))
    objectives = []
    while len(objectives) < 10_000:
        old, new, objective = leaps.step(state)
        objectives.append(objective)
        if np.abs(new - old).max() <= tolerance:
            return np.array(objectives), new
        state = leaps.onwards(old, new, objective)
    raise AssertionError("no rest")


def test_leaps_come_to_rest_where_steps_do_and_much_sooner(monkeypatch):
    start = np.array([0.6, 0.1, 0.2, 0.0])
    leapt, end = run(slow_step, start)
    monkeypatch.setattr(module, "FIRST_STEPS", 10_000)
    plain, _ = run(slow_step, start)
    np.testing.assert_allclose(end, GOAL, atol=1e-6)
    assert len(leapt) < len(plain) / 3
    np.testing.assert_array_equal(leapt[:50], plain[:50])


def test_leaps_that_lower_the_objective_are_taken_back(monkeypatch):
    monkeypatch.setattr(module, "FIRST_STEPS", 2)
    start = np.array([0.6, 0.1, 0.2, 0.0])
    steps_to = {start.tobytes(): 0}

    def step(x):
        """Take a step; points that only a leap can reach have the lowest objective."""
        new, _ = slow_step(x)
        if x.tobytes() not in steps_to:
            return new, -np.inf
        steps_to[new.tobytes()] = steps_to[x.tobytes()] + 1
        return new, float(steps_to[x.tobytes()])

    objectives, end = run(step, start)
    np.testing.assert_array_equal(objectives, np.arange(len(objectives)))
    np.testing.assert_allclose(end, GOAL, atol=1e-6)


@pytest.mark.parametrize("x", [0.0, 0.25])
def test_what_would_become_negative_stays_where_the_step_brought_it(x):
    path = [(np.array([1.0, x]), np.array([0.5, x]), np.array([0.01, x]))]
    _, (there,) = module._extrapolate(path, longest=1e6)
    assert (there >= 0).all()
    assert there[1] == x


def test_undefined_numbers_stay_undefined():
    path = [tuple(np.array([np.nan, value]) for value in (0.5, 0.4, 0.35))]
    reach, (there,) = module._extrapolate(path, longest=1e6)
    assert reach == pytest.approx(2.0)
    assert np.isnan(there[0])
    assert there[1] == pytest.approx(0.3)
