"""Parsing of free-text names of structures into organ, side and numbers.

"left parotid", "Parotid_L", "PAROTID LT" and "Parotis li" have the same meaning. Sides and numbers
are never guessed: an ambiguous letter is treated like any other word.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
#: Letters that denote sides in Romance languages; used only for paired organs with Romance words.
_ROMANCE_SIDES = {"g": "left", "d": "right"}
#: Words that mean both sides of a paired organ.
_TOTALS = {"total", "tot", "sum", "combined", "comb"}
#: Abbreviations of sides that may be attached to a word.
_ATTACHED_SIDES = {"l", "r", "lt", "rt"}
_ROMANCE_WORDS_SIDES = {**_ROMANCE_SIDES, "i": "left", "e": "left"}

#: Words for target volumes, and words that accompany them.
_TARGETS = {"gtv", "ctv", "ptv", "itv", "igtv", "hrctv"}
_TARGET_WORDS = {
    "p": "primary", "t": "primary", "prim": "primary", "primary": "primary", "tumor": "primary",
    "tumour": "primary", "n": "node", "nodal": "node", "nodes": "node",
}  # fmt: skip

#: Synonyms that apply in any name.
_SYNONYMS = {
    "s": "superior", "sup": "superior", "upper": "superior", "superior": "superior",
    "i": "inferior", "inf": "inferior", "lower": "inferior", "low": "inferior",
    "m": "middle", "mid": "middle", "med": "medial", "lat": "lateral", "ant": "anterior",
    "post": "posterior", "nodes": "node", "nodal": "node", "lymphknoten": "node", "lk": "node",
    "lnn": "ln", "levels": "level", "glands": "gland", "glande": "gland",
}  # fmt: skip

#: Words that turn a structure's name into the name of another structure derived from it.
_DERIVED = {
    "prv", "opt", "avoid", "ring", "shell", "wall", "eval", "block", "bolus", "core", "surf",
    "surface", "z", "zz", "minus", "in", "and", "dummy", "old", "edited", "copy", "help", "plan",
    "exp", "inner", "outer", "~", "+",
}  # fmt: skip
#: Words for the type of an organ, which are optional.
_KINDS = {"gland", "glnd", "bone", "musc", "muscle"}
#: Words without meaning.
_FILLERS = {"of", "the"}
_UNITS = {"gy", "cgy", "mm", "cm"}
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_LEVEL = re.compile(r"(\d{1,2}|[ivx]+)([abc]?)")
#: Words that occur in names with numbered levels.
_LEVEL_WORDS = {"level", "ln", "neck", "node", "cn", "cranial", "crn"}

#: Numbers of a target from this value on are interpreted as doses in cGy.
_LEAST_CGY = 1000
#: Minimum length of words that may be misspelled or truncated.
_LEAST_LETTERS = 5
#: Maximum length of runs of letters that are split; longer ones are not words, and would be slow.
_LONGEST_RUN = 64
#: Maximum number of unknown words in names that are corrected.
_MOST_CORRECTED = 2


@dataclass(frozen=True)
class StructureName:
    """The parsed name of a structure."""

    organs: frozenset[str]  #: TG-263 names without sides
    side: str  #: "left", "right", "both", or "" if there is none
    numbers: tuple[str, ...]  #: Numbers, doses and levels: ("2a",)
    others: frozenset[str]  #: All other words
    letters: str  #: The name without spaces, dashes and underscores
    #: Words among `others` that are not in the table
    unknown: frozenset[str] = field(default=frozenset(), compare=False)
    runs: tuple[str, ...] = field(default=(), compare=False)  #: Runs of letters in the name
    #: Organs and other words after correcting misspelled or truncated words, if unambiguous.
    corrected: tuple[frozenset[str], frozenset[str]] | None = field(default=None, compare=False)

    def is_same_as(self, other: StructureName) -> bool:
        """Whether two names have the same meaning."""
        if (self.side, self.numbers) != (other.side, other.numbers):
            return False
        return self.meaning == other.meaning or self.letters == other.letters

    @property
    def meaning(self) -> tuple[object, ...]:
        """The parts of a name that are compared."""
        return self.organs, self.side, self.numbers, self.others

    def contradicts(self, other: StructureName) -> bool:
        """Whether two names have different sides or numbers, and so differ in meaning."""
        sides = self.side and other.side and self.side != other.side
        numbers = self.numbers and other.numbers and self.numbers != other.numbers
        return bool(sides or numbers) or self._may_be_the_other_side_of(other)

    def _may_be_the_other_side_of(self, other: StructureName) -> bool:
        """Whether two names differ only by letters that may denote sides: MASTOIDL and MASTOIDR."""
        if not (self.unknown or other.unknown) or len(self.runs) != len(other.runs):
            return False
        unlike = [pair for pair in zip(self.runs, other.runs, strict=True) if len({*pair}) > 1]
        return len(unlike) == 1 and any(
            _without_side(one, "left") & _without_side(another, "right")
            for one, another in (unlike[0], unlike[0][::-1])
        )

    def excludes(self, other: StructureName) -> bool:
        """Whether sides, numbers or known words show that two names are different structures."""
        if self.contradicts(other):
            return True
        known = self.others - self.unknown, other.others - other.unknown
        if (known[0] ^ known[1]) & _DERIVED:
            return True
        # Remaining words may name a part: "superior constrictors" and "SPC" are the same.
        are_understood = not (self.others or other.others)
        return are_understood and bool(self.organs and other.organs) and self.organs != other.organs

    def resembles(self, other: StructureName) -> bool:
        """Whether two names with equal side and numbers are similar enough to propose a match."""
        if (self.side, self.numbers) != (other.side, other.numbers) or self.excludes(other):
            return False
        if self.is_same_as(other):
            return True
        mine, theirs = (one.corrected or (one.organs, one.others) for one in (self, other))
        if mine == theirs:
            return True
        if not (self.unknown and other.unknown):
            return False
        # Only unknown words may be misspelled: artery and vein with the same name are two
        # structures.
        known = [(one.organs, one.others - one.unknown) for one in (self, other)]
        if known[0] != known[1] or _unmistakable(self.unknown) != _unmistakable(other.unknown):
            return False
        pairs = zip(sorted(self.unknown), sorted(other.unknown), strict=False)
        return len(self.unknown) == len(other.unknown) and all(
            one == another or _is_one_slip(one, another) for one, another in pairs
        )


@dataclass(frozen=True)
class _Phrase:
    organ: str
    words: Counter[str]
    is_romance: bool


class StructureWords:
    """A table of organ names, used to parse names of structures.

    Parameters
    ----------
    rows : iterable of mapping
        Rows with organ, paired ("yes"), names and romance, as explained in `structure_words.csv`.
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
        # Sort by length, the longest phrases first; a stable sort keeps the order of equally long
        # ones.
        self._phrases.sort(key=lambda phrase: -phrase.words.total())
        self._organs_of: dict[str, set[str]] = {}
        for phrase in self._phrases:
            for word in phrase.words:
                self._organs_of.setdefault(word, set()).add(phrase.organ)
        self._read = cache(self._read_once)

    def read(self, name: str) -> StructureName:
        """Parse a name."""
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
        rest = [word for word in words if word not in _SIDE_OF.keys() | _UNITS | _FILLERS]
        rest = [word if is_target else _SYNONYMS.get(word, word) for word in rest]
        rest, is_plural = self._singulars(rest)
        every = rest
        organs, rest = self._organs(rest)
        if is_target:
            organs |= _TARGETS & set(rest)
            rest = [word for word in rest if word not in _TARGETS]
        if not sides:
            sides, rest = self._romance_sides(words, rest, organs)
        if organs & self._paired:
            is_both = is_plural or _TOTALS & set(rest)
            rest = [word for word in rest if word not in _TOTALS]
            sides = sides or ({"both"} if is_both else set())
        elif organs and not is_target:
            sides -= {"both"}
        unknown = {word for word in rest if not self._is_word(word)} - set(_TARGET_WORDS.values())
        return StructureName(
            frozenset(organs),
            "both" if len(sides) > 1 else next(iter(sides), ""),
            tuple(sorted(levels)),
            frozenset(rest),
            letters,
            frozenset(unknown),
            tuple(re.findall(r"[^\W\d_]+", _plain(name))),
            self._correct(every, unknown),
        )

    def _words(self, name: str) -> tuple[list[str], list[str]]:
        """Split a name into words and numbers, in lower case without accents."""
        # A capital after a lower-case letter starts a new word: OpticNrv_L, SubMandG.
        spaced = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", name)
        words: list[str] = []
        numbers: list[str] = []
        for run in re.findall(r"\d+(?:[.,]\d+)?|[^\W\d_]+|[~+]", _plain(spaced)):
            if run[0].isdigit():
                numbers.append(run.replace(",", "."))
                words.append(run.replace(",", "."))
            else:
                words += self._split(_correct_side(run))
        return words, numbers

    def _split(self, run: str) -> list[str]:
        """Split a run of letters into known words; return it whole if that is impossible."""
        if self._is_word(run) or not 2 < len(run) <= _LONGEST_RUN:
            return [run]
        target = next((one for one in _TARGETS if one in run), None)
        if target is not None:
            before, _, after = run.partition(target)
            ends = [_divide(end, _AROUND_TARGETS) for end in (before, after)]
            if ends[0] is not None and ends[1] is not None:
                return [*ends[0], target, *ends[1]]
        parts = _divide(run, self._known)
        if parts is not None:
            return parts
        word_and_side = self._split_side(run)
        if word_and_side is not None:
            return word_and_side
        if run[-1] in _ROMANCE_SIDES:  # PAROTIDEG, OREILLEINTERNED
            words = _divide(run[:-1], self._known) or []
            if self._romance & set(words) and self._organs(words)[0] & self._paired:
                return [*words, run[-1]]
        return [run]

    def _split_side(self, run: str) -> list[str] | None:
        """Split off a side before or after a word, as in LPAROTID, RON, SMGL, EYELT."""
        for length in (2, 1):
            side, rest = run[:length], run[length:]
            if side in _ATTACHED_SIDES and len(rest) > 3:
                divided = [rest] if self._is_word(rest) else _divide(rest, self._known)
                if divided is not None:
                    return [side, *divided]
            if side in _ATTACHED_SIDES and rest in self._paired_names:
                return [side, rest]
            rest, side = run[:-length], run[-length:]
            # A word that ends in -al or -ar may be an adjective: orbital, costal, cochlear.
            if side in _ATTACHED_SIDES and not (length == 1 and rest.endswith("a")):
                if rest in self._paired_names:
                    return [rest, side]
                divided = _divide(rest, self._known) or []
                if self._organs(divided)[0] & self._paired:
                    return [*divided, side]
        return None

    @cached_property
    def _paired_names(self) -> set[str]:
        """Return single words of at least two letters that name a paired organ: on, smg."""
        names = [phrase for phrase in self._phrases if phrase.words.total() == 1]
        words = {word for one in names if one.organ in self._paired for word in one.words}
        # Lymph nodes and cranial nerves are numbered and have no sides: rln is a nerve.
        return {word for word in words if len(word) > 1} - _LEVEL_WORDS

    def _is_word(self, word: str) -> bool:
        known = word in self._organs_of or word in _SIDE_OF or word in _DERIVED
        return known or word in _TARGETS or word in _SYNONYMS or word in _UNITS

    @cached_property
    def _known(self) -> frozenset[str]:
        """Return words that may be part of a run of letters; short ones would match anywhere."""
        words = {*self._organs_of, *_SIDE_OF, "prv", "avoid"}
        return frozenset(word for word in words if len(word) > 2)

    def _organs(self, words: list[str]) -> tuple[set[str], list[str]]:
        """Return the organs named by words, and the words that remain."""
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
        """Return the sides given by single letters for paired organs, and the remaining words."""
        if not organs & self._paired:
            return set(), rest
        is_romance = any(word in self._romance for word in words)
        letters = _ROMANCE_WORDS_SIDES if is_romance else _ROMANCE_SIDES
        # "i" was replaced by "inferior", but for a paired organ in a Romance name it means left.
        given = {**letters, "inferior": "left"} if is_romance and "i" in words else letters
        sides = {given[word] for word in rest if word in given}
        return sides, [word for word in rest if word not in given]

    def _singulars(self, words: list[str]) -> tuple[list[str], bool]:
        """Replace plurals by singulars; return the words and whether there were any plurals."""
        singulars = [
            word[:-1]
            if len(word) > 3 and word.endswith("s") and not self._is_word(word)
            and word[:-1] in self._organs_of
            else word
            for word in words
        ]  # fmt: skip
        return singulars, singulars != words

    def _correct(
        self, words: list[str], unknown: set[str]
    ) -> tuple[frozenset[str], frozenset[str]] | None:
        """Return organs and other words after correcting unknown words; None if ambiguous."""
        if not unknown or len(unknown) > _MOST_CORRECTED:
            return None
        choices = [self._corrections(word) for word in sorted(unknown)]
        readings = set()
        for chosen in product(*choices):
            # A phrase may consist of known and corrected words: "otpic nerve".
            found, left = self._organs([*(word for word in words if word not in unknown), *chosen])
            readings.add((frozenset(found), frozenset(left) - _KINDS))
        return readings.pop() if len(readings) == 1 else None

    def _corrections(self, word: str) -> set[str]:
        """Return known words that differ from a word by one typing error, or that start with it."""
        if len(word) < _LEAST_LETTERS - 1:
            return set()
        known = [one for one in self._organs_of if len(one) >= _LEAST_LETTERS]
        near = {one for one in known if _is_one_slip(word, one)}
        if near or len(word) < _LEAST_LETTERS:
            return near
        return {one for one in known if one.startswith(word)}


