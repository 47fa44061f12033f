"""Measure the best times of several contenders in alternation, so that noise affects all
equally.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

Name = TypeVar("Name")


class Effort(NamedTuple):
    """Number of repetitions: each of `rounds` rounds takes at least one call and `turn_seconds`."""

    rounds: int
    turn_seconds: float


def best_seconds(contenders: Mapping[Name, Callable[[], Any]], effort: Effort) -> dict[Name, float]:
    """Return the shortest time that each contender needed for one call."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(effort.rounds):
        for name, call in contenders.items():
            best[name] = min(best[name], _best_of_turn(call, effort.turn_seconds))
    return best


def _best_of_turn(call: Callable[[], Any], turn_seconds: float) -> float:
    best, spent = float("inf"), 0.0
    while best == float("inf") or spent < turn_seconds:
        start = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - start
        del result  # deallocating the output is not part of the call
        best, spent = min(best, seconds), spent + seconds
    return best
