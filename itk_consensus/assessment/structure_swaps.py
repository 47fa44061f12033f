"""Find structures that a reader names differently from the others, e.g. left and right swapped."""

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
    """The names that a reader and the other readers give to the same structures."""

    reader: int
    used: tuple[str, ...]  #: The names that the reader used
    meant: tuple[str, ...]  #: The names that the others used for the same structures
    before: float  #: Mean Dice with the others before correction
    after: float  #: Mean Dice with the others after correction
    is_closed: bool  #: Whether `used` is a permutation of `meant`, as opposed to a renaming
    of_two: bool = False  #: Whether there are only two readers, either of whom may be right

    @property
    def readers(self) -> tuple[int, ...]:
        """The reader who swapped the names; of two readers, both."""
        return (0, 1) if self.of_two and self.is_closed else (self.reader,)


def structure_swaps(places: Places) -> list[StructureSwap]:
    """Find the readers who name structures differently from the other readers.

    With two readers it is unknown who swapped, so that a swap names both (`StructureSwap.readers`).

    Parameters
    ----------
    places : mapping of name to sequence
        The mask of each structure by each reader; None if the reader did not draw it.
    """
    names = list(places)
    number = len(next(iter(places.values()), ()))
    found = []
    for reader in range(min(number, 1) if number == 2 else number):
        dice = np.array([[_dice(places[one], places[other], reader) for other in names]
                         for one in names])  # fmt: skip
        for swap in swaps_in(dice.reshape(len(names), len(names))):
            used, meant = (tuple(names[n] for n in which) for which in (swap.used, swap.meant))
            # A name used only by this reader is not a swap; structure matching suggests names for
            # it.
            if not any(_has_others(places[name], reader) for name in used):
                continue
            found.append(
                StructureSwap(
                    reader, used, meant, swap.before, swap.after, swap.is_closed, number == 2
                )
            )
    return found


def _has_others(row: Sequence[PlacedMask | None], reader: int) -> bool:
    return any(one is not None for number, one in enumerate(row) if number != reader)


def _dice(
    mine: Sequence[PlacedMask | None], theirs: Sequence[PlacedMask | None], reader: int
) -> float:
    """Return the mean Dice of a reader's structure with the others' structures of a name; 0
    if missing.
    """
    own = mine[reader]
    others = [one for number, one in enumerate(theirs) if one is not None and number != reader]
    if own is None or not others:
        return 0.0
    return float(np.nan_to_num(np.mean([own.dice(other) for other in others])))


def plan_findings(
    places: Places, swaps: Sequence[StructureSwap], structure: str, who: Sequence[int]
) -> tuple[Finding, ...]:
    """Return findings about one structure that follow from all structures of the plan.

    These are swapped names and too few readers.

    Parameters
    ----------
    who : sequence of int
        The readers who drew the structure, in the order of its result.
    """
    found = [
        about_swap("swapped structures", [who.index(one) for one in swap.readers], swap)
        for swap in swaps
        if structure in (*swap.used, *swap.meant) and {*swap.readers} <= {*who}
    ]
    readers = len(places[structure])
    if readers > 1 and (2 * len(who) < readers or len(who) == 1):
        facts = {"number": len(who), "readers": readers}
        found.append(about_raters("few drew", len(who), "do not use", "", (), **facts))
    return tuple(found)