def _correct_side(run: str) -> str:
    """Correct transposed letters of left and right (rigth, letf); leave other words unchanged."""
    for side in ("left", "right"):
        if run[0] == side[0] and sorted(run) == sorted(side):
            return side
    return run


def _unmistakable(unknown: Collection[str]) -> Counter[str]:
    """Count words that no typing error explains: short words, and endings that may be sides."""
    short = [word for word in unknown if len(word) < _LEAST_LETTERS - 1]
    begins = [f"{side}-" for side in _ATTACHED_SIDES for word in unknown if word.startswith(side)]
    ends = [f"-{side}" for side in _ATTACHED_SIDES for word in unknown if word.endswith(side)]
    return Counter([*short, *begins, *ends])


def _without_side(run: str, side: str) -> set[str]:
    """Return the possible remainders of a run of letters after removing a side at either end."""
    short = [word for word, means in (_SIDE_OF | _ROMANCE_WORDS_SIDES).items() if means == side]
    begins = {run[len(word) :] for word in short if run.startswith(word)}
    return begins | {run[: -len(word)] for word in short if run.endswith(word)}


#: Abbreviations that may be attached to a target: LCTVn65, CTVNL54, GTVnodes.
_AROUND_TARGETS = frozenset({"l", "r", "lt", "rt", "p", "n", "t", "prim", "primary", "node",
                             "nodes", "nodal", "left", "right", "ln"})  # fmt: skip


