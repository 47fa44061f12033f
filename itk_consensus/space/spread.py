"""Binary dilation by a box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.work import current
from itk_consensus.space.tiles import four_axes, tile_sizes


def dilate(
    flags: NDArray[np.bool_],
    radii: Sequence[int],
    *,
    tile: tuple[int, int, int, int] | None = None,
) -> NDArray[np.bool_]:
    """Dilate a mask by a box of these radii.

    Parameters
    ----------
    flags : (\\*shape) ndarray of bool
    radii : sequence of int
        Radii in voxels per array axis; axes before the last three are not dilated.
    tile : four int, optional
        Tile size; the result does not depend on it.
    """
    full = four_axes(flags.shape)
    near = radii[-3:]
    reach = [0] * (4 - len(near)) + list(near)
    found = np.empty(flags.shape, bool)
    _kernels.spread(
        np.ascontiguousarray(flags).view(np.uint8),
        reach,
        full,
        tile or tile_sizes(full, reach),
        current().threads,
        found.view(np.uint8),
    )
    return found
