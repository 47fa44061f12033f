"""Structures that a reader calls as others call another: left and right, any circle of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from itk_consensus.assessment.agreement.swaps import swaps_in
from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.readers import about_raters, about_swap
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
            # A name that nobody else uses contradicts none; matching proposes what it may be.
            if not any(_has_others(places[name], reader) for name in used):
                continue
            found.append(
                StructureSwap(reader, used, meant, swap.before, swap.after, swap.is_closed)
            )
    return found


def _has_others(row: Sequence[PlacedMask | None], reader: int) -> bool:
    return any(one is not None for number, one in enumerate(row) if number != reader)


def _dice(
    mine: Sequence[PlacedMask | None], theirs: Sequence[PlacedMask | None], reader: int
) -> float:
    """Mean Dice of a reader's structure with what the others call so; 0 if nobody has it."""
    own = mine[reader]
    others = [one for number, one in enumerate(theirs) if one is not None and number != reader]
    if own is None or not others:
        return 0.0
    return float(np.nan_to_num(np.mean([own.dice(other) for other in others])))


def plan_findings(
    places: Places, swaps: Sequence[StructureSwap], structure: str, who: Sequence[int]
) -> tuple[Finding, ...]:
    """What a plan tells about one of its structures and the readers who drew it.

    Parameters
    ----------
    who : sequence of int
        The readers who drew the structure, in the order in which its result has them.
    """
    found = [
        about_swap("swapped structures", who.index(one.reader), one)
        for one in swaps
        if structure in (*one.used, *one.meant) and one.reader in who
    ]
    readers = len(places[structure])
    if readers > 1 and (2 * len(who) < readers or len(who) == 1):
        facts = {"number": len(who), "readers": readers}
        found.append(about_raters("few drew", len(who), "do not use", "", (), **facts))
    return tuple(found)
