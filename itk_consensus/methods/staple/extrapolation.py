"""Extrapolation that accelerates slow iterations (SQUAREM).

The squared extrapolation of Varadhan & Roland, Scandinavian Journal of Statistics 35:335-353, 2008:
from three successive states x0, x1, x2, with r = x1 - x0 and v = (x2 - x1) - r, the next state is
x0 + 2 a r + a^2 v, a = |r| / |v|. A leap that lowers the objective is rolled back, so the objective
never falls, and the fixed points are those of the plain iteration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from itk_consensus.core.array_types import Floats

State = TypeVar("State")

#: Plain steps before the first leap: they determine which optimum is reached, and short runs do not
#: benefit from leaps.
FIRST_STEPS = 50


#: Factor by which the maximum leap length grows when it is reached, and shrinks after a roll-back.
_LONGER = 4.0


class Leaps(Generic[State]):
    """Iteration that extrapolates after every second step.

    Parameters
    ----------
    step : callable
        Returns the next state, and the objective of its input state.
    leap : callable
        Builds a state from extrapolated arrays, which are non-negative.
    arrays_of : callable
        Returns the arrays of a state; they may contain NaN.
    """

    def __init__(
        self,
        step: Callable[[State], tuple[State, float]],
        leap: Callable[[Sequence[Floats]], State],
        arrays_of: Callable[[State], Sequence[Floats]],
    ) -> None:
        self._step, self._leap, self._arrays_of = step, leap, arrays_of
        self._steps = 0
        self._longest = 1.0
        self._before: State | None = None
        self._landing: tuple[State, float] | None = None

    def step(self, state: State) -> tuple[State, State, float]:
        """Return the state before the step, the state after it, and the objective of the former.

        The state before the step is `state`, unless that resulted from a leap that lowered the
        objective; in that case it is the state before the leap.
        """
        new, objective = self._step(state)
        if self._landing is not None and not objective >= self._landing[1]:
            self._longest = max(1.0, self._longest / _LONGER)
            state = self._landing[0]
            new, objective = self._step(state)
        self._landing = None
        return state, new, objective

    def onwards(self, old: State, new: State, objective: float) -> State:
        """Return the next state after a step from `old` (with its objective) to `new`."""
        self._steps += 1
        if self._before is None or self._steps < FIRST_STEPS:
            self._before = old
            return new
        path = zip(*map(self._arrays_of, (self._before, old, new)), strict=True)
        self._before = None
        self._landing = new, objective
        reach, there = _extrapolate(list(path), self._longest)
        if reach == self._longest:
            self._longest *= _LONGER
        return self._leap(there)


def _extrapolate(
    path: list[tuple[Floats, Floats, Floats]], longest: float
) -> tuple[float, list[Floats]]:
    """Return the step length a, at most `longest`, and the extrapolated arrays."""
    ways = [x1 - x0 for x0, x1, _ in path]
    bends = [(x2 - x1) - way for (_, x1, x2), way in zip(path, ways, strict=True)]
    way, bend = (np.sqrt(sum(np.nansum(part**2) for part in parts)) for parts in (ways, bends))
    reach = min(max(1.0, float(way / bend)), longest) if bend > 0 else 1.0
    leapt = []
    for (x0, _, x2), r, v in zip(path, ways, bends, strict=True):
        there = x0 + 2 * reach * r + reach**2 * v
        # Probabilities cannot be negative: such elements keep the value of the last plain step.
        leapt.append(np.where(there < 0, x2, there))
    return reach, leapt
