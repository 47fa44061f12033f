"""Match several raters' structures by their names, codes and positions.

Structures whose names have the same meaning are joined. Other matches, by similar names or by
overlap, are only proposed, and are accepted on request. Sides and numbers are a hard constraint: a
left structure is never joined with a right one, regardless of codes and positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import combinations

import numpy as np

from itk_consensus.core.display import Displayed
from itk_consensus.core.errors import InputError, ParameterError
from itk_consensus.images.structure_names import StructureName, StructureWords, default_words
from itk_consensus.images.structures import TISSUE, Structure, geometry_of, voxels_of
from itk_consensus.space.placed_masks import PlacedMask

#: Codes that do not identify a structure.
_MEANINGLESS = {TISSUE[:2], ("SRT", "T-D0050")}

#: Minimum Dice for proposing that structures are the same. Raters agree less than usual on small
#: structures, but neighbouring structures overlap far less than this.
LEAST_OVERLAP = 0.5
#: Default minimum Dice for proposals that are accepted on request.
ACCEPTED_OVERLAP = 0.7
#: Minimum Dice of structures that are proposed because of similar names.
_LEAST_TOUCH = 0.1

#: New names keyed by old name, for all raters or for one: ("anna", "Parotis li").
Renamings = Mapping[str | tuple[str, str], str]


@dataclass(frozen=True)
class Proposal:
    """Structures of some raters that may be the same as a structure of the others."""

    renamings: tuple[tuple[str, str], ...]  #: Raters, with their names of the structure
    new: str  #: The common name
    dice: float  #: Mean Dice with the masks that it would join; NaN if grids differ
    is_by_name: bool  #: Whether the names are also similar

    def __str__(self) -> str:
        who = " and ".join(f"{reader}'s {old!r}" for reader, old in self.renamings)
        verb = "overlaps" if len(self.renamings) == 1 else "overlap"
        if not np.isfinite(self.dice):
            return f"{who} may be {self.new!r}, whose name is similar"
        name = ", whose name is similar" if self.is_by_name else ""
        return f"{who} {verb} {self.new!r} (Dice {self.dice:.2f}){name}"


@dataclass(frozen=True)
class MatchedStructures(Displayed):
    """Structures of several raters, matched."""

    readers: tuple[str, ...]
    #: Each rater's structure by name, as spelled by the first rater; None if a rater has none.
    table: dict[str, tuple[Structure | None, ...]]
    #: Proposals that were accepted on request.
    accepted: tuple[Proposal, ...] = ()
    #: Raters, with their empty structures, such as unused entries of templates.
    not_drawn: tuple[tuple[str, str], ...] = ()
    words: StructureWords = field(default_factory=default_words, repr=False, compare=False)

    @property
    def unmatched(self) -> tuple[str, ...]:
        """Structures that only one of several raters drew."""
        several = len(self.readers) > 1
        return tuple(n for n, row in self.table.items() if several and _count(row) == 1)

    @property
    def differently_spelled(self) -> dict[str, tuple[str, ...]]:
        """The different spellings of structures that were matched."""
        spelled = {
            name: tuple(dict.fromkeys(one.name for one in row if one is not None))
            for name, row in self.table.items()
        }
        return {name: names for name, names in spelled.items() if len(names) > 1}

    @cached_property
    def proposals(self) -> tuple[Proposal, ...]:
        """Structures that may be the same although neither names nor codes match.

        Only mutually best pairs are proposed: neither structure is more similar to another one.
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
        """Return each structure's mask by rater, None if missing: the input of fuse_structures."""
        return {
            name: [None if one is None else one.mask for one in row]
            for name, row in self.table.items()
        }

    def places(self) -> dict[str, tuple[PlacedMask | None, ...]]:
        """Return each structure's mask by rater with its position; None if missing."""
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
        for reader in dict.fromkeys(reader for reader, _ in self.not_drawn):
            names = ", ".join(name for who, name in self.not_drawn if who == reader)
            lines.append(f"not drawn by {reader}: {names}")
        lines += [f"accepted: {one}" for one in self.accepted]
        lines += [f"proposed: {one}" for one in self.proposals]
        return "\n".join(lines)

    def _likeness(self, one: str, row: _Row, other: str, others: _Row) -> tuple[float, bool] | None:
        """Return the Dice of two structures, and whether names are similar; None if incompatible.

        They are incompatible if a rater has both, or if their names exclude each other.
        """
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
        """Return the mean Dice over pairs of masks; NaN if no pair is on the same grid."""
        pairs = [(a, b) for a in row for b in others if a is not None and b is not None]
        known = [self._place(a).dice(self._place(b)) for a, b in pairs if _share_a_grid(a, b)]
        return float(np.mean(known)) if known else float("nan")

    @cached_property
    def _place_cache(self) -> dict[int, PlacedMask]:
        return {}

    def _place(self, one: Structure) -> PlacedMask:
        found = self._place_cache.get(id(one))
        if found is None:
            found = PlacedMask.of(voxels_of(one.mask) == 1)
            self._place_cache[id(one)] = found
        return found

    def _proposal(self, one: str, other: str, dice: float, is_by_name: bool) -> Proposal:
        """Propose to rename the structure of fewer raters like that of more raters."""
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
    """Match the structures of several raters.

    Structures match if their names mean the same organ, side and numbers, in any spelling.
    Structures without a match are matched by their codes, if a code is specific and occurs once per
    rater. For the remaining ones there may be `proposals`. Structures without any voxel are
    ignored, since their rater did not draw them.

    Parameters
    ----------
    readers : mapping of reader to structures
    mapping : mapping of name to name, or of (reader, name) to name, optional
        New names of structures, for all raters or for one; they override names and codes.
    words : StructureWords, optional
        Table of organ names; by default the package's own.
    accept : float, optional
        Accept proposals whose Dice is at least this value.
    """
    words = words or default_words()
    renamed = dict(mapping or {})
    rows: list[_Entry] = []
    order = list(readers)
    not_drawn = []
    for number, reader in enumerate(order):
        for structure in readers[reader]:
            if _is_empty(structure):
                not_drawn.append((reader, structure.name))
                continue
            wanted = renamed.get((reader, structure.name), renamed.get(structure.name))
            title = structure.name if wanted is None else wanted
            entry = _entry_of(rows, words.read(title), title, len(order))
            before = entry.row[number]
            if before is not None:
                raise InputError(
                    f"{reader}: has two structures called {entry.title} ({before.name!a} and "
                    f"{structure.name!a}); rename one of them, or exclude it"
                )
            entry.row[number] = structure
            entry.is_fixed |= wanted is not None
    _join_by_code(rows)
    table = {entry.title: tuple(entry.row) for entry in rows}
    matched = MatchedStructures(tuple(order), table, not_drawn=tuple(not_drawn), words=words)
    return matched if accept is None else _accept_proposals(matched, accept)


