"""How far most readers of a case, and all of them, extend beyond their consensus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.sentences import join_items
from itk_consensus.core.array_types import Floats

#: Rules that indicate a wrong file; the masks concerned are excluded from the margin.
WRONG_FILES = (
    "no segmentation",
    "swapped labels",
    "swapped structures",
    "empty mask",
    "mirrored mask",
    "shifted mask",
    "apart",
    "gaps between slices",
)

#: Minimum number of readers for a margin; "most readers" means this share of them.
FEWEST, MOST_OF_READERS = 3, 0.75

#: A side is named in the margin if most readers extend this many times farther there than
#: elsewhere, and by at least this many mm more.
#: mm more.
FARTHER_TIMES, FARTHER_BY = 1.5, 1.0

#: Maximum number of sides that are named.
MOST_DIRECTIONS = 2

#: Margins are rounded up to a multiple of this, in mm.
STEP = 0.5


@dataclass(frozen=True)
class CaseMargin:
    """Reach: how far readers extend beyond the consensus.

    Reach is the 95th percentile of the distances, in `unit`, between a reader's outline and the
    consensus. It is infinite or NaN for a reader with an empty mask; such readers are ignored.
    """

    reach: Floats  #: (J,) reach of each reader, except those in `left_out`
    #: (J,) reach of each reader, by side of the consensus
    directions: Mapping[str, Floats] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()  #: Names of readers whose files are wrong
    unit: str = "mm"

    def __str__(self) -> str:
        """Return the margin as a sentence; empty if there are fewer than three readers."""
        known = np.sort(self.reach[np.isfinite(self.reach)])
        if len(known) < FEWEST:
            return ""
        most = _number_of_most(len(known))
        near, farthest = _round_up(known[most - 1]), _round_up(known[-1])
        number = f"{most} of {len(known)}" if farthest > near else "all"
        text = f"{number} within {near:g} {self.unit}"
        more = f", all within {farthest:g} {self.unit}" if farthest > near else ""
        sides = [f"{mm:g} {self.unit} on the {side} side" for side, mm in self._farther_sides(near)]
        there = f"; {most} of {len(known)} within {join_items(sides)}" if sides else ""
        out = f" Left out: {join_items(self.left_out)}." if self.left_out else ""
        head = "How far readers lie from the consensus"
        return f"{head}: {text}{more} (95 % of their outlines){there}.{out}"

    def _farther_sides(self, near: float) -> Iterator[tuple[str, float]]:
        """Yield the sides on which most readers extend clearly farther than `near`, the
        farthest first.
        """
        found = {}
        for side, reach in self.directions.items():
            known = np.sort(reach[np.isfinite(reach)])
            if len(known) >= FEWEST:
                found[side] = _round_up(known[_number_of_most(len(known)) - 1])
        for side, mm in sorted(found.items(), key=lambda item: -item[1])[:MOST_DIRECTIONS]:
            if mm >= FARTHER_TIMES * near and mm - near >= FARTHER_BY:
                yield side, mm


def wrong_files(findings: Sequence[Finding], label: int | None) -> set[int]:
    """Return the indices of readers whose file for a label is wrong according to `findings`."""
    return {
        rater
        for one in findings
        if one.rule in WRONG_FILES and one.concern and one.label in (None, label)
        for rater in one.who
    }


def _number_of_most(readers: int) -> int:
    return int(np.ceil(MOST_OF_READERS * readers))


def _round_up(value: float) -> float:
    return float(np.ceil(value / STEP) * STEP)
