"""How values of parameters and measurements are printed, and which of them are images."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np

from itk_consensus.filters.parameters import GlobalDefaults


def printed_measurement(value: Any) -> str:
    """A measurement, which may be an array or a record too large to print."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    return f"({type(value).__name__})" if is_dataclass(value) else printed(value)


def printed(value: Any) -> str:
    """A parameter's value."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "[" + ", ".join(printed(member) for member in value) + "]"
    if holds_image(value):
        return "(image)"
    return repr(value) if isinstance(value, GlobalDefaults) else str(value)


def holds_image(value: Any) -> bool:
    """Whether a parameter's value is an image, or a list with one; filters are none."""
    if isinstance(value, tuple):
        return any(holds_image(member) for member in value)
    return not isinstance(value, (int, float, str, bool, dict, GlobalDefaults, type(None)))
