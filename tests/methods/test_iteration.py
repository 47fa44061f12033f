from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from stacks import Drawn, encode

from itk_consensus.core.errors import ProcessAborted
from itk_consensus.core.work import working
from itk_consensus.fusing.iteration import (
    MOST_WITHOUT_TOLERANCE,
    ConvergenceTest,
    Step,
    StopRule,
    iterate,
)
from itk_consensus.methods.staple.collate import CollateSettings, collate
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.markov_field import MarkovField
from itk_consensus.methods.staple.staple import MULTILABEL, VARIANTS, StapleSettings, staple
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack

#: A limit that is reached only by runs that do not converge; a few hundred iterations are usual.
NEVER = StopRule(0.0, 30_000)


def halve(value: float) -> Step[float, float]:
    return Step(value / 2, value, value < 1)


def test_the_loop_ends_when_the_step_is_done_and_traces_every_score() -> None:
    run = iterate(halve, 4.0, 100)
    assert (run.state, run.trace, run.converged) == (0.25, [4.0, 2.0, 1.0, 0.5], True)


def test_the_loop_ends_at_the_cap_or_when_the_observer_says_so() -> None:
    assert iterate(halve, 4.0, 2).trace == [4.0, 2.0]
    assert not iterate(halve, 4.0, 2).converged
    with working(on_iteration=lambda number: number < 3):
        assert iterate(halve, 4.0, 100).trace == [4.0, 2.0, 1.0]
    assert iterate(halve, 4.0, 0).state == 4.0


def test_a_step_that_is_aborted_leaves_what_was_there_before_it() -> None:
    def halve_until_one(value: float) -> Step[float, float]:
        if value <= 1:
            raise ProcessAborted
        return halve(value)

    run = iterate(halve_until_one, 4.0, 100)
    assert (run.state, run.trace, run.converged) == (1.0, [4.0, 2.0], False)
    with pytest.raises(ProcessAborted):
        iterate(halve_until_one, 1.0, 100)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 20])
def test_runs_that_go_in_circles_are_found_each_by_itself(length: int) -> None:
    stillness = ConvergenceTest(0.0)
    old = np.full((1, 2, 1), np.nan)
    for step in range(1, 200):
        circle, spiral = step % length if step > 5 else -step, 1 / step
        new = np.array([[[circle], [spiral]]], float)
        in_circles, going_on = stillness.reached(new, old)
        assert not going_on
        if in_circles:
            break
        old = new
    assert 5 + length < step + 1 < 4 * (5 + length)


def test_what_stands_still_while_something_else_moves_is_no_circle() -> None:
    stillness = ConvergenceTest(0.1)
    for step in range(1, 50):
        there, back = np.full((1, 1, 1), step % 2), np.full((1, 1, 1), 1 - step % 2)
        assert not stillness.reached(there, back, np.full((1, 1), 1 / step))


def test_a_negative_tolerance_is_never_met() -> None:
    stillness, same = ConvergenceTest(-1.0), np.ones((2, 1, 2))
    assert not any(stillness.reached(same, same)[0] for _ in range(20))


# -- tolerance 0: some of these runs used to be kept going by rounding errors
# ----------------------


def noisy_raters(seed: int) -> np.ndarray:
    """Return five raters of 300 voxels with three labels, each wrong at one voxel in five."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 300)
    wrong = rng.random((5, 300)) < 0.3
    return np.where(wrong, rng.integers(0, 3, wrong.shape), truth)


def assert_it_ends_where_a_small_tolerance_does(
    patterns: DecisionPatterns, settings: StapleSettings
) -> None:
    endless = staple(patterns, replace(settings, stop=NEVER))
    nearly = staple(patterns, replace(settings, stop=StopRule(1e-12, NEVER.maximum_iterations)))
    assert endless.converged
    assert endless.iterations >= nearly.iterations
    np.testing.assert_allclose(endless.theta, nearly.theta, atol=1e-8)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [0, 1, 5, 7])
def test_staple_without_tolerance_ends(variant: str, seed: int) -> None:
    masks = (noisy_raters(seed) > 0).astype(np.uint8)
    patterns = encode(Drawn(list(masks)), foreground=1)
    assert_it_ends_where_a_small_tolerance_does(patterns, StapleSettings().for_variant(variant))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", [1, 3, 7, 8])
def test_multilabel_staple_without_tolerance_ends(variant: str, seed: int) -> None:
    patterns = encode(Drawn(list(noisy_raters(seed))))
    assert_it_ends_where_a_small_tolerance_does(patterns, MULTILABEL.for_variant(variant))


@pytest.mark.parametrize("variant", VARIANTS)
def test_starts_without_tolerance_end_each_by_itself(variant: str) -> None:
    patterns = encode(Drawn(list(noisy_raters(7))))
    settings = MULTILABEL.for_variant(variant, stop=NEVER, plan=StartPlan("mean", 6))
    result = staple(patterns, replace(settings, damping=0.3))
    assert (result.starts.iterations < NEVER.maximum_iterations).all()


def test_a_field_and_consensus_levels_without_tolerance_end(masks: list[np.ndarray]) -> None:
    patterns = encode(Drawn(list(masks)), foreground=1)
    field = MarkovField(patterns, (1.0, 1.0), None)
    assert staple(patterns, StapleSettings(stop=NEVER), field=field).converged
    assert collate(patterns, CollateSettings(stop=NEVER)).converged


def test_independent_raters_without_tolerance_end_at_the_cap_and_say_so() -> None:
    """EM slows down with every iteration: the change decreases only as a power of the iteration
    number.
    """
    votes = np.array(list(itertools.product([0, 1], repeat=3)), np.uint8)
    patterns = DecisionPatterns.from_stack(LabelStack.multilabel(list(votes.T.copy())))
    result = staple(patterns, replace(MULTILABEL, stop=StopRule(0.0, 2**32 - 1)))
    assert not result.converged
    assert result.iterations == MOST_WITHOUT_TOLERANCE


def test_only_a_tolerance_below_rounding_has_a_cap_of_its_own() -> None:
    wanted = 2**32 - 1
    assert StopRule(0.0, wanted).most_iterations == MOST_WITHOUT_TOLERANCE
    assert StopRule(0.0, 7).most_iterations == 7
    assert StopRule(1e-12, wanted).most_iterations == wanted
    assert StopRule(-1.0, wanted).most_iterations == wanted
