"""Names that one rater uses for what the others call otherwise: labels or structures alike.

A rater's Dice to what the others call by each name tells. Where two names, or more in a circle, are
each nearer to the next one than to themselves they are swapped; where only one is, it is misnamed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats

#: One name alone is used for another from this Dice on ...
MEANT = 0.5
#: ... and names in a circle, which confirm each other, from this mean: readers agree less on a
#: cochlea, and some of theirs do not meet.
MEANT_IN_A_CIRCLE = 0.2
#: Less is no overlap.
_LEAST = 0.05
#: ... if it is so many times the Dice to what the others call the same.
TIMES_CLOSER = 2.0


class Swap(NamedTuple):
    """Names that a rater uses for other things than the others do."""

    used: tuple[int, ...]  #: Indices of the names that the rater gave ...
    meant: tuple[int, ...]  #: ... where the others gave these
    before: float  #: Mean Dice to the others as the names are
    after: float  #: Mean Dice to the others if the names were put right
    is_closed: bool  #: Whether the same names are used and meant


def swaps_in(dice: Floats) -> list[Swap]:
    """Find the names that a rater uses for others.

    Parameters
    ----------
    dice : (K, K) ndarray
        Dice of what the rater calls by each name (rows) with what the others call by each; 0 or NaN
        where either has nothing.
    """
    dice = np.nan_to_num(dice)
    own = np.diagonal(dice).copy()
    others = dice.copy()
    np.fill_diagonal(others, 0)
    partner = others.argmax(axis=1) if len(dice) else np.zeros(0, np.intp)
    best = others[np.arange(len(dice)), partner]
    nearer = (best > TIMES_CLOSER * own) & (best >= _LEAST)
    found: list[Swap] = []
    in_circle: set[int] = set()
    for start in np.flatnonzero(nearer).tolist():
        circle = _circle(start, partner, nearer)
        if not circle or start != min(circle):
            continue
        meant = tuple(int(partner[one]) for one in circle)
        swap = _swap(circle, meant, dice, is_closed=True)
        if swap.after >= MEANT_IN_A_CIRCLE:
            in_circle |= {*circle}
            found.append(swap)
    for used in np.flatnonzero(nearer & (best >= MEANT)).tolist():
        if used not in in_circle:
            found.append(_swap((used,), (int(partner[used]),), dice, is_closed=False))
    return found


def _circle(start: int, partner: NDArray[Any], nearer: NDArray[np.bool_]) -> tuple[int, ...]:
    """The names on the way from one to itself; () if the way does not lead back."""
    way = [start]
    while nearer[way[-1]] and len(way) <= len(partner):
        following = int(partner[way[-1]])
        if following == start:
            return tuple(way)
        if following in way:
            return ()
        way.append(following)
    return ()


def _swap(used: tuple[int, ...], meant: tuple[int, ...], dice: Floats, *, is_closed: bool) -> Swap:
    before = float(np.mean([dice[one, one] for one in used]))
    after = float(np.mean([dice[pair] for pair in zip(used, meant, strict=True)]))
    return Swap(used, meant, before, after, is_closed)
