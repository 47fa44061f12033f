"""The loop of every iterative method: step, trace, stop rule, progress."""

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

#: Smallest tolerance that means something next to probabilities, which sum to one.
_NO_CHANGE = float(np.finfo(np.float64).eps)

#: Most iterations when the tolerance is below that; a few hundred are usual.
MOST_WITHOUT_TOLERANCE = 10_000


@dataclass(frozen=True)
class StopRule:
    """When to stop: nothing changes by more than the tolerance, or the cap.

    A negative tolerance is never met, so that exactly the cap is run. A tolerance below rounding
    has a cap of its own: raters who are exactly independent make EM slower with every iteration,
    and the change, which falls as 1/n^2, takes a hundred million of them to vanish.
    """

    tolerance: float
    maximum_iterations: int
    #: What must not change by more: the parameters, or the log likelihood of the data (EM only).
    criterion: StopCriterion = "parameters"

    @property
    def most_iterations(self) -> int:
        """After how many iterations to give up."""
        if 0 <= self.tolerance < _NO_CHANGE:
            return min(self.maximum_iterations, MOST_WITHOUT_TOLERANCE)
        return self.maximum_iterations

    def met(self, change: float) -> bool:
        """Whether a change of probabilities is small enough; what rounding would hide is none."""
        return change <= _least_change(self.tolerance)


@dataclass(frozen=True)
class Step(Generic[State, Score]):
    """What one iteration leaves: the state, a score for the trace, whether to go on."""

    state: State
    score: Score
    done: bool


@dataclass(frozen=True)
class Run(Generic[State, Score]):
    """Where the loop ended, the score of each iteration, and whether it ended by itself."""

    state: State
    trace: list[Score]
    converged: bool


def iterate(
    step: Callable[[State], Step[State, Score]],
    start: State,
    maximum_iterations: int,
) -> Run[State, Score]:
    """Repeat a step until it converges, the maximum is reached or the work is aborted.

    A step that is aborted counts for nothing: what the one before it left is the result, if there
    was one.
    """
    work = current()
    state, done = start, False
    del start  # a start may be large, and is needed no more
    trace: list[Score] = []
    # Products of an iteration are small: a second thread of BLAS only waits, at full power.
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
            if not work.iterated(len(trace)):
                break
    return Run(state, trace, done)


class Stillness:
    """Which of S runs have converged: by the tolerance, or because they cycle.

    A tolerance of 0 does not wait for a probability to fall through all the powers of ten: a
    change that rounding would hide is none. And rounding can keep a run going in circles for ever.
    Each state is compared with an earlier one, which is renewed at every power of two and so finds
    circles of any length (Brent, BIT 20:176-184, 1980). Only a run that would never end is cut
    short by this.
    """

    def __init__(self, tolerance: float) -> None:
        self._tolerance = _least_change(tolerance)
        self._step = 0
        self._earlier: list[NDArray[Any]] = []

    def reached(self, new: Floats, old: Floats, *others: NDArray[Any]) -> NDArray[np.bool_]:
        """(S,) whether each run rests after this step.

        Parameters
        ----------
        new, old : (..., S, K) ndarray
            What the tolerance is about, such as confusion matrices; NaN is undefined.
        others : (..., S, K) ndarrays
            What else the next step depends on.
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
    """The change that counts as none; nothing does if the tolerance is negative."""
    return tolerance if tolerance < 0 else max(tolerance, _NO_CHANGE)


def largest_change(new: Floats, old: Floats) -> Floats:
    """(S,) largest |change| of each run in (..., S, K) values; infinite if it had none before."""
    axes = _all_but_runs(new)
    # fmax skips NaN: what stays undefined does not change.
    change = np.fmax.reduce(np.abs(new - old), axis=axes)
    if np.isnan(change).any():
        hopeless = np.isnan(new).all(axis=axes)
        change = np.where(np.isnan(change), np.where(hopeless, 0.0, np.inf), change)
    return np.asarray(change)


def _repeats(now: NDArray[Any], before: NDArray[Any]) -> NDArray[np.bool_]:
    """(S,) whether each run has every number, undefined ones included, that it had before."""
    same = now == before
    if np.isnan(now).any():
        same |= (now != now) & (before != before)
    return np.asarray(same.all(axis=_all_but_runs(now)))


def _all_but_runs(values: NDArray[Any]) -> tuple[int, ...]:
    return (*range(values.ndim - 2), values.ndim - 1)
