"""Which of several readers' structures are the same: by their names, their codes and their place.

Names that say the same are joined. What names leave open is proposed, by names that are nearly the
same or by where structures lie, and never taken unasked. Sides and numbers are a hard rule: what is
called left is joined with nothing that is called right, whatever its code or place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import combinations

import numpy as np
import SimpleITK as sitk

from itk_consensus.core.display import Displayed
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.images.structure_names import StructureName, StructureWords, usual_words
from itk_consensus.images.structures import TISSUE, Structure, geometry_of
from itk_consensus.space.placed_masks import PlacedMask

#: Codes that say nothing about which structure is meant.
_MEANINGLESS = {TISSUE[:2], ("SRT", "T-D0050")}

#: Structures in the same place are proposed as one from this Dice on. Readers who mean the same
#: agree less on small ones; what lies beside overlaps far less.
LEAST_OVERLAP = 0.5
#: Proposals are accepted from this Dice on, where nothing else is said.
ACCEPTED_OVERLAP = 0.7
#: Names that are nearly the same propose nothing where the structures hardly touch.
_LEAST_TOUCH = 0.1

#: What a structure is to be called, whoever has it, or if one has it: ("anna", "Parotis li").
Renamings = Mapping[str | tuple[str, str], str]


@dataclass(frozen=True)
class Proposal:
    """Structures of some readers that may be one that others have."""

    renamings: tuple[tuple[str, str], ...]  #: Readers, and what they call the structure
    new: str  #: What it would be called
    dice: float  #: Mean to the masks it would join; NaN where grids differ
    is_by_name: bool  #: Whether the names are nearly the same, too

    def __str__(self) -> str:
        who = " and ".join(f"{reader}'s {old!r}" for reader, old in self.renamings)
        verb = "overlaps" if len(self.renamings) == 1 else "overlap"
        if not np.isfinite(self.dice):
            return f"{who} may be {self.new!r}, whose name is nearly the same"
        name = ", whose name is nearly the same" if self.is_by_name else ""
        return f"{who} {verb} {self.new!r} (Dice {self.dice:.2f}){name}"


@dataclass(frozen=True)
class MatchedStructures(Displayed):
    """Who has what."""

    readers: tuple[str, ...]
    #: For each structure what each reader has, under the first reader's spelling.
    table: dict[str, tuple[Structure | None, ...]]
    #: Proposals that were taken, since that was asked for.
    accepted: tuple[Proposal, ...] = ()
    words: StructureWords = field(default_factory=usual_words, repr=False, compare=False)

    @property
    def unmatched(self) -> tuple[str, ...]:
        """Structures that only one of several readers has."""
        several = len(self.readers) > 1
        return tuple(n for n, row in self.table.items() if several and _count(row) == 1)

    @property
    def differently_spelled(self) -> dict[str, tuple[str, ...]]:
        """Structures that were taken for one though their names differ."""
        spelled = {
            name: tuple(dict.fromkeys(one.name for one in row if one is not None))
            for name, row in self.table.items()
        }
        return {name: names for name, names in spelled.items() if len(names) > 1}

    @cached_property
    def proposals(self) -> tuple[Proposal, ...]:
        """Structures that may be one though neither their names nor their codes say so.

        Each is the other's best: nothing overlaps either of them more.
        """
        rows = list(self.table.items())
        likely: dict[tuple[str, str], tuple[float, bool]] = {}
        for (one, row), (other, others) in combinations(rows, 2):
            found = self._likeness(one, row, other, others)
            if found is not None:
                likely[one, other] = found
        best: dict[str, tuple[str, str]] = {}
        for pair in likely:
            for name in pair:
                best[name] = max(best.get(name, pair), pair, key=lambda p: _rank(*likely[p]))
        mutual = [pair for pair in likely if best[pair[0]] == best[pair[1]] == pair]
        return tuple(self._proposal(*pair, *likely[pair]) for pair in mutual)

    def masks(self) -> dict[str, list[object]]:
        """What FuseStructures takes: for each structure every reader's mask, None if missing."""
        return {
            name: [None if one is None else one.mask for one in row]
            for name, row in self.table.items()
        }

    def places(self) -> dict[str, tuple[PlacedMask | None, ...]]:
        """Where each reader has each structure; None where a reader does not have it."""
        return {
            name: tuple(None if one is None else self._place(one) for one in row)
            for name, row in self.table.items()
        }

    def __str__(self) -> str:
        cells = [("structure", *self.readers)]
        cells += [
            (name, *("-" if one is None else one.name for one in row))
            for name, row in self.table.items()
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        ]
        lines += [f"only one reader has {name}" for name in self.unmatched]
        lines += [
            f"taken for one: {', '.join(names)}" for names in self.differently_spelled.values()
        ]
        lines += [f"accepted: {one}" for one in self.accepted]
        lines += [f"proposed: {one}" for one in self.proposals]
        return "\n".join(lines)

    def _likeness(self, one: str, row: _Row, other: str, others: _Row) -> tuple[float, bool] | None:
        """Dice of two structures that no reader tells apart, and whether their names are near."""
        if any(a is not None and b is not None for a, b in zip(row, others, strict=True)):
            return None
        mine, theirs = self._names(one, row), self._names(other, others)
        if any(a.excludes(b) for a in mine for b in theirs):
            return None
        is_near = any(a.resembles(b) for a in mine for b in theirs)
        dice = self._dice(row, others)
        if np.isnan(dice):
            return (dice, True) if is_near else None
        if dice >= LEAST_OVERLAP or (is_near and dice >= _LEAST_TOUCH):
            return dice, is_near
        return None

    def _names(self, title: str, row: _Row) -> list[StructureName]:
        names = dict.fromkeys([title, *(one.name for one in row if one is not None)])
        return [self.words.read(name) for name in names]

    def _dice(self, row: _Row, others: _Row) -> float:
        """Mean over every two masks; NaN if none of them share a grid."""
        pairs = [(a, b) for a in row for b in others if a is not None and b is not None]
        known = [self._place(a).dice(self._place(b)) for a, b in pairs if _share_a_grid(a, b)]
        return float(np.mean(known)) if known else float("nan")

    @cached_property
    def _placed(self) -> dict[int, PlacedMask]:
        return {}

    def _place(self, one: Structure) -> PlacedMask:
        found = self._placed.get(id(one))
        if found is None:
            found = PlacedMask.of(sitk.GetArrayViewFromImage(one.mask) == 1)
            self._placed[id(one)] = found
        return found

    def _proposal(self, one: str, other: str, dice: float, is_by_name: bool) -> Proposal:
        """The structure that fewer readers have is called as the one that more have."""
        few, many = (one, other) if _count(self.table[one]) < _count(self.table[other]) else (
            other, one)  # fmt: skip
        have = zip(self.readers, self.table[few], strict=True)
        who = tuple((reader, has.name) for reader, has in have if has is not None)
        return Proposal(who, many, dice, is_by_name)


