"""Constraints on values: validation, error messages, and parsing of command-line options.

The same constraint is used for the setter, keyword, CLI option, stub and documentation of a
parameter, and for the fields of records in files (`storage/record.py`).
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import numpy as np

T = TypeVar("T")
Name = TypeVar("Name", bound=str)

# Integers are counts, indices or labels; labels go up to uint64.
_INDEX_RANGE = (-(2**63), 2**64 - 1)
# Larger weights and tolerances would swamp the data to which they are added or compared.
_LARGEST_AMOUNT = 1e15
_LONGEST_TEXT = 10_000


class BeyondRange(ValueError):
    """A number outside the range of any parameter; the text states which values are accepted."""


def is_integer(value: Any) -> bool:
    """Return whether a value is a Python or NumPy integer, but not a Boolean."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def as_scalar(value: Any) -> Any:
    """Convert an array or tensor without axes to a scalar; return other values unchanged."""
    has_no_axes = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    return value.item() if has_no_axes else value


def short_repr(value: Any) -> str:
    """Return the repr of a value for messages, truncated if it is long."""
    try:
        text = repr(value)
    # integers with thousands of digits, or deeply nested lists
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= 80 else f"{text[:77]}..."


class Kind(Generic[T]):
    """A set of acceptable values."""

    #: Type annotation in the stub file.
    annotation: str = "Any"

    @property
    def wanted(self) -> str:
        """Description of accepted values, for messages: "must be ..."."""
        raise NotImplementedError

    def accept(self, value: Any) -> T:
        """Validate and convert the value, or raise ValueError or TypeError."""
        raise NotImplementedError

    def parse(self, text: str) -> T:
        """Parse the value from a command line."""
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
        if not isinstance(value, numbers.Integral):  # True counts as 1, as in SimpleITK
            raise TypeError
        _check_limits(int(value), self.low, self.high)
        _check_range(int(value), *_INDEX_RANGE)
        return int(value)

    def parse(self, text: str) -> int:
        return self.accept(int(text))


@dataclass(frozen=True)
class Real(Kind[float]):
    """A finite number between limits, which are excluded if `exclusive`."""

    low: float | None = None
    high: float | None = None
    exclusive: bool = False
    annotation = "float"

    @property
    def wanted(self) -> str:
        return "a number" + _limits(self.low, self.high, self.exclusive)

    def accept(self, value: Any) -> float:
        if not isinstance(value, numbers.Real):
            raise TypeError
        try:
            number = float(value)
        except OverflowError:
            raise BeyondRange("a number in the range of float64") from None
        if not math.isfinite(number):
            raise ValueError
        _check_limits(number, self.low, self.high, self.exclusive)
        # Values that must be > 0 are used as divisors or in logarithms, so the results must also be
        # finite.
        if self.low == 0 and self.exclusive:
            _check_range(number, 1 / _LARGEST_AMOUNT, self.high or _LARGEST_AMOUNT)
        elif self.low is not None and self.high is None:
            _check_range(number, self.low, _LARGEST_AMOUNT)
        return number

    def parse(self, text: str) -> float:
        return self.accept(float(text))


