"""Signed distance to a contour, in mm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from itk_consensus import _kernels
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.space.boxes import in_space


def signed_distance(
    mask: NDArray[Any],
    spacing: Sequence[float],
    *,
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    """Return the signed distance in mm to a mask's contour: negative inside, positive outside.

    The value of a voxel outside is the distance to the nearest voxel inside, and that of a voxel
    inside is minus the distance to the nearest voxel outside. Distances are between voxel centres.
    If there is no voxel on the other side, the distance is infinite.

    Parameters
    ----------
    mask : ndarray
        Mask, non-zero inside. In 4D the first axis indexes independent volumes.
    spacing : sequence of float
        Voxel size per array axis.
    dtype : float32 or float64, optional
        Type of the result.
    """
    inside = np.ascontiguousarray(np.asarray(mask) != 0).view(np.uint8)
    sizes = [float(size) for size in spacing]
    if len(sizes) != inside.ndim or not all(0 < size < np.inf for size in sizes):
        raise InputError(
            f"signed_distance: spacing must be {inside.ndim} positive numbers, got {spacing}"
        )
    distance = np.empty(inside.shape, dtype)
    _kernels.signed_distance(inside, in_space(sizes, 0.0), distance, current().threads)
    return distance
