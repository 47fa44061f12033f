"""Names of structures as people write them: which organ, which side, which numbers.

"left parotid", "Parotid_L", "PAROTID LT" and "Parotis li" read alike. What a name says of sides and
numbers is never guessed: a letter that could be a side or something else is a word like any other.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import product
from pathlib import Path

from itk_consensus.core.errors import FileError
from itk_consensus.storage.files import PathLike, read_bytes

_SIDES = {
    "left": "l lt lft left li lks links linke linker linkes gauche izq izquierda izquierdo esq "
    "esquerda esquerdo sin sinister sinistra sinistro sx",
    "right": "r rt rgt right re rechts rechte rechter rechtes droite droit dcha der derecha "
    "derecho dir direita direito dex dexter dextra destra destro dx",
    "both": "both bilateral bilat beide beidseits bds",
}
_SIDE_OF = {word: side for side, words in _SIDES.items() for word in words.split()}
#: Letters that are sides in Romance languages: of any paired organ, and of their own words only.
_ROMANCE_SIDES = {"g": "left", "d": "right"}
_ROMANCE_WORDS_SIDES = {**_ROMANCE_SIDES, "i": "left", "e": "left"}

#: Words of volumes to be treated, and what stands beside them.
_TARGETS = {"gtv", "ctv", "ptv", "itv", "igtv", "hrctv"}
_TARGET_WORDS = {
    "p": "primary", "t": "primary", "prim": "primary", "primary": "primary", "tumor": "primary",
    "tumour": "primary", "n": "node", "nodal": "node", "nodes": "node",
}  # fmt: skip

#: Words that mean the same in any name.
_SAME = {
    "s": "superior", "sup": "superior", "upper": "superior", "superior": "superior",
    "i": "inferior", "inf": "inferior", "lower": "inferior", "low": "inferior",
    "m": "middle", "mid": "middle", "med": "medial", "lat": "lateral", "ant": "anterior",
    "post": "posterior", "nodes": "node", "nodal": "node", "lymphknoten": "node", "lk": "node",
    "lnn": "ln", "levels": "level", "glands": "gland", "glande": "gland",
}  # fmt: skip

#: Words that make another structure of the one they stand beside.
_DERIVED = {
    "prv", "opt", "avoid", "ring", "shell", "wall", "eval", "block", "bolus", "core", "surf",
    "surface", "z", "zz", "minus", "in", "and", "dummy", "old", "edited", "copy", "help", "plan",
    "exp", "inner", "outer", "~", "+",
}  # fmt: skip
#: Words for the kind of an organ, which may be there or not.
_KINDS = {"gland", "glnd", "bone", "musc", "muscle"}
_UNITS = {"gy", "cgy", "mm", "cm"}
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_LEVEL = re.compile(r"(\d{1,2}|[ivx]+)([abc]?)")
#: A name counts its levels where one of these stands.
_LEVEL_WORDS = {"level", "ln", "neck", "node", "cn", "cranial", "crn"}

#: From here on a number beside a target is a dose in cGy.
_LEAST_CGY = 1000
#: Shorter words are not taken for misspelled ones, or for the beginning of one.
_LEAST_LETTERS = 5
#: More letters without a break are no words, and would take long to divide.
_LONGEST_RUN = 64
#: A name with more unknown words is not corrected.
_MOST_CORRECTED = 2
#: Words that nobody knows are alike from here on (difflib's ratio).
_ALIKE = 0.8


@dataclass(frozen=True)
class StructureName:
    """What the name of a structure says."""

    organs: frozenset[str]  #: By the names of TG-263 without their sides
    side: str  #: "left", "right", "both", or "" where none is named
    numbers: tuple[str, ...]  #: Numbers, doses and levels: ("2a",)
    others: frozenset[str]  #: All other words
    letters: str  #: The name without blanks, dashes and underscores
    unknown: frozenset[str] = field(default=frozenset(), compare=False)  #: Of the other words
    #: Organs and other words if unknown words are misspelled or cut short, where that is plain.
    corrected: tuple[frozenset[str], frozenset[str]] | None = field(default=None, compare=False)

    def is_same_as(self, other: StructureName) -> bool:
        """Whether two names say the same."""
        if (self.side, self.numbers) != (other.side, other.numbers):
            return False
        return self.meaning == other.meaning or self.letters == other.letters

    @property
    def meaning(self) -> tuple[object, ...]:
        """What names have in common that say the same."""
        return self.organs, self.side, self.numbers, self.others

    def contradicts(self, other: StructureName) -> bool:
        """Whether two names say different sides or numbers: such structures are never the same."""
        sides = self.side and other.side and self.side != other.side
        numbers = self.numbers and other.numbers and self.numbers != other.numbers
        return bool(sides or numbers)

    def excludes(self, other: StructureName) -> bool:
        """Whether two names cannot mean one structure: their sides, numbers, or known words."""
        if self.contradicts(other):
            return True
        known = self.others - self.unknown, other.others - other.unknown
        if (known[0] ^ known[1]) & _DERIVED:
            return True
        both_read = not (self.unknown or other.unknown)
        return both_read and bool(self.organs and other.organs) and self.organs != other.organs

    def resembles(self, other: StructureName) -> bool:
        """Whether two names of the same side and numbers are near enough to propose a join."""
        if (self.side, self.numbers) != (other.side, other.numbers) or self.excludes(other):
            return False
        if self.is_same_as(other):
            return True
        mine, theirs = (one.corrected or (one.organs, one.others) for one in (self, other))
        if mine == theirs:
            return True
        if self.organs != other.organs or not (self.unknown and other.unknown):
            return False
        mine_unknown, theirs_unknown = ("".join(sorted(one.unknown)) for one in (self, other))
        return SequenceMatcher(None, mine_unknown, theirs_unknown).ratio() >= _ALIKE


@dataclass(frozen=True)
class _Phrase:
    organ: str
    words: Counter[str]
    is_romance: bool


class StructureWords:
    """A table of what organs are called, which reads names.

    Parameters
    ----------
    rows : iterable of mapping
        With organ, paired ("yes"), names and romance; `structure_words.csv` explains them.
    """

    def __init__(self, rows: Iterable[Mapping[str, str | None]]) -> None:
        self._phrases: list[_Phrase] = []
        self._paired: set[str] = set()
        for row in rows:
            organ = (row.get("organ") or "").strip()
            if (row.get("paired") or "").strip().lower() in ("yes", "1", "true"):
                self._paired.add(organ)
            for column in ("names", "romance"):
                for text in filter(None, (row.get(column) or "").split("|")):
                    for words in _alternatives(text):
                        phrase = _Phrase(organ, Counter(words), column == "romance")
                        self._phrases.append(phrase)
        # The longest first; where two are as long the one that comes first.
        self._phrases.sort(key=lambda phrase: -phrase.words.total())
        self._organs_of: dict[str, set[str]] = {}
        for phrase in self._phrases:
            for word in phrase.words:
                self._organs_of.setdefault(word, set()).add(phrase.organ)
        self._read = cache(self._read_once)

    def read(self, name: str) -> StructureName:
        """What a name says."""
        return self._read(name)

    @cached_property
    def _romance(self) -> set[str]:
        return {word for phrase in self._phrases if phrase.is_romance for word in phrase.words}

    def _read_once(self, name: str) -> StructureName:
        letters = "".join(c for c in _plain(name) if c.isalnum() or c in "~+")
        words, numbers = self._words(name)
        is_target = bool(_TARGETS & set(words))
        if is_target:
            words = [_TARGET_WORDS.get(word, word) for word in words]
        words, levels = _levels(words, numbers, is_target)
        sides = {_SIDE_OF[word] for word in words if word in _SIDE_OF}
        rest = [word for word in words if word not in _SIDE_OF and word not in _UNITS]
        rest = [word if is_target else _SAME.get(word, word) for word in rest]
        organs, rest = self._organs(rest)
        if is_target:
            organs |= _TARGETS & set(rest)
            rest = [word for word in rest if word not in _TARGETS]
        if not sides:
            sides, rest = self._romance_sides(words, rest, organs)
        plural, organs, rest = self._plurals(organs, rest)
        sides |= plural
        unknown = {word for word in rest if not self._is_word(word)} - set(_TARGET_WORDS.values())
        return StructureName(
            frozenset(organs),
            "both" if len(sides) > 1 else next(iter(sides), ""),
            tuple(sorted(levels)),
            frozenset(rest),
            letters,
            frozenset(unknown),
            self._corrected(organs, rest, unknown),
        )

    def _words(self, name: str) -> tuple[list[str], list[str]]:
        """The words and numbers of a name, in small letters without accents."""
        # Where small letters are followed by a capital a word begins: OpticNrv_L, SubMandG.
        spaced = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", name)
        words: list[str] = []
        numbers: list[str] = []
        for run in re.findall(r"\d+(?:[.,]\d+)?|[^\W\d_]+|[~+]", _plain(spaced)):
            if run[0].isdigit():
                numbers.append(run.replace(",", "."))
                words.append(run.replace(",", "."))
            else:
                words += self._split(run)
        return words, numbers

    def _split(self, run: str) -> list[str]:
        """Words that are written as one; what cannot be divided into known ones stays whole."""
        if self._is_word(run) or not 2 < len(run) <= _LONGEST_RUN:
            return [run]
        target = next((one for one in _TARGETS if one in run), None)
        if target is not None:
            before, _, after = run.partition(target)
            ends = [_divided(end, _AROUND_TARGETS) for end in (before, after)]
            if ends[0] is not None and ends[1] is not None:
                return [*ends[0], target, *ends[1]]
        parts = _divided(run, self._known)
        if parts is not None:
            return parts
        for first in (run[:2], run[:1]):
            rest = run[len(first) :]
            if first in ("l", "r", "lt", "rt") and len(rest) > 3:
                divided = [rest] if self._is_word(rest) else _divided(rest, self._known)
                if divided is not None:
                    return [first, *divided]
        if run[-1] in _ROMANCE_SIDES and run[:-1] in self._romance:
            return [run[:-1], run[-1]]
        return [run]

    def _is_word(self, word: str) -> bool:
        known = word in self._organs_of or word in _SIDE_OF or word in _DERIVED
        return known or word in _TARGETS or word in _SAME or word in _UNITS

    @cached_property
    def _known(self) -> frozenset[str]:
        """Words that may be written as one with others; short ones would be found anywhere."""
        words = {*self._organs_of, *_SIDE_OF, "prv", "avoid"}
        return frozenset(word for word in words if len(word) > 2)

    def _organs(self, words: list[str]) -> tuple[set[str], list[str]]:
        """The organs that words name, and the words that are left over."""
        left = Counter(words)
        found: set[str] = set()
        for phrase in self._phrases:
            if phrase.words <= left:
                left -= phrase.words
                found.add(phrase.organ)
        return found, list(left.elements())

    def _romance_sides(
        self, words: list[str], rest: list[str], organs: set[str]
    ) -> tuple[set[str], list[str]]:
        """Single letters that are sides: only of paired organs, and some only in Romance names."""
        if not organs & self._paired:
            return set(), rest
        is_romance = any(word in self._romance for word in words)
        letters = _ROMANCE_WORDS_SIDES if is_romance else _ROMANCE_SIDES
        # "i" became "inferior", which beside a paired organ of a Romance name it is not.
        given = {**letters, "inferior": "left"} if is_romance and "i" in words else letters
        sides = {given[word] for word in rest if word in given}
        return sides, [word for word in rest if word not in given]

    def _plurals(self, organs: set[str], rest: list[str]) -> tuple[set[str], set[str], list[str]]:
        """Organs in the plural: of paired ones both sides are meant."""
        sides: set[str] = set()
        kept = []
        for word in rest:
            single, _ = (
                self._organs([word[:-1]]) if word.endswith("s") and len(word) > 3 else ((), 0)
            )
            organs = organs | set(single)
            sides |= {"both"} if set(single) & self._paired else set()
            kept += [] if single else [word]
        return sides, organs, kept

    def _corrected(
        self, organs: set[str], rest: list[str], unknown: set[str]
    ) -> tuple[frozenset[str], frozenset[str]] | None:
        """Organs and other words once unknown words are corrected; None if there is any doubt."""
        if not unknown or len(unknown) > _MOST_CORRECTED:
            return None
        choices = [self._corrections(word) for word in sorted(unknown)]
        readings = set()
        for chosen in product(*choices):
            # Known words of an organ may need the corrected one: "otpic nerve".
            found, left = self._organs([*(word for word in rest if word not in unknown), *chosen])
            readings.add((frozenset(organs | found), frozenset(left) - _KINDS))
        return readings.pop() if len(readings) == 1 else None

    def _corrections(self, word: str) -> set[str]:
        """Known words that one slip makes of a word, or that begin with it."""
        if len(word) < _LEAST_LETTERS:
            return set()
        known = [one for one in self._organs_of if len(one) >= _LEAST_LETTERS]
        near = {one for one in known if _is_one_slip(word, one)}
        return near or {one for one in known if one.startswith(word)}


#: What may be written as one with a target: LCTVn65, CTVNL54, GTVnodes.
_AROUND_TARGETS = frozenset({"l", "r", "lt", "rt", "p", "n", "t", "prim", "primary", "node",
                             "nodes", "nodal", "left", "right", "ln"})  # fmt: skip


def _plain(text: str) -> str:
    """Small letters without accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _divided(run: str, known: Collection[str]) -> list[str] | None:
    """As few known words as make up a run of letters; None if none do."""
    if not run:
        return []
    best: list[list[str] | None] = [[]] + [None] * len(run)
    for end in range(1, len(run) + 1):
        for begin in range(end):
            head = best[begin]
            if head is None or run[begin:end] not in known:
                continue
            if best[end] is None or len(head) + 1 < len(best[end] or ()):
                best[end] = [*head, run[begin:end]]
    return best[-1]


