"""Values of filters as print shows them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itk_consensus.filters.parameters import Deferred, Measurement
from itk_consensus.filters.runs import Runs

if TYPE_CHECKING:
    from itk_consensus.filters.process_object import ProcessObject


def measured(measurement: Measurement[Any], filter_: ProcessObject) -> str:
    """A measurement; of arrays the shape, and of records the fields."""
    value = filter_._measured[measurement.name]
    if isinstance(value, Deferred) and value.reads_inputs:
        return "(computed when asked for)"
    return _in_short(measurement.value_of(filter_))


def _in_short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if not is_dataclass(value):
        return printed(value)
    names = [one.name for one in fields(value) if one.repr]
    shown = ", ".join(f"{name}={_in_short(getattr(value, name))}" for name in names)
    return f"{type(value).__name__}({shown})"


def printed(value: Any) -> str:
    """A parameter's value; images are not shown."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "[" + ", ".join(printed(member) for member in value) + "]"
    if holds_image(value):
        return "(image)"
    return repr(value) if isinstance(value, Runs) else str(value)


def holds_image(value: Any) -> bool:
    """Whether a parameter's value is an image, or a list with one."""
    if isinstance(value, tuple):
        return any(holds_image(member) for member in value)
    return not isinstance(value, (int, float, str, bool, dict, Runs, type(None)))
