"""Find names of labels or structures that a rater uses differently from the others.

The input is the Dice of a rater's mask of each name with the others' masks of each name. If two or
more names form a cycle in which each mask matches the next name better than its own, they are
swapped; if a single name matches another one better, it is renamed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats

#: Minimum Dice for reporting a single renamed name.
MEANT = 0.5
#: Minimum mean Dice for a cycle of names, whose members corroborate each other. It is low because
#: readers agree poorly on small structures such as the cochlea, for which some masks do not
#: overlap.
MEANT_IN_A_CIRCLE = 0.2
#: Dice below this counts as no overlap.
_LEAST = 0.05
#: The Dice with the other name must be at least this many times the Dice with the same name.
TIMES_CLOSER = 2.0


class Swap(NamedTuple):
    """Names that a rater uses for different structures than the others."""

    used: tuple[int, ...]  #: Indices of the names that the rater used
    meant: tuple[int, ...]  #: Indices of the names that the others used for the same structures
    before: float  #: Mean Dice with the others before correction
    after: float  #: Mean Dice with the others after correction
    is_closed: bool  #: Whether `used` is a permutation of `meant`, not a renaming


def swaps_in(dice: Floats) -> list[Swap]:
    """Find swapped and renamed names of one rater.

    Parameters
    ----------
    dice : (K, K) ndarray
        Dice of the rater's masks (rows) with the others' masks (columns) of each name; 0 or NaN if
        either is empty.
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
    """Follow best matches from a name back to itself; return () if the path does not lead back."""
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