def _levels(words: list[str], numbers: list[str], is_target: bool) -> tuple[list[str], list[str]]:
    """Words without numbers and levels, and these in one spelling: II a and 2A are 2a."""
    has_levels = bool(_LEVEL_WORDS & {_SAME.get(word, word) for word in words}) and not is_target
    kept: list[str] = []
    levels: list[str] = []
    for word in words:
        level = _LEVEL.fullmatch(word) if has_levels else None
        if level is not None and (level[1].isdigit() or level[1] in _ROMAN):
            levels.append(f"{level[1] if level[1].isdigit() else _ROMAN.index(level[1])}{level[2]}")
        elif word in numbers:
            levels.append(_number(word, is_target))
        elif word in _ROMAN[2:] and word not in ("v", "x"):
            levels.append(str(_ROMAN.index(word)))
        elif has_levels and word in ("a", "b", "c") and levels:
            levels[-1] += word
        else:
            kept.append(word)
    return kept, levels


def _number(text: str, is_dose: bool) -> str:
    value = float(text)
    return f"{value / 100 if is_dose and value >= _LEAST_CGY else value:g}"


def _is_one_slip(word: str, other: str) -> bool:
    """Whether one letter is missing, added or wrong, or two neighbours are exchanged."""
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    at = next((n for n, pair in enumerate(zip(word, other, strict=False)) if len({*pair}) > 1),
              min(len(word), len(other)))  # fmt: skip
    a, b = word[at:], other[at:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])


