"""The main loop of all iterative methods: step, trace, stop rule, progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.blas_threads import blas_threads
from itk_consensus.core.errors import ProcessAborted
from itk_consensus.core.work import current, stage

StopCriterion = Literal["parameters", "likelihood"]
STOP_CRITERIA: tuple[StopCriterion, ...] = get_args(StopCriterion)

State = TypeVar("State")
Score = TypeVar("Score")

#: Smallest meaningful tolerance for probabilities: rounding hides smaller changes.
_NO_CHANGE = float(np.finfo(np.float64).eps)

#: Maximum number of iterations if the tolerance is below that; a few hundred are usual.
MOST_WITHOUT_TOLERANCE = 10_000


@dataclass(frozen=True)
class StopRule:
    """When to stop: if the change is within the tolerance, or after a maximum number of iterations.

    A negative tolerance is never met, so exactly the maximum number of iterations is run. A
    tolerance below rounding error has its own maximum: with exactly independent raters, EM slows
    down with every iteration, and the change, which decreases as 1/n^2, would take a hundred
    million iterations to vanish.
    """

    tolerance: float
    maximum_iterations: int
    #: Quantity compared with the tolerance: parameters, or the log likelihood of the data (EM
    #: only).
    criterion: StopCriterion = "parameters"

    @property
    def most_iterations(self) -> int:
        """Number of iterations after which the loop always stops."""
        if 0 <= self.tolerance < _NO_CHANGE:
            return min(self.maximum_iterations, MOST_WITHOUT_TOLERANCE)
        return self.maximum_iterations

    def met(self, change: float) -> bool:
        """Return whether a change of probabilities is within the tolerance, or due to rounding."""
        return change <= _least_change(self.tolerance)


@dataclass(frozen=True)
class Step(Generic[State, Score]):
    """Result of one iteration: the state, a score for the trace, and whether it is the last one."""

    state: State
    score: Score
    done: bool


@dataclass(frozen=True)
class Run(Generic[State, Score]):
    """Result of the loop: the last state, the score of each iteration, and whether it converged."""

    state: State
    trace: list[Score]
    converged: bool


def iterate(
    step: Callable[[State], Step[State, Score]],
    start: State,
    maximum_iterations: int,
) -> Run[State, Score]:
    """Repeat a step until it converges, the maximum is reached or the work is aborted.

    If a step is aborted, the result of the previous step is returned, if there was one.
    """
    work = current()
    state, done = start, False
    del start  # Free memory, since it may be large
    trace: list[Score] = []
    # The matrix products are small: a second BLAS thread would only busy-wait.
    with blas_threads(1):
        while not done and len(trace) < maximum_iterations:
            number = len(trace)
            try:
                with stage(number / maximum_iterations, (number + 1) / maximum_iterations):
                    made = step(state)
            except ProcessAborted:
                if not trace:
                    raise
                break
            state, done = made.state, made.done
            trace.append(made.score)
            work.move(len(trace) / maximum_iterations)
            if not work.on_iteration(len(trace)):
                break
    return Run(state, trace, done)


class ConvergenceTest:
    """Test for which of S runs have converged: by the tolerance, or because they cycle.

    With a tolerance of 0, changes below rounding error are ignored, since a probability may
    approach 0 through all powers of ten. Rounding can also make a run cycle forever, so each state
    is compared with an earlier one that is replaced at every power of two, which detects cycles of
    any length (Brent, BIT 20:176-184, 1980). Runs that would converge are not affected.
    """

    def __init__(self, tolerance: float) -> None:
        self._tolerance = _least_change(tolerance)
        self._step = 0
        self._earlier: list[NDArray[Any]] = []

    def reached(self, new: Floats, old: Floats, *others: NDArray[Any]) -> NDArray[np.bool_]:
        """Return (S,) whether each run has converged after this step.

        Parameters
        ----------
        new, old : (..., S, K) ndarray
            Values to compare with the tolerance, such as confusion matrices; NaN: undefined.
        others : (..., S, K) ndarrays
            Other state on which the next step depends.
        """
        at_rest = largest_change(new, old) <= self._tolerance
        if self._tolerance < 0:
            return np.asarray(at_rest)
        state = [new, *others]
        if self._earlier:
            pairs = zip(state, self._earlier, strict=True)
            at_rest |= np.logical_and.reduce([_repeats(now, before) for now, before in pairs])
        self._step += 1
        if self._step & (self._step - 1) == 0:
            self._earlier = [part.copy() for part in state]
        return np.asarray(at_rest)


def _least_change(tolerance: float) -> float:
    """Return the largest change that counts as converged; a negative tolerance stays negative."""
    return tolerance if tolerance < 0 else max(tolerance, _NO_CHANGE)


def largest_change(new: Floats, old: Floats) -> Floats:
    """Return the (S,) largest |change| of each run; infinite if all its values were NaN before."""
    axes = _all_but_runs(new)
    # fmax skips NaN: values that remain undefined do not change.
    change = np.fmax.reduce(np.abs(new - old), axis=axes)
    if np.isnan(change).any():
        hopeless = np.isnan(new).all(axis=axes)
        change = np.where(np.isnan(change), np.where(hopeless, 0.0, np.inf), change)
    return np.asarray(change)


def _repeats(now: NDArray[Any], before: NDArray[Any]) -> NDArray[np.bool_]:
    """Return (S,) whether all values of each run, including NaN, are the same as before."""
    same = now == before
    if np.isnan(now).any():
        same |= (now != now) & (before != before)
    return np.asarray(same.all(axis=_all_but_runs(now)))


def _all_but_runs(values: NDArray[Any]) -> tuple[int, ...]:
    return (*range(values.ndim - 2), values.ndim - 1)
