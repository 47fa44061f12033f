"""Signed distance to a contour, in mm: one implementation for every filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt


def signed_distance(mask: NDArray[Any], spacing: Sequence[float]) -> NDArray[np.float64]:
    """Distance in mm to the other side of the contour: negative inside, positive outside.

    A voxel outside has the distance to the nearest voxel inside, a voxel inside minus the distance
    to the nearest voxel outside, between centres; the contour lies half-way. Without any voxel on
    one side the distance to it is infinite.

    Parameters
    ----------
    mask : ndarray
        Non-zero inside.
    spacing : sequence of float
        Voxel size per array axis.
    """
    inside = np.asarray(mask) != 0
    if not inside.any():
        return np.full(inside.shape, np.inf)
    if inside.all():
        return np.full(inside.shape, -np.inf)
    outer = distance_transform_edt(~inside, sampling=spacing)
    inner = distance_transform_edt(inside, sampling=spacing)
    return np.asarray(outer - inner, dtype=np.float64)
