"""Structures that a reader calls as others call another: left and right, any circle of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from itk_consensus.assessment.agreement.swaps import swaps_in
from itk_consensus.space.placed_masks import PlacedMask

Places = Mapping[str, Sequence[PlacedMask | None]]


@dataclass(frozen=True)
class StructureSwap:
    """A reader's names for some structures, and what the others call them."""

    reader: int
    used: tuple[str, ...]  #: The names that the reader gave ...
    meant: tuple[str, ...]  #: ... where the others gave these
    before: float  #: Mean Dice to the others as the names are
    after: float  #: Mean Dice to the others if the names were put right
    is_closed: bool  #: Whether the same names are used and meant


def structure_swaps(places: Places) -> list[StructureSwap]:
    """Find the readers who call structures otherwise than the others.

    Of two readers nobody can say who swapped: the first is told.

    Parameters
    ----------
    places : mapping of name to sequence
        For each structure where each reader drew it; None where a reader did not.
    """
    names = list(places)
    number = len(next(iter(places.values()), ()))
    found = []
    for reader in range(min(number, 1) if number == 2 else number):
        dice = np.array([[_dice(places[one], places[other], reader) for other in names]
                         for one in names])  # fmt: skip
        for swap in swaps_in(dice.reshape(len(names), len(names))):
            used, meant = (tuple(names[n] for n in which) for which in (swap.used, swap.meant))
            found.append(
                StructureSwap(reader, used, meant, swap.before, swap.after, swap.is_closed)
            )
    return found


def _dice(
    mine: Sequence[PlacedMask | None], theirs: Sequence[PlacedMask | None], reader: int
) -> float:
    """Mean Dice of a reader's structure with what the others call so; 0 if nobody has it."""
    own = mine[reader]
    others = [one for number, one in enumerate(theirs) if one is not None and number != reader]
    if own is None or not others:
        return 0.0
    return float(np.nan_to_num(np.mean([own.dice(other) for other in others])))