def _plain(text: str) -> str:
    """Convert to lower case without accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


def _divide(run: str, known: Collection[str]) -> list[str] | None:
    """Split a run of letters into the smallest number of known words; None if impossible."""
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
    """Separate words from numbers and levels; levels are normalised: II a and 2A become 2a."""
    has_levels = (
        bool(_LEVEL_WORDS & {_SYNONYMS.get(word, word) for word in words}) and not is_target
    )
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
    """Whether words differ by one missing, added or wrong letter, or by a transposition."""
    if abs(len(word) - len(other)) > 1 or word == other:
        return False
    at = next((n for n, pair in enumerate(zip(word, other, strict=False)) if len({*pair}) > 1),
              min(len(word), len(other)))  # fmt: skip
    if at == 0:  # typing errors in the first letter are rare, and carotids are not parotids
        return False
    a, b = word[at:], other[at:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] == b[:2] and a[2:] == b[2:])


def _alternatives(text: str) -> Iterator[list[str]]:
    """Expand alternatives (a/b) and optional words ((a)) in a text to all phrases."""
    choices = []
    for part in re.findall(r"\([^)]*\)|\S+", _plain(text)):
        words = part.strip("()").split("/")
        choices.append(["", *words] if part.startswith("(") else words)
    for chosen in product(*choices):
        words = [_SYNONYMS.get(word, word) for one in chosen for word in one.split()]
        if words:
            yield words


def read_words(path: PathLike) -> list[dict[str, str]]:
    """Read a table of organ names with columns organ, names and optionally paired, romance."""
    content = read_bytes(Path(path)).decode("utf-8-sig", errors="replace")
    lines = [line for line in content.splitlines() if not line.startswith("#")]
    table = csv.DictReader(io.StringIO("\n".join(lines)))
    if not {"organ", "names"} <= set(table.fieldnames or ()):
        raise FileError("must have the columns organ and names, and may have paired and romance",
                        path=path)  # fmt: skip
    return [{key: value or "" for key, value in row.items() if key} for row in table]


@cache
def default_words() -> StructureWords:
    """Return the package's own table of organ names."""
    return StructureWords(read_words(Path(__file__).with_name("structure_words.csv")))


def words_with(path: PathLike | None) -> StructureWords:
    """Return the package's own table of organ names, preceded by the rows of a file if given."""
    if path is None:
        return default_words()
    usual = read_words(Path(__file__).with_name("structure_words.csv"))
    return StructureWords([*read_words(path), *usual])
