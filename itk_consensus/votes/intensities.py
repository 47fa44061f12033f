"""Telling an image from a map of labels: a wildcard takes the CT along with its segmentations.

Labels are few, or form regions: neighbours within a region have the same. Intensities are many, and
neighbours differ. Labels below zero, but for one that may mean something missing, are those of no
segmentation. A few rows of voxels tell, so that asking costs next to nothing.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: So many distinct values are labels wherever they lie.
MOST_LABELS = 16

#: Of neighbours that are both drawn, the share that differs in no map of labels; of brains in 100
#: small parcels one in seven does. Objects of a few voxels each, as in maps of instances, have
#: background around them, which is no evidence.
MOST_DIFFERING = 0.35

#: Distinct values below zero.
MOST_NEGATIVE = 4

#: Voxels and rows that are looked at, or all there are,
FEW = (2048, 32)
#: and those of whoever has a reason to look closer.
MANY = (1 << 16, 1024)


def intensities(
    values: NDArray[Any], looked_at: tuple[int, int] = FEW, *, spares_fractions: bool = False
) -> str:
    """What makes an array one of intensities, in words; empty if it may hold labels.

    Fractions may be spared where they are refused by value, unless they are probabilities.
    """
    kind = values.dtype.kind
    if kind not in "iuf" or not values.size:
        return ""
    rows = values[_rows(values.shape, *looked_at)] if values.ndim > 1 else values[None, :_LONGEST]
    high = rows.max()
    if kind == "u" and high <= MOST_LABELS:
        return ""  # which is nearly always so
    low = rows.min()
    if low >= 0 and high <= (1 if kind == "f" else MOST_LABELS):
        return ""  # probabilities, of which others have their word, or labels
    if spares_fractions and kind == "f" and (rows != np.trunc(rows)).any():
        return ""
    found = np.unique(rows)
    one, other = rows[:, 1:], rows[:, :-1]
    drawn = (one != 0) & (other != 0)
    differing = np.count_nonzero((one != other) & drawn)
    is_rough = differing > MOST_DIFFERING * np.count_nonzero(drawn)
    if (found < 0).sum() > MOST_NEGATIVE or (len(found) > MOST_LABELS and is_rough):
        return f"{len(found)} or more distinct values from {found[0]:g} to {found[-1]:g}"
    return ""


#: Of an array with one axis, so many voxels.
_LONGEST = 1 << 16


@lru_cache(64)
def _rows(shape: tuple[int, ...], voxels: int, rows: int) -> tuple[NDArray[np.intp], ...]:
    """Indices of rows along the last axis, spread over all other axes.

    Along the last but one they follow the golden ratio: even steps would meet the same border of
    every slice.
    """
    height = shape[-2]
    slices = prod(shape[:-2])
    number = min(max(rows, ceil(voxels / max(shape[-1], 1))), height * slices)
    order = np.arange(number)
    if number == height * slices:
        return np.unravel_index(order, shape[:-1])
    placed = order * slices // number, (order * 0.6180339887498949 % 1 * height).astype(np.intp)
    return (*np.unravel_index(placed[0], shape[:-2] or (1,)), placed[1])[-(len(shape) - 1) :]
