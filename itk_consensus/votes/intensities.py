"""Detect intensity images among label maps, since a wildcard may also match the CT.

A label map has few values, or regions in which neighbouring voxels have the same value. An
intensity image has many values, and neighbouring voxels differ. Negative values are not labels
either, except for a few that may mark missing data. Only some rows of voxels are tested, so the
cost is negligible.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Arrays with at most this many distinct values are always accepted as labels.
MOST_LABELS = 16

#: Maximum fraction of differing pairs among non-zero neighbours in a label map; in a brain
#: parcelled into 100 small regions it is one in seven. Pairs with background are not counted, since
#: objects in instance maps may consist of only a few voxels.
MOST_DIFFERING = 0.35

#: Maximum number of distinct negative values in a label map.
MOST_NEGATIVE = 4

#: Minimum number of voxels and rows that are tested by default,
FEW = (2048, 32)
#: and in a more thorough test.
MANY = (1 << 16, 1024)


def intensity_reason(
    values: NDArray[Any], looked_at: tuple[int, int] = FEW, *, spares_fractions: bool = False
) -> str:
    """Return why an array resembles an intensity image; empty if it may contain labels.

    With `spares_fractions`, arrays with fractional values are accepted here, since they are
    rejected elsewhere.
    """
    kind = values.dtype.kind
    if kind not in "iuf" or not values.size:
        return ""
    rows = values[_rows(values.shape, *looked_at)] if values.ndim > 1 else values[None, :_LONGEST]
    high = rows.max()
    if kind == "u" and high <= MOST_LABELS:
        return ""  # the usual case
    low = rows.min()
    if low >= 0 and high <= (1 if kind == "f" else MOST_LABELS):
        return ""  # Labels, or probabilities, which are checked elsewhere
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


#: Number of voxels tested in an array with one axis.
_LONGEST = 1 << 16


@lru_cache(64)
def _rows(shape: tuple[int, ...], voxels: int, rows: int) -> tuple[NDArray[np.intp], ...]:
    """Return indices of rows along the last axis, distributed evenly over all other axes.

    Along the second last axis the steps follow the golden ratio, since equal steps would hit the
    same border in every slice.
    """
    height = shape[-2]
    slices = prod(shape[:-2])
    number = min(max(rows, ceil(voxels / max(shape[-1], 1))), height * slices)
    order = np.arange(number)
    if number == height * slices:
        return np.unravel_index(order, shape[:-1])
    placed = order * slices // number, (order * 0.6180339887498949 % 1 * height).astype(np.intp)
    return (*np.unravel_index(placed[0], shape[:-2] or (1,)), placed[1])[-(len(shape) - 1) :]
