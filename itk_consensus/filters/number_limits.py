"""Limits of numbers: how to say them, and what no parameter takes whatever its own limits are."""

from __future__ import annotations

from typing import Any

# Whole numbers of a parameter are counts, indices or labels, and labels go up to uint64.
_INDEX_RANGE = (-(2**63), 2**64 - 1)
# Counts, weights and tolerances beyond this drown the data they are added to or compared with.
_LARGEST_AMOUNT = 1e15


class BeyondRange(ValueError):
    """A number that no parameter takes, whatever its own limits; the text says what would do."""


def limits(low: float | None, high: float | None, exclusive: bool = False) -> str:
    """The limits in words, after a blank; empty without any."""
    more, less = (">", "<") if exclusive else (">=", "<=")
    words = [f"{more} {_number(low)}"] if low is not None else []
    words += [f"{less} {_number(high)}"] if high is not None else []
    return " " + " and ".join(words) if words else ""


def check_limits(
    value: float, low: float | None, high: float | None, exclusive: bool = False
) -> None:
    """Raise ValueError unless a number is within a parameter's own limits."""
    too_low = low is not None and (value < low or (exclusive and value == low))
    if too_low or (high is not None and (value > high or (exclusive and value == high))):
        raise ValueError


def as_double(number: Any) -> float:
    """A real number of any type as a double."""
    try:
        return float(number)
    except OverflowError:
        raise BeyondRange("a number that a double can hold") from None


def check_index(value: int) -> None:
    """Raise BeyondRange if no index and no label is this large."""
    _check_range(value, *_INDEX_RANGE)


def check_amount(value: float, low: float | None, high: float | None, exclusive: bool) -> None:
    """Raise BeyondRange for an amount that is too much of anything, or almost nothing.

    What must be above 0 is divided by, or its logarithm is taken: that must stay among the doubles.
    """
    if low == 0 and exclusive:
        _check_range(value, 1 / _LARGEST_AMOUNT, _LARGEST_AMOUNT if high is None else high)
    elif low is not None and high is None:
        _check_range(value, low, _LARGEST_AMOUNT)


def _check_range(value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise BeyondRange(f"a number from {_number(low)} to {_number(high)}")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def number_in(value: Any) -> Any:
    """The number that an array or tensor without axes holds; everything else as it is."""
    has_no_axes = getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    return value.item() if has_no_axes else value


def shown(value: Any) -> str:
    """A value in a message, cut short if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write out integers of thousands of digits
        text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= 80 else f"{text[:77]}..."