@dataclass(frozen=True)
class MatchingRules:
    """Rules for matching several raters' structures and for selecting some of them."""

    renamed: Renamings = field(default_factory=dict)
    words: StructureWords = field(default_factory=default_words)
    accept: float | None = None  #: As in `match_structures`
    included: tuple[str, ...] = ()  #: Names and patterns ("Parotid*"); all structures if empty
    excluded: tuple[str, ...] = ()

    def match(self, readers: Mapping[str, Sequence[Structure]]) -> MatchedStructures:
        """Match the structures of several raters, and select from them."""
        every = match_structures(readers, self.renamed, words=self.words, accept=self.accept)
        if not every.table:
            raise InputError("no file contains a structure with voxels; give files with contours")
        for pattern in (*self.included, *self.excluded):
            if not any(self._fits(pattern, name, row) for name, row in every.table.items()):
                near = get_close_matches(pattern, every.table, 3, 0.4) or list(every.table)
                raise ParameterError(
                    f"no structure is called {pattern!a}; there are {', '.join(near)}"
                )
        kept = {
            name: row
            for name, row in every.table.items()
            if (not self.included or self._fits_any(self.included, name, row))
            and not self._fits_any(self.excluded, name, row)
        }
        if not kept:
            raise ParameterError("no structure is left: the patterns exclude all of them")
        return replace(every, table=kept)

    def _fits_any(self, patterns: Sequence[str], name: str, row: _Row) -> bool:
        return any(self._fits(pattern, name, row) for pattern in patterns)

    def _fits(self, pattern: str, name: str, row: _Row) -> bool:
        """Whether any name of a structure matches a pattern, or is another spelling of it."""
        names = {name, *(one.name for one in row if one is not None)}
        if any(fnmatchcase(one.casefold(), pattern.casefold()) for one in names):
            return True
        meaning = self.words.read(pattern)
        return any(self.words.read(one).is_same_as(meaning) for one in names)


@dataclass
class _Entry:
    """A row of the table during matching."""

    title: str
    name: StructureName
    row: list[Structure | None]
    is_fixed: bool = False  #: Whether the user specified this name


def _entry_of(rows: list[_Entry], name: StructureName, title: str, readers: int) -> _Entry:
    found = next((entry for entry in rows if entry.name.is_same_as(name)), None)
    if found is None:
        found = _Entry(_free_title(rows, title), name, [None] * readers)
        rows.append(found)
    return found


def _free_title(rows: Sequence[_Entry], title: str) -> str:
    """Make a title unique among those of the rows."""
    return title if all(entry.title != title for entry in rows) else f"{title} (2)"


def _join_by_code(rows: list[_Entry]) -> None:
    """Join entries with a common code, distinct raters, and names that do not contradict."""
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
            continue  # for one rater these are different structures
        if any(a.name.contradicts(b.name) for a, b in combinations(entries, 2)):
            continue
        entries[0].row = [next((one for one in c if one), None) for c in columns]
        for entry in entries[1:]:
            rows.remove(entry)


def _accept_proposals(matched: MatchedStructures, least: float) -> MatchedStructures:
    """Accept proposals in order of decreasing Dice, down to the minimum."""
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
    """Whether masks can be compared voxel by voxel; a structure may have no mask at all."""
    if one.mask is None or other.mask is None:
        return False
    return not geometry_of(one.mask).differences(geometry_of(other.mask), 1e-6, 1e-6)


def _is_empty(one: Structure) -> bool:
    """Whether a structure has a mask without any voxel."""
    return one.mask is not None and not np.any(voxels_of(one.mask) == 1)


def _count(row: _Row) -> int:
    return sum(one is not None for one in row)


def proposal_sentences(proposals: Sequence[Proposal]) -> Iterator[str]:
    """Describe each proposal, with the option that accepts it."""
    for one in proposals:
        options = " ".join(f'--rename "{old}={one.new}"' for _, old in one.renamings)
        yield f"{one}; if they are the same, give {options}"
