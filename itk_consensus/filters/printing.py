"""Values of filters as print shows them."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from itk_consensus.filters.parameters import Deferred, Measurement
from itk_consensus.filters.runs import Runs

if TYPE_CHECKING:
    from itk_consensus.filters.process_object import ProcessObject


def measured(measurement: Measurement[Any], filter_: ProcessObject) -> str:
    """A measurement, which may be an array or a record too large to print."""
    value = filter_._measured[measurement.name]
    if isinstance(value, Deferred) and value.reads_inputs:
        return "(computed when asked for)"
    value = measurement.value_of(filter_)
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return f"({type(value).__name__})" if is_dataclass(value) else printed(value)


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
