"""Windows of grey values that readers of a modality are used to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Mask
from itk_consensus.neighbourhood.boxes import bounding_box

#: Air is -1000 HU and no other modality has values like it.
_BELOW_ALL_BUT_CT = -500


class GreyWindow(NamedTuple):
    """How many grey values are told apart, and around which."""

    name: str
    width: float
    level: float


_CT = (
    GreyWindow("soft tissue", 400, 40),
    GreyWindow("lung", 1500, -600),
    GreyWindow("bone", 1800, 400),
    GreyWindow("brain", 80, 40),
    GreyWindow("liver", 150, 90),
)


#: Most of what surrounds a structure in the lung is below this, in HU; fat is about -100.
_LUNG_BELOW = -400

#: Most of a bone is above this, in HU.
_BONE_ABOVE = 250

#: How far around a structure its surroundings are looked at.
_SURROUNDING_VOXELS = 5


def windows_for(image: NDArray[Any], structure: Mask | None = None) -> list[GreyWindow]:
    """Those of CT where values are Hounsfield's, and always what fits the values.

    The first is that in which readers would look at the structure.
    """
    some = image.reshape(-1)[:: max(1, image.size // 100_000)].astype(np.float64)
    some = some[np.isfinite(some)]
    if not some.size:
        return [GreyWindow("all values", 1, 0)]
    low, high = np.percentile(some, (1, 99))
    whole = (float(some.min()), float(some.max()))
    fitted = [
        GreyWindow("1 to 99 %", max(float(high - low), 1e-6), float(high + low) / 2),
        GreyWindow("all values", max(whole[1] - whole[0], 1e-6), sum(whole) / 2),
    ]
    if whole[0] >= _BELOW_ALL_BUT_CT:
        return fitted
    usual = _usual_window(image, structure)
    return sorted([*_CT, *fitted], key=lambda one: one.name != usual)


def _usual_window(image: NDArray[Any], structure: Mask | None) -> str:
    """Name of the window of CT for a structure: a nodule is seen in the lung's."""
    tight = None if structure is None else bounding_box(structure)
    if structure is None or tight is None:
        return "soft tissue"
    box = tuple(
        slice(max(side.start - _SURROUNDING_VOXELS, 0), side.stop + _SURROUNDING_VOXELS)
        for side in tight
    )
    values, inside = image[box], structure[box]
    if not inside.all() and np.median(values[~inside]) < _LUNG_BELOW:
        return "lung"
    return "bone" if np.median(values[inside]) > _BONE_ABOVE else "soft tissue"
