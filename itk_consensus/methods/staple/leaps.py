"""Extrapolation of slow iterations.

The squared extrapolation of Varadhan & Roland, Scandinavian Journal of Statistics 35:335-353, 2008:
of three states x0, x1, x2, each the step of the one before, with r = x1 - x0 and
v = (x2 - x1) - r, the next is x0 + 2 a r + a^2 v, a = |r| / |v|. A leap that lowers the objective
is taken back, so that it never falls; where steps come to rest is where they would have come to
rest without leaps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from itk_consensus.core.array_types import Floats

State = TypeVar("State")

#: Steps before the first leap: where a path leads is settled early, and short ones need none.
FIRST_STEPS = 50


#: The longest leap becomes so many times longer when it was taken, and shorter when it fell.
_LONGER = 4.0


class Leaps(Generic[State]):
    """Steps that leap after every other one.

    Parameters
    ----------
    step : callable
        Gives the next state, and the objective of the one it was given.
    leap : callable
        Makes a state of an extrapolation's arrays, none of which is negative.
    arrays_of : callable
        The arrays of a state; they may hold NaN.
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
        """The state stepped from, the one stepped to, and the objective of the first.

        The first is the state given, unless that was a leap to take back.
        """
        new, objective = self._step(state)
        if self._landing is not None and not objective >= self._landing[1]:
            self._longest = max(1.0, self._longest / _LONGER)
            state = self._landing[0]
            new, objective = self._step(state)
        self._landing = None
        return state, new, objective

    def onwards(self, old: State, new: State, objective: float) -> State:
        """Where to go from a step from `old`, whose objective is given, to `new`."""
        self._steps += 1
        if self._before is None or self._steps < FIRST_STEPS:
            self._before = old
            return new
        path = zip(*map(self._arrays_of, (self._before, old, new)), strict=True)
        self._before = None
        self._landing = new, objective
        reach, there = _extrapolated(list(path), self._longest)
        if reach == self._longest:
            self._longest *= _LONGER
        return self._leap(there)


def _extrapolated(
    path: list[tuple[Floats, Floats, Floats]], longest: float
) -> tuple[float, list[Floats]]:
    """How far to leap, in units of the way, and the arrays there."""
    ways = [x1 - x0 for x0, x1, _ in path]
    bends = [(x2 - x1) - way for (_, x1, x2), way in zip(path, ways, strict=True)]
    way, bend = (np.sqrt(sum(np.nansum(part**2) for part in parts)) for parts in (ways, bends))
    reach = min(max(1.0, float(way / bend)), longest) if bend > 0 else 1.0
    leapt = []
    for (x0, _, x2), r, v in zip(path, ways, bends, strict=True):
        there = x0 + 2 * reach * r + reach**2 * v
        # Probabilities: what would become negative is left where the step brought it.
        leapt.append(np.where(there < 0, x2, there))
    return reach, leapt
