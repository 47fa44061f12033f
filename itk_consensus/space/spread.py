"""Flags that spread over a box around each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.work import current
from itk_consensus.space.tiles import four_axes, tile_sizes


def spread(
    flags: NDArray[np.bool_],
    radii: Sequence[int],
    *,
    tile: tuple[int, int, int, int] | None = None,
) -> NDArray[np.bool_]:
    """Voxels with a flagged one at most so many voxels away along every axis.

    Parameters
    ----------
    flags : (\\*shape) ndarray of bool
    radii : sequence of int
        Per array axis; nothing spreads along axes before the last three.
    tile : four int, optional
        It does not show in the result.
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