@dataclass(frozen=True)
class Boolean(Kind[bool]):
    """True or False."""

    annotation = "bool"
    wanted = "True or False"

    def accept(self, value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or (is_integer(value) and value in (0, 1)):
            return bool(value)
        raise TypeError

    def parse(self, text: str) -> bool:
        if text.lower() not in ("true", "yes", "on", "1", "false", "no", "off", "0"):
            raise ValueError
        return text.lower() in ("true", "yes", "on", "1")


@dataclass(frozen=True)
class Choice(Kind[Name]):
    """One of several names; case, spaces, dashes and underscores are ignored."""

    names: tuple[Name, ...]
    annotation = "str"

    @property
    def wanted(self) -> str:
        return "one of " + ", ".join(self.names)

    def accept(self, value: Any) -> Name:
        for name in self.names:
            if isinstance(value, str) and _letters(value) == _letters(name):
                return name
        raise ValueError


@dataclass(frozen=True)
class Text(Kind[str]):
    """A short text that can be encoded as UTF-8."""

    may_be_empty: bool = False
    annotation = "str"
    wanted = "a text"

    def accept(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
            raise TypeError
        if value.encode(errors="ignore").decode() != value or not (value or self.may_be_empty):
            raise ValueError
        return value


@dataclass(frozen=True)
class Reals(Kind[tuple[float, ...]]):
    """A list of numbers, of any length or of exactly `length`."""

    low: float | None = None
    high: float | None = None
    length: int | None = None
    increasing: bool = False
    annotation = "Sequence[float]"

    @property
    def wanted(self) -> str:
        order = " in increasing order" if self.increasing else ""
        return _several("numbers", self.length) + _limits(self.low, self.high) + order

    def accept(self, value: Any) -> tuple[float, ...]:
        members = _members(value, Real(self.low, self.high), self.length)
        if self.increasing and any(a >= b for a, b in itertools.pairwise(members)):
            raise ValueError
        return members

    def parse(self, text: str) -> tuple[float, ...]:
        return self.accept([float(word) for word in text.replace(",", " ").split()])


@dataclass(frozen=True)
class Integers(Kind[tuple[int, ...]]):
    """A list of integers, of any length or of exactly `length`."""

    low: int | None = None
    length: int | None = None
    annotation = "Sequence[int]"

    @property
    def wanted(self) -> str:
        return _several("integers", self.length) + _limits(self.low, None)

    def accept(self, value: Any) -> tuple[int, ...]:
        return _members(value, Integer(self.low), self.length)

    def parse(self, text: str) -> tuple[int, ...]:
        return self.accept([int(word) for word in text.replace(",", " ").split()])


@dataclass(frozen=True)
class OneOf(Kind[T]):
    """A value accepted by any of several constraints; the first one that accepts it converts it."""

    kinds: tuple[Kind[Any], ...]

    @property
    def annotation(self) -> str:  # type: ignore[override]
        return " | ".join(dict.fromkeys(kind.annotation for kind in self.kinds))

    @property
    def wanted(self) -> str:
        return ", or ".join(kind.wanted for kind in self.kinds)

    def accept(self, value: Any) -> T:
        return self._first(lambda kind: kind.accept(value))

    def parse(self, text: str) -> T:
        return self._first(lambda kind: kind.parse(text))

    def _first(self, attempt: Callable[[Kind[Any]], T]) -> T:
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
    """None, for an optional parameter."""

    annotation = "None"
    wanted = "None"

    def accept(self, value: Any) -> None:
        if value is not None:
            raise TypeError


@dataclass(frozen=True)
class LabelProbabilities(Kind[dict[int, float]]):
    """A probability for each of a set of labels."""

    annotation = "Mapping[int, float]"
    wanted = "a {label: probability} dict"

    def accept(self, value: Any) -> dict[int, float]:
        if not isinstance(value, Mapping):
            raise TypeError
        return {Integer().accept(k): Real(0.0, 1.0).accept(v) for k, v in value.items()}

    def parse(self, text: str) -> dict[int, float]:
        pairs = [pair.split(":") for pair in text.replace(",", " ").split()]
        return self.accept({int(label): float(share) for label, share in pairs})


@dataclass(frozen=True)
class NamedReals(Kind[dict[str, float]]):
    """A mapping from some of these names to numbers >= 0."""

    names: tuple[str, ...]

    annotation = "Mapping[str, float]"

    @property
    def wanted(self) -> str:
        """Description of accepted values, with the names."""
        return f"a {{name: number >= 0}} dict with names among {', '.join(self.names)}"

    def accept(self, value: Any) -> dict[str, float]:
        """Validate the names and values."""
        if not isinstance(value, Mapping):
            raise TypeError
        if not all(name in self.names for name in value):
            raise ValueError
        return {str(name): Real(0.0).accept(number) for name, number in value.items()}

    def parse(self, text: str) -> dict[str, float]:
        """Parse name:number,name:number; dashes in names become underscores."""
        pairs = [pair.split(":") for pair in text.replace(",", " ").split()]
        return self.accept({name.replace("-", "_"): float(number) for name, number in pairs})


@dataclass(frozen=True)
class ImageLike(Kind[Any]):
    """An image or array; its geometry is compared with that of the inputs in Execute."""

    annotation = "Image"
    wanted = "an image"

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
    wanted = "a list with an image or None for each rater"

    def accept(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return tuple(None if member is None else ImageLike().accept(member) for member in value)

    def parse(self, text: str) -> tuple[Any, ...]:
        raise ValueError


@dataclass(frozen=True)
class Modalities(Kind[Any]):
    """An image, whose components (if several) are modalities, or a list of images."""

    annotation = "Image | Sequence[Image]"
    wanted = "an image, or a list with an image for each modality"

    def accept(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            if not value:
                raise TypeError
            return tuple(ImageLike().accept(member) for member in value)
        return ImageLike().accept(value)

    def parse(self, text: str) -> Any:
        raise ValueError


@dataclass(frozen=True)
class ModalitiesList(Kind[tuple[Any, ...]]):
    """The modalities of each atlas, or None."""

    annotation = "Sequence[Image | Sequence[Image] | None]"
    wanted = "a list that has, for each rater, an image, a list of images (modalities) or None"

    def accept(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)):
            raise TypeError
        return tuple(None if member is None else Modalities().accept(member) for member in value)

    def parse(self, text: str) -> tuple[Any, ...]:
        raise ValueError


@dataclass(frozen=True)
class LabelImages(Kind[dict[int, Any]]):
    """An image for each of a set of labels."""

    annotation = "Mapping[int, Image]"
    wanted = "a dict with an image for each of some labels"

    def accept(self, value: Any) -> dict[int, Any]:
        if not isinstance(value, Mapping):
            raise TypeError
        return {Integer().accept(k): ImageLike().accept(image) for k, image in value.items()}

    def parse(self, text: str) -> dict[int, Any]:
        raise ValueError


#: A distance in mm; no scanned object is larger.
LENGTH = Real(low=0.0, high=1e5)


@overload
def optional(kind: Kind[T], /) -> OneOf[T | None]: ...
@overload
def optional(*kinds: Kind[Any]) -> OneOf[Any]: ...
def optional(*kinds: Kind[Any]) -> OneOf[Any]:
    """Return a constraint that accepts these kinds, or None."""
    return OneOf((*kinds, Nothing()))


def _limits(low: float | None, high: float | None, exclusive: bool = False) -> str:
    """Format the limits, with a leading space; empty if there are none."""
    more, less = (">", "<") if exclusive else (">=", "<=")
    words = [f"{more} {_number(low)}"] if low is not None else []
    words += [f"{less} {_number(high)}"] if high is not None else []
    return " " + " and ".join(words) if words else ""


def _check_limits(
    value: float, low: float | None, high: float | None, exclusive: bool = False
) -> None:
    too_low = low is not None and (value < low or (exclusive and value == low))
    if too_low or (high is not None and (value > high or (exclusive and value == high))):
        raise ValueError


def _check_range(value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise BeyondRange(f"a number from {_number(low)} to {_number(high)}")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def _several(what: str, length: int | None) -> str:
    return f"a list of {what}" if length is None else f"{length} {what}"


def _members(value: Any, kind: Kind[T], length: int | None) -> tuple[T, ...]:
    if isinstance(value, (str, bytes, Mapping)):
        raise TypeError
    members = tuple(kind.accept(member) for member in value)
    if length is not None and len(members) != length:
        raise ValueError
    return members


def _letters(name: str) -> str:
    return name.lower().translate(str.maketrans("", "", " -_"))
