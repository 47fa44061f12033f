"""Power of volumes in scale bands, each computed on the coarsest grid that resolves it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.space.gaussian import Singles, smooth_volume
from itk_consensus.space.tiles import TRUNCATE

#: A standard deviation of this many grid points is smooth enough for a grid of half the resolution.
COARSE_FROM = 1.4

#: Before a grid is halved, it is smoothed by (1, 4, 6, 4, 1) / 16 to avoid aliasing. This increases
#: the variance by this amount, in grid points.
HALVING_VARIANCE = 1.0
_FAR, _NEXT, _HERE = 1 / 16, 4 / 16, 6 / 16

#: For each axis, the number of zeros to pad before and after it.
Room = Sequence[tuple[int, int]]


def bands_of_voxels(scales: Floats) -> int:
    """Return the number of bands that are too fine for a grid coarser than the voxels."""
    return int(np.count_nonzero((scales[:-1] < COARSE_FROM).all(axis=1)))


def band_power(
    volumes: Singles, scales: Floats, fades: Sequence[tuple[bool, bool]], first: int = 0
) -> Floats:
    """Sum the squared values of each band between two scales, over voxels and volumes.

    Parameters
    ----------
    volumes : (J, \\*shape) ndarray of float32
    scales : (B + 1, ndim) ndarray
        Ascending standard deviations in voxels per axis; each pair bounds a band.
    fades : two bool for each axis
        Whether zeros are assumed before and after the volume; power beyond the edge is then also
        counted. Otherwise the edge voxel is repeated, and no power beyond the edge is counted.
    first : int
        Bands before this one are skipped.

    Returns
    -------
    (B - first,) ndarray
    """
    steps, done = np.ones(scales.shape[1]), np.zeros(scales.shape[1])
    powers, fine, padded = [], None, None
    for low, high in itertools.pairwise(scales[first:]):
        for axis in np.flatnonzero(low >= COARSE_FROM * steps).tolist():
            volumes, padded = _halve(volumes, axis + 1, fades[axis]), None
            done[axis] += HALVING_VARIANCE * steps[axis] ** 2
            steps[axis] *= 2
        if padded is None:
            # Pad by the reach of the widest band computed on this grid.
            fits = (scales[:-1] < COARSE_FROM * steps).all(axis=1)
            reach = (TRUNCATE * scales[1:][fits][-1] / steps + 0.5).astype(int).tolist()
            room = [
                (size * first, size * last)
                for size, (first, last) in zip(reach, fades, strict=True)
            ]
            padded = np.pad(volumes, [(0, 0), *room])
            fine = _smooth(padded, low, done, steps)
        assert fine is not None
        coarse = _smooth(padded, high, done, steps)
        fine -= coarse
        powers.append(float(np.square(fine, out=fine).sum(dtype=np.float64)) * steps.prod())
        fine = coarse
    return np.array(powers)


def _smooth(volumes: Singles, sigmas: Floats, done: Floats, steps: Floats) -> Singles:
    """Smooth a grid to `sigmas` voxels, given the variances `done` from earlier smoothing."""
    left = np.sqrt(np.maximum(sigmas**2 - done, 0)) / steps
    return smooth_volume(volumes.copy(), [0.0, *left.tolist()], truncate=TRUNCATE)


def _halve(volumes: Singles, axis: int, fades: tuple[bool, bool]) -> Singles:
    """Halve a grid along an axis: smooth it and keep every second point."""
    # At an edge with zeros the filter extends two points beyond it, which is one point of the
    # halved grid.
    before, after = (4 if fade else 2 for fade in fades)
    shape = list(volumes.shape)
    shape[axis] += before + after
    lines = np.zeros(shape, volumes.dtype)
    along = np.moveaxis(lines, axis, 0)
    along[before:-after] = np.moveaxis(volumes, axis, 0)
    if not fades[0]:
        along[:before] = along[before]
    if not fades[1]:
        along[-after:] = along[-after - 1]
    number = lines.shape[axis] - 4
    first, second, here, fourth, fifth = (
        lines[(slice(None),) * axis + (slice(at, at + number, 2),)] for at in range(5)
    )
    blended = _FAR * (first + fifth)
    blended += _NEXT * (second + fourth)
    blended += _HERE * here
    return np.ascontiguousarray(blended)