_Row = Sequence[Structure | None]


def match_structures(
    readers: Mapping[str, Sequence[Structure]],
    mapping: Renamings | None = None,
    *,
    words: StructureWords | None = None,
    accept: float | None = None,
) -> MatchedStructures:
    """Find out which structures of several readers are the same.

    Names decide: structures are one if their names say the same organ, side and numbers, however
    they are spelled. What no other reader has by name is compared by its code, if the code is one
    reader's only once and says anything. What is left may be proposed (`proposals`).

    Parameters
    ----------
    readers : mapping of reader to structures
    mapping : mapping of name to name, or of (reader, name) to name, optional
        What a structure is to be called, whoever has it or if this reader has it; it wins over
        names and codes.
    words : StructureWords, optional
        What organs are called; by default the table that comes with the package.
    accept : float, optional
        Take the proposals of structures that overlap from this Dice on.
    """
    words = words or usual_words()
    renamed = dict(mapping or {})
    rows: list[_Entry] = []
    order = list(readers)
    for number, reader in enumerate(order):
        for structure in readers[reader]:
            wanted = renamed.get((reader, structure.name), renamed.get(structure.name))
            title = structure.name if wanted is None else wanted
            entry = _entry_of(rows, words.read(title), title, len(order))
            before = entry.row[number]
            if before is not None:
                raise InputError(
                    f"{reader}: has two structures called {entry.title} ({before.name!a} and "
                    f"{structure.name!a}); rename one, or leave it out"
                )
            entry.row[number] = structure
            entry.is_fixed |= wanted is not None
    _join_by_code(rows)
    table = {entry.title: tuple(entry.row) for entry in rows}
    matched = MatchedStructures(tuple(order), table, words=words)
    return matched if accept is None else _accepting(matched, accept)


