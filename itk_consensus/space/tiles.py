"""Tiles of a volume with a halo, for operations that only need a neighbourhood of each voxel.

Kernels process every volume with four axes, the first of which indexes independent volumes: the
shape of a 2D image is padded with leading ones, and the volumes of a 4D image are processed
separately.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current, report
from itk_consensus.space.boxes import space_axes, voxel_sides

#: Number of standard deviations at which a Gaussian is truncated.
TRUNCATE = 4.0

# Limit that bounds memory: all weights are computed before those beyond the image are summed.
_MOST_WEIGHTS = 10_000_000

#: Approximate number of voxels in a tile, so that its buffers fit into the private cache of a core.
#: With many labels there is one buffer for each label that occurs, and a smaller tile contains
#: fewer labels.
TILE_VOXELS = 131_072
TILE_VOXELS_OF_MANY_LABELS = 40_960
MANY_LABELS = 8

#: Factor by which a tile is longer along rows, which are contiguous in memory.
ROW_LENGTH = 4

#: Number of tiles per thread between two progress reports.
TILES_AT_ONCE = 64


def four_axes(shape: Sequence[int]) -> tuple[int, int, int, int]:
    """Convert a shape to four axes, the first of which indexes independent volumes."""
    independent = space_axes(len(shape)).start
    space = list(shape[independent:])
    depth, height, width = [1] * (3 - len(space)) + space
    return math.prod(shape[:independent]), depth, height, width


def gaussian_weights(sigma: float, spacing: Sequence[float], shape: Sequence[int]) -> list[Floats]:
    """Return half kernels of a Gaussian of `sigma` mm along each of the four axes.

    Parameters
    ----------
    sigma : float
        Standard deviation in mm; 0: no smoothing.
    spacing : sequence of float
        Voxel size per array axis. Independent volumes are not smoothed into each other.
    shape : sequence of int
        Shape of the volume, whose edge voxels are repeated beyond the edge.
    """
    sizes = list(voxel_sides(spacing))
    sizes = [math.inf] * (4 - len(sizes)) + sizes
    pairs = zip(sizes, four_axes(shape), strict=True)
    return [half_gaussian(sigma / size, extent=extent) for size, extent in pairs]


def half_gaussian(sigma: float, truncate: float = TRUNCATE, extent: int | None = None) -> Floats:
    """Return the weights of a Gaussian at distances of 0, 1, ... voxels, as in scipy.

    `sigma` is in voxels. `extent` is the length of the axis: all voxels farther away repeat the
    edge voxel, so their weights are added to the last one.
    """
    if truncate * sigma > _MOST_WEIGHTS:
        raise InputError(
            f"a Gaussian of {sigma:g} voxels is too wide to be computed; choose a smaller sigma"
        )
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
    """Return a tile size that fits into the cache but is large compared with its halo.

    Parameters
    ----------
    shape : four int
        Shape of the volume.
    reach : four int
        Width of the halo per axis.
    labels : int
        Number of labels.
    buffers : int
        Number of tile-sized arrays per thread, relative to that of an ordinary kernel.
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
    """Yield ranges that cover all tiles, reporting progress after each range."""
    step = TILES_AT_ONCE * current().threads
    for first in range(0, count, step):
        last = min(first + step, count)
        yield first, last
        report(last / count)