def _alternatives(text: str) -> Iterator[list[str]]:
    """Every phrase that a text with a/b and (a) stands for."""
    choices = []
    for part in re.findall(r"\([^)]*\)|\S+", _plain(text)):
        words = part.strip("()").split("/")
        choices.append(["", *words] if part.startswith("(") else words)
    for chosen in product(*choices):
        words = [_SAME.get(word, word) for one in chosen for word in one.split()]
        if words:
            yield words


def read_words(path: PathLike) -> list[dict[str, str]]:
    """The rows of a table of what organs are called: columns organ, names; paired, romance."""
    content = read_bytes(Path(path)).decode("utf-8-sig", errors="replace")
    lines = [line for line in content.splitlines() if not line.startswith("#")]
    table = csv.DictReader(io.StringIO("\n".join(lines)))
    if not {"organ", "names"} <= set(table.fieldnames or ()):
        raise FileError("must have the columns organ and names, and may have paired and romance",
                        path=path)  # fmt: skip
    return [{key: value or "" for key, value in row.items() if key} for row in table]


@cache
def usual_words() -> StructureWords:
    """The table that comes with the package."""
    return StructureWords(read_words(Path(__file__).with_name("structure_words.csv")))


def words_with(path: PathLike | None) -> StructureWords:
    """The table that comes with the package, and before it the rows of a file."""
    if path is None:
        return usual_words()
    usual = read_words(Path(__file__).with_name("structure_words.csv"))
    return StructureWords([*read_words(path), *usual])
