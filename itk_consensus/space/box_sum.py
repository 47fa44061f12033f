"""Sums over a box around every voxel, at a cost that does not depend on the size of the box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.space.boxes import in_space


def box_sum(volume: NDArray[Any], radii: Sequence[int]) -> NDArray[Any]:
    """Replace every voxel by the sum over its box, clipped at the border; return `volume`.

    Parameters
    ----------
    volume : C-contiguous ndarray of float32 or float64
        Volume, changed in place. Sums along an axis are computed in float64, and stored in the
        dtype of the volume.
    radii : sequence of int >= 0
        Half width r of the box along each axis: the box spans 2 r + 1 voxels.
    """
    writable = volume.flags.c_contiguous and volume.flags.writeable
    if volume.dtype not in (np.float32, np.float64) or not writable:
        raise InputError(
            "box_sum: volume must be a writable C-contiguous float32 or float64 array, "
            f"got {volume.dtype} with strides {volume.strides}"
        )
    if len(radii) != volume.ndim or min(radii, default=0) < 0:
        raise InputError(f"box_sum: radii must be {volume.ndim} integers >= 0, got {radii}")
    # A box wider than the volume is equivalent to the whole volume; clipping keeps the kernel's
    # indices small.
    within = [min(int(r), size) for r, size in zip(radii, volume.shape, strict=True)]
    _kernels.box_sum(volume, within, current().threads)
    return volume


def radii_in_voxels(radius: float, spacing: Sequence[float]) -> tuple[int, ...]:
    """Return the half width of a box in voxels per array axis, given its radius in mm.

    The box contains the voxels within `radius` mm of its centre. In 4D the first axis indexes
    independent volumes, which do not share a box.
    """
    # The offset absorbs rounding: 1.2 / 0.4 is 2.9999999999999996 in floating point.
    return tuple(in_space([int(radius / size + 1e-6) for size in spacing], 0))
