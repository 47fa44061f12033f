"""Telling an image from a map of labels: a wildcard takes the CT along with its segmentations.

Labels are few, or form regions: voxels beside each other mostly have the same. Intensities are
many, and neighbours differ. Labels below zero, but for one that may mean something missing, are
those of no segmentation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: So many distinct values are labels wherever they lie.
MOST_LABELS = 16

#: Of voxels beside each other that are not both 0, the share that differs in no map of labels;
#: of brains in 100 small parcels one in seven does.
MOST_DIFFERING = 0.35

#: Distinct values below zero.
MOST_NEGATIVE = 4

#: Rows of voxels that are looked at.
_ROWS = 4096


def intensities(values: NDArray[Any]) -> str:
    """What makes an array one of intensities, in words; empty if it may hold labels."""
    if not values.size or values.dtype.kind not in "iuf":
        return ""
    low, high = values.min(), values.max()
    if low >= 0 and high <= MOST_LABELS and values.dtype.kind != "f":
        return ""  # which is nearly always so
    rows = values.reshape(-1, values.shape[-1])
    rows = rows[:: max(1, len(rows) // _ROWS)]
    found = np.unique(rows)
    if values.dtype.kind == "f" and low >= 0 and high <= 1:
        return ""  # probabilities, of which others have their word
    drawn = (rows[:, 1:] != 0) | (rows[:, :-1] != 0)
    differing = np.count_nonzero((rows[:, 1:] != rows[:, :-1]) & drawn)
    is_rough = differing > MOST_DIFFERING * np.count_nonzero(drawn)
    if (found < 0).sum() > MOST_NEGATIVE or (len(found) > MOST_LABELS and is_rough):
        return f"{len(found)} or more distinct values from {low:g} to {high:g}"
    return ""
