"""Grey-value windows (center and width) for the display of images."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import ParameterError
from itk_consensus.space.boxes import bounding_box, grow_box

#: Only CT has values below this; air has -1000 HU.
_BELOW_ALL_BUT_CT = -500
#: Fat has -100 HU, so a part of a CT without air has integer values below this; an interpolated MR
#: image has at most a few negative values.
_FAT_BELOW = -50
_LEAST_FAT = 0.01


class GreyWindow(NamedTuple):
    """A named window: width and center (level) of the displayed grey values."""

    name: str
    width: float
    level: float

    @property
    def limits(self) -> tuple[float, float]:
        """The values displayed as black and as white."""
        return self.level - self.width / 2, self.level + self.width / 2

    def __str__(self) -> str:
        return f"{self.name} (center {self.level:.4g}, width {self.width:.4g})"


CT_WINDOWS = (
    GreyWindow("soft tissue", 400, 40),
    GreyWindow("lung", 1500, -600),
    GreyWindow("bone", 1800, 400),
    GreyWindow("brain", 80, 40),
    GreyWindow("liver", 150, 90),
)

#: Description of the texts accepted by `window_of`, for messages.
WINDOW_WORDS = f"center,width or one of {', '.join(one.name for one in CT_WINDOWS)}"

#: The median of a lung, and of what surrounds a structure in it, is below this, in HU; fat is
#: about -100.
_LUNG_BELOW = -400

#: The median of a bone is above this, in HU.
_BONE_ABOVE = 250

#: Range of grey and white matter in HU; muscle has higher values, and is surrounded by fat.
_BRAIN_BETWEEN = (15, 48)
#: Maximum fraction of fat and air around a part of the brain.
_MOST_FAT_AT_BRAIN = 0.05
#: Minimum fraction of bone in a head; a trunk has a third of that.
_LEAST_BONE_OF_A_HEAD = 0.08
#: Values above this, in HU, belong to the body.
_BODY_ABOVE = -300

#: Margin of the surroundings of a structure, in voxels.
_SURROUNDING_VOXELS = 5


def window_of(text: str) -> GreyWindow:
    """Parse a window from "center,width", e.g. "40,400", or from the name of a CT window."""
    for window in CT_WINDOWS:
        if window.name == text.strip().lower().replace("-", " ").replace("_", " "):
            return window
    number = r"\s*([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?)\s*"
    found = re.fullmatch(f"{number},{number}", text, re.IGNORECASE)
    if found and 0 < float(found[2]) < float("inf") and abs(float(found[1])) < float("inf"):
        return GreyWindow("as asked", float(found[2]), float(found[1]))
    raise ParameterError(f"window must be {WINDOW_WORDS}, got {text!a}")


def as_window(given: tuple[float, float] | str) -> GreyWindow:
    """Convert (center, width), or a text that `window_of` accepts, to a window."""
    if isinstance(given, GreyWindow):
        return given
    return window_of(given if isinstance(given, str) else ",".join(map(repr, map(float, given))))


def windows_for(image: NDArray[Any], structure: Mask | None = None) -> list[GreyWindow]:
    """Return windows suitable for an image: CT windows for HU, and two fitted to the values.

    The first one is the usual window for the structure.
    """
    some = image.reshape(-1)[:: max(1, image.size // 100_000)]
    integers = np.issubdtype(some.dtype, np.integer) or bool(np.all(some == np.rint(some)))
    some = some.astype(np.float64)
    some = some[np.isfinite(some)]
    if not some.size:
        return [GreyWindow("all values", 1, 0)]
    low, high = np.percentile(_body(some), (1, 99))
    whole = (float(some.min()), float(some.max()))
    fitted = [
        GreyWindow("1 to 99 %", max(float(high - low), 1e-6), float(high + low) / 2),
        GreyWindow("all values", max(whole[1] - whole[0], 1e-6), sum(whole) / 2),
    ]
    has_fat = integers and np.mean(some < _FAT_BELOW) >= _LEAST_FAT
    if whole[0] >= _BELOW_ALL_BUT_CT and not has_fat:
        return fitted
    usual = _usual_window(image, structure, some)
    return sorted([*CT_WINDOWS, *fitted], key=lambda one: one.name != usual)


def _body(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values above a tenth of the range, so that air does not affect percentiles.

    This threshold between air and head was proposed by Smith, Human Brain Mapping 17:143-155, 2002.
    """
    low, high = np.percentile(values, (2, 98))
    body = values[values > low + 0.1 * (high - low)]
    return body if body.size else values


def _usual_window(image: NDArray[Any], structure: Mask | None, some: NDArray[np.float64]) -> str:
    """Return the name of the usual CT window for a structure, such as "lung" for a lung nodule."""
    tight = None if structure is None else bounding_box(structure)
    if structure is None or tight is None:
        return "soft tissue"
    box = grow_box(tight, [_SURROUNDING_VOXELS] * image.ndim, image.shape)
    values, inside = image[box], structure[box]
    drawn, around = values[inside], values[~inside]
    if np.median(drawn) < _LUNG_BELOW or (around.size and np.median(around) < _LUNG_BELOW):
        return "lung"
    if np.median(drawn) > _BONE_ABOVE:
        return "bone"
    is_brain = (
        _BRAIN_BETWEEN[0] <= np.median(drawn) <= _BRAIN_BETWEEN[1]
        and np.mean(around < _FAT_BELOW) <= _MOST_FAT_AT_BRAIN
        and np.mean(some[some > _BODY_ABOVE] > _BONE_ABOVE) >= _LEAST_BONE_OF_A_HEAD
    )
    return "brain" if is_brain else "soft tissue"
