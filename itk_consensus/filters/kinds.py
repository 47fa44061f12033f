"""Kinds of parameter values: what is accepted, how to say so, how to read it from a command line.

One kind serves the setter, the keyword, the CLI option, the stub and the documentation table.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")

# Whole numbers of a parameter are counts, indices or labels, and labels go up to uint64.
_INDEX_RANGE = (-(2**63), 2**64 - 1)
# Counts, weights and tolerances beyond this drown the data they are added to or compared with.
_LARGEST_AMOUNT = 1e15


class BeyondRange(ValueError):
    """A number that no parameter takes, whatever its own limits; the text says what would do."""


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy, and not True or False."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


class Kind(Generic[T]):
    """A set of acceptable values."""

    #: How a stub file spells the type.
    annotation: str = "Any"

    @property
    def wanted(self) -> str:
        """What is accepted, for "must be ..."."""
        raise NotImplementedError

    def accept(self, value: Any) -> T:
        """Return the value in its own type, or raise ValueError or TypeError."""
        raise NotImplementedError

    def parse(self, text: str) -> T:
        """Read the value from a command line."""
        return self.accept(text)


@dataclass(frozen=True)
class Integer(Kind[int]):
    """A whole number between limits."""

    low: int | None = None
    high: int | None = None
    annotation = "int"

    @property
    def wanted(self) -> str:
        return "an integer" + _limits(self.low, self.high)

    def accept(self, value: Any) -> int:
        if not is_integer(value):
            raise TypeError
        _check_limits(int(value), self.low, self.high)
        _check_range(int(value), *_INDEX_RANGE)
        return int(value)

    def parse(self, text: str) -> int:
        return self.accept(int(text))


@dataclass(frozen=True)
class Real(Kind[float]):
    """A finite number between limits, which `exclusive` leaves out."""

    low: float | None = None
    high: float | None = None
    exclusive: bool = False
    annotation = "float"

    @property
    def wanted(self) -> str:
        return "a number" + _limits(self.low, self.high, self.exclusive)

    def accept(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError
        try:
            number = float(value)
        except OverflowError:
            raise BeyondRange("a number that a double can hold") from None
        if not math.isfinite(number):
            raise ValueError
        _check_limits(number, self.low, self.high, self.exclusive)
        if self.low is not None and self.high is None:
            _check_range(number, self.low, _LARGEST_AMOUNT)
        return number

    def parse(self, text: str) -> float:
        return self.accept(float(text))


@dataclass(frozen=True)
class Boolean(Kind[bool]):
    """True or False."""

    annotation = "bool"

    @property
    def wanted(self) -> str:
        return "True or False"

    def accept(self, value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or (
            isinstance(value, numbers.Integral) and value in (0, 1)
        ):
            return bool(value)
        raise TypeError

    def parse(self, text: str) -> bool:
        words = {"true": True, "yes": True, "on": True, "1": True}
        words |= {"false": False, "no": False, "off": False, "0": False}
        if text.lower() not in words:
            raise ValueError
        return words[text.lower()]


@dataclass(frozen=True)
class Choice(Kind[str]):
    """One of some names; upper and lower case do not matter."""

    names: tuple[str, ...]
    annotation = "str"

    @property
    def wanted(self) -> str:
        return "one of " + ", ".join(self.names)

    def accept(self, value: Any) -> str:
        for name in self.names:
            if isinstance(value, str) and value.lower() == name.lower():
                return name
        raise ValueError


@dataclass(frozen=True)
class Text(Kind[str]):
    """A name or a few words."""

    annotation = "str"

    @property
    def wanted(self) -> str:
        return "a text"

    def accept(self, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise TypeError
        return value


@dataclass(frozen=True)
class Reals(Kind[tuple[float, ...]]):
    """Several numbers: any number of them, or exactly `length`."""

    low: float | None = None
    high: float | None = None
    length: int | None = None
    increasing: bool = False
    annotation = "Sequence[float]"

    @property
    def wanted(self) -> str:
        many = "a list of numbers" if self.length is None else f"{self.length} numbers"
        order = " in increasing order" if self.increasing else ""
        return many + _limits(self.low, self.high) + order

    def accept(self, value: Any) -> tuple[float, ...]:
        if isinstance(value, (str, bytes, Mapping)):
            raise TypeError
        members = tuple(Real(self.low, self.high).accept(member) for member in value)
        if self.length is not None and len(members) != self.length:
            raise ValueError
        if self.increasing and any(a >= b for a, b in itertools.pairwise(members)):
            raise ValueError
        return members

    def parse(self, text: str) -> tuple[float, ...]:
        return self.accept([float(word) for word in text.replace(",", " ").split()])


@dataclass(frozen=True)
class Integers(Kind[tuple[int, ...]]):
    """Several whole numbers: any number of them, or exactly `length`."""

    low: int | None = None
    length: int | None = None
    annotation = "Sequence[int]"

    @property
    def wanted(self) -> str:
        many = "a list of integers" if self.length is None else f"{self.length} integers"
        return many + _limits(self.low, None)

    def accept(self, value: Any) -> tuple[int, ...]:
        if isinstance(value, (str, bytes, Mapping)):
            raise TypeError
        members = tuple(Integer(self.low).accept(member) for member in value)
        if self.length is not None and len(members) != self.length:
            raise ValueError
        return members

    def parse(self, text: str) -> tuple[int, ...]:
        return self.accept([int(word) for word in text.replace(",", " ").split()])


@dataclass(frozen=True)
class OneOf(Kind[Any]):
    """Whatever the first of several kinds accepts."""

    kinds: tuple[Kind[Any], ...]

    @property
    def annotation(self) -> str:  # type: ignore[override]
        return " | ".join(dict.fromkeys(kind.annotation for kind in self.kinds))

    @property
    def wanted(self) -> str:
        return ", or ".join(kind.wanted for kind in self.kinds)

    def accept(self, value: Any) -> Any:
        return self._first(lambda kind: kind.accept(value))

    def parse(self, text: str) -> Any:
        return self._first(lambda kind: kind.parse(text))

    def _first(self, attempt: Any) -> Any:
        reason = ValueError()
        for kind in self.kinds:
            try:
                return attempt(kind)
            except BeyondRange as error:
                reason = error
            except (TypeError, ValueError):
                continue
        raise reason


@dataclass(frozen=True)
class Nothing(Kind[None]):
    """None, for a parameter that can be left open."""

    annotation = "None"

    @property
    def wanted(self) -> str:
        return "None"

    def accept(self, value: Any) -> None:
        if value is not None:
            raise TypeError


@dataclass(frozen=True)
class LabelProbabilities(Kind[dict[int, float]]):
    """A probability for each of some labels."""

    annotation = "Mapping[int, float]"

    @property
    def wanted(self) -> str:
        return "a {label: probability} dict"

    def accept(self, value: Any) -> dict[int, float]:
        if not isinstance(value, Mapping):
            raise TypeError
        return {Integer().accept(k): Real(0.0, 1.0).accept(v) for k, v in value.items()}

    def parse(self, text: str) -> dict[int, float]:
        pairs = [pair.split(":") for pair in text.replace(",", " ").split()]
        return self.accept({int(label): float(share) for label, share in pairs})


@dataclass(frozen=True)
class ImageLike(Kind[Any]):
    """An image or array on the inputs' grid; its space is checked in Execute."""

    annotation = "Image"

    @property
    def wanted(self) -> str:
        return "an image"

    def accept(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, bytes, numbers.Number, Mapping, Sequence)):
            raise TypeError
        return value

    def parse(self, text: str) -> Any:
        raise ValueError