@dataclass(frozen=True)
class MatchingRules:
    """How several readers' structures are matched, and which of them are wanted."""

    renamed: Renamings = field(default_factory=dict)
    words: StructureWords = field(default_factory=usual_words)
    accept: float | None = None  #: As in `match_structures`
    wanted: tuple[str, ...] = ()  #: Names and patterns ("Parotid*"); empty: every structure
    unwanted: tuple[str, ...] = ()

    def match(self, readers: Mapping[str, Sequence[Structure]]) -> MatchedStructures:
        """The structures of some readers, matched and chosen."""
        every = match_structures(readers, self.renamed, words=self.words, accept=self.accept)
        for pattern in (*self.wanted, *self.unwanted):
            if not any(self._fits(pattern, name, row) for name, row in every.table.items()):
                near = get_close_matches(pattern, every.table, 3, 0.4) or list(every.table)
                raise ParameterError(
                    f"no structure is called {pattern!a}; there are {', '.join(near)}"
                )
        kept = {
            name: row
            for name, row in every.table.items()
            if (not self.wanted or self._fit_any(self.wanted, name, row))
            and not self._fit_any(self.unwanted, name, row)
        }
        if not kept:
            raise ParameterError("no structure is left: the patterns leave all of them out")
        return replace(every, table=kept)

    def _fit_any(self, patterns: Sequence[str], name: str, row: _Row) -> bool:
        return any(self._fits(pattern, name, row) for pattern in patterns)

    def _fits(self, pattern: str, name: str, row: _Row) -> bool:
        """Whether a pattern, or a name however it is spelled, is that of a structure."""
        names = {name, *(one.name for one in row if one is not None)}
        if any(fnmatchcase(one.casefold(), pattern.casefold()) for one in names):
            return True
        meant = self.words.read(pattern)
        return any(self.words.read(one).is_same_as(meant) for one in names)


@dataclass
class _Entry:
    """A row of the table while it is made."""

    title: str
    name: StructureName
    row: list[Structure | None]
    is_fixed: bool = False  #: Whether somebody said that it is called so


def _entry_of(rows: list[_Entry], name: StructureName, title: str, readers: int) -> _Entry:
    found = next((entry for entry in rows if entry.name.is_same_as(name)), None)
    if found is None:
        found = _Entry(_free_title(rows, title), name, [None] * readers)
        rows.append(found)
    return found


def _free_title(rows: Sequence[_Entry], title: str) -> str:
    """The title; two entries are never called alike to the letter."""
    return title if all(entry.title != title for entry in rows) else f"{title} (2)"


def _join_by_code(rows: list[_Entry]) -> None:
    """Put entries together that share a code and no reader, and whose names do not disagree."""
    by_code: dict[tuple[str, str], list[_Entry]] = {}
    for entry in rows:
        codes = {one.kind[:2] for one in entry.row if one is not None and one.kind is not None}
        for code in codes - _MEANINGLESS:
            by_code.setdefault(code, []).append(entry)
    for entries in by_code.values():
        entries = [entry for entry in entries if entry in rows]
        if len(entries) < 2 or any(entry.is_fixed for entry in entries):
            continue
        columns = list(zip(*(entry.row for entry in entries), strict=True))
        if any(_count(column) > 1 for column in columns):
            continue  # one reader tells these structures apart
        if any(a.name.contradicts(b.name) for a, b in combinations(entries, 2)):
            continue
        entries[0].row = [next((one for one in c if one), None) for c in columns]
        for entry in entries[1:]:
            rows.remove(entry)


def _accepting(matched: MatchedStructures, least: float) -> MatchedStructures:
    """The same with proposals taken, the surest first, until none overlaps so far."""
    while True:
        likely = [one for one in matched.proposals if one.dice >= least]
        if not likely:
            return matched
        best = max(likely, key=lambda one: one.dice)
        table = dict(matched.table)
        old = next(name for name, row in table.items() if _is_of(row, matched.readers, best))
        columns = zip(table[best.new], table.pop(old), strict=True)
        table[best.new] = tuple(a or b for a, b in columns)
        matched = replace(matched, table=table, accepted=(*matched.accepted, best))


def _is_of(row: _Row, readers: Sequence[str], proposal: Proposal) -> bool:
    have = zip(readers, row, strict=True)
    return tuple((r, one.name) for r, one in have if one is not None) == proposal.renamings


def _rank(dice: float, is_by_name: bool) -> tuple[bool, float]:
    return is_by_name, -1.0 if np.isnan(dice) else dice


def _share_a_grid(one: Structure, other: Structure) -> bool:
    """Whether masks can be compared voxel by voxel; a structure may be a name and a code only."""
    if one.mask is None or other.mask is None:
        return False
    return not geometry_of(one.mask).differences(geometry_of(other.mask), 1e-6, 1e-6)


def _count(row: _Row) -> int:
    return sum(one is not None for one in row)


def sentences_of(proposals: Sequence[Proposal]) -> Iterator[str]:
    """Each proposal with the option that takes it."""
    for one in proposals:
        options = " ".join(f'--rename "{old}={one.new}"' for _, old in one.renamings)
        yield f"{one}; if they are the same, give {options}"
