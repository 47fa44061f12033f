"""Tiles of a volume: what looks only some voxels around works in them, with a halo.

Every volume is seen with four axes, the first of which holds independent volumes: a 2D image has
ones in front, the volumes of a 4D image are cut apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current, report
from itk_consensus.space.boxes import space_axes, voxel_sides

#: Standard deviations after which a Gaussian is cut off.
TRUNCATE = 4.0

# Weights must be written down before those beyond the image can be summed.
_MOST_WEIGHTS = 10_000_000

#: Voxels of a tile, about: its buffers then stay in a processor's own cache. With many labels
#: there is a buffer for each that occurs, and a smaller tile has fewer.
TILE_VOXELS = 131_072
TILE_VOXELS_OF_MANY_LABELS = 40_960
MANY_LABELS = 8

#: Tiles are so much longer along rows, which are read and smoothed in one go.
ROW_LENGTH = 4

#: Tiles per thread between two reports of progress.
TILES_AT_ONCE = 64


def four_axes(shape: Sequence[int]) -> tuple[int, int, int, int]:
    """The shape with independent volumes on the first of four axes."""
    independent = space_axes(len(shape)).start
    space = list(shape[independent:])
    depth, height, width = [1] * (3 - len(space)) + space
    return math.prod(shape[:independent]), depth, height, width


def gaussian_weights(sigma: float, spacing: Sequence[float], shape: Sequence[int]) -> list[Floats]:
    """Weights, for 0 to reach steps, of a Gaussian of `sigma` mm along each of the four axes.

    Parameters
    ----------
    sigma : float
        Standard deviation in mm; 0: none.
    spacing : sequence of float
        Voxel size per array axis. Independent volumes are not smoothed into each other.
    shape : sequence of int
        Of the volume, beyond which its last voxels go on.
    """
    sizes = list(voxel_sides(spacing))
    sizes = [math.inf] * (4 - len(sizes)) + sizes
    pairs = zip(sizes, four_axes(shape), strict=True)
    return [half_gaussian(sigma / size, extent=extent) for size, extent in pairs]


def half_gaussian(sigma: float, truncate: float = TRUNCATE, extent: int | None = None) -> Floats:
    """Weights of the voxels 0 to reach steps away, as scipy's Gaussian of `sigma` voxels has.

    With `extent` there are no more of them than an axis of this length needs: whatever is farther
    away than that shows the last voxel, so the last weight stands for all beyond.
    """
    if truncate * sigma > _MOST_WEIGHTS:
        raise InputError(f"a Gaussian of {sigma:g} voxels is too wide to be computed")
    reach = int(truncate * sigma + 0.5)
    if reach == 0:
        return np.ones(1)
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 / (sigma * sigma) * steps**2)
    half = np.asarray((weights / weights.sum())[reach:])
    if extent is None or reach <= extent:
        return half
    return np.append(half[:extent], half[extent:].sum())


def tile_sizes(
    shape: tuple[int, int, int, int], reach: Sequence[int], labels: int = 2, buffers: int = 1
) -> tuple[int, int, int, int]:
    """A tile that is small, yet large against the halo around it.

    Parameters
    ----------
    shape : four int
        Of the volume.
    reach : four int
        Width of the halo per axis.
    labels : int
        How many there are.
    buffers : int
        How many arrays of the tile's size a thread keeps, in units of an ordinary kernel's.
    """
    voxels = (TILE_VOXELS if labels <= MANY_LABELS else TILE_VOXELS_OF_MANY_LABELS) // buffers
    long_axes = sum(size > 1 for size in shape[1:])
    side = round((voxels / ROW_LENGTH) ** (1 / max(long_axes, 1)))
    wanted = (side, side, ROW_LENGTH * side)
    depth, height, width = (
        min(size, max(most, 2 * halo))
        for most, size, halo in zip(wanted, shape[1:], reach[1:], strict=True)
    )
    return 1, depth, height, width


def tile_groups(count: int) -> Iterator[tuple[int, int]]:
    """Ranges that cover all tiles; progress is reported after each of them."""
    step = TILES_AT_ONCE * current().threads
    for first in range(0, count, step):
        last = min(first + step, count)
        yield first, last
        report(last / count)