@dataclass(frozen=True)
class ImageList(Kind[tuple[Any, ...]]):
    """One image or None per rater."""

    annotation = "Sequence[Image | None]"

    @property
    def wanted(self) -> str:
        return "a list with an image or None for each rater"

    def accept(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return tuple(None if member is None else ImageLike().accept(member) for member in value)

    def parse(self, text: str) -> tuple[Any, ...]:
        raise ValueError


#: A distance in mm; nothing that is scanned is larger.
LENGTH = Real(low=0.0, high=1e5)


def optional(*kinds: Kind[Any]) -> OneOf:
    """These kinds, or None."""
    return OneOf((*kinds, Nothing()))


def _limits(low: float | None, high: float | None, exclusive: bool = False) -> str:
    more, less = (">", "<") if exclusive else (">=", "<=")
    words = [f"{more} {_number(low)}"] if low is not None else []
    words += [f"{less} {_number(high)}"] if high is not None else []
    return " " + " and ".join(words) if words else ""


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def _check_limits(
    value: float, low: float | None, high: float | None, exclusive: bool = False
) -> None:
    if low is not None and (value < low or (exclusive and value == low)):
        raise ValueError
    if high is not None and (value > high or (exclusive and value == high)):
        raise ValueError


def _check_range(value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise BeyondRange(f"a number from {_number(low)} to {_number(high)}")
