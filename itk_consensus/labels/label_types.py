"""Which integer type an output label map has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import InputError

_UNSIGNED = (np.uint8, np.uint16, np.uint32, np.uint64)
_SIGNED = (np.int8, np.int16, np.int32, np.int64)


def holds(dtype: np.dtype[Any], values: Iterable[int]) -> bool:
    """Whether every value fits the integer type."""
    limits = np.iinfo(dtype)
    return all(limits.min <= value <= limits.max for value in values)


def smallest_type(values: Iterable[int]) -> np.dtype[Any]:
    """The smallest integer type that holds the values, unsigned if none is negative."""
    values = list(values)
    for candidate in _SIGNED if min(values, default=0) < 0 else _UNSIGNED:
        if holds(np.dtype(candidate), values):
            return np.dtype(candidate)
    raise InputError(f"no integer type holds the labels {min(values)} to {max(values)}")


def common_type(inputs: Iterable[NDArray[Any] | None], labels: Iterable[int]) -> np.dtype[Any]:
    """The type of a label map made from these inputs: theirs, if it is one integer type.

    Floating and Boolean inputs, and those whose type cannot hold the labels, give the smallest
    integer type that does.
    """
    labels = list(labels)
    types = {array.dtype.newbyteorder("=") for array in inputs if array is not None}
    common = np.result_type(*types)
    if any(dtype.kind not in "ui" for dtype in types) or common.kind not in "ui":
        return smallest_type(labels)
    return common if holds(common, labels) else smallest_type(labels)


def widened(dtype: np.dtype[Any], value: int) -> np.dtype[Any]:
    """The same type, or the next wider one of its family that holds the value too."""
    for candidate in _SIGNED if dtype.kind == "i" else _UNSIGNED:
        wider = np.dtype(candidate)
        if wider.itemsize >= dtype.itemsize and holds(wider, [value]):
            return wider
    raise InputError(f"no integer type of the labels' kind holds the undecided label {value}")


def fits(value: float, dtype: np.dtype[Any]) -> bool:
    """Whether an array of this type can hold exactly this value at all."""
    if dtype.kind == "f":
        return abs(value) <= np.finfo(dtype).max and float(dtype.type(value)) == value
    limits = np.iinfo(dtype)
    return value == int(value) and limits.min <= int(value) <= limits.max


def exact(values: Sequence[float], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Values as an array of this type, integers never passing through float."""
    whole = dtype.kind != "f"
    return np.array([int(value) if whole else value for value in values], dtype=dtype)
