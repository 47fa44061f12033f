"""Power of volumes in bands of scale, each on a grid as coarse as its scale allows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.space.gaussian import Singles, smooth_volume
from itk_consensus.space.tiles import TRUNCATE

#: From so many points of the grid on a scale is smooth enough for every second of them.
COARSE_FROM = 1.4

#: Before every second point goes, points are blended by (1, 4, 6, 4, 1) / 16: finer detail would
#: look like coarse detail without it. It adds this to the variance, in points.
HALVING_VARIANCE = 1.0
_FAR, _NEXT, _HERE = 1 / 16, 4 / 16, 6 / 16

#: For each axis, how many zeros to put before and after.
Room = Sequence[tuple[int, int]]


def bands_of_voxels(scales: Floats) -> int:
    """How many of the bands are too fine for a coarser grid than that of the voxels."""
    return int(np.count_nonzero((scales[:-1] < COARSE_FROM).all(axis=1)))


def band_power(
    volumes: Singles, scales: Floats, fades: Sequence[tuple[bool, bool]], first: int = 0
) -> Floats:
    """Sum over voxels and volumes of the squares of each band between two scales.

    Parameters
    ----------
    volumes : (J, \\*shape) ndarray of float32
    scales : (B + 1, ndim) ndarray
        Ascending standard deviations in voxels per axis; each pair bounds a band.
    fades : for each axis two bool
        Whether zeros come before and after it, into which bands are followed to their end. Else the
        last voxel goes on, and nothing is counted beyond it.
    first : int
        Bands before this one are left out.

    Returns
    -------
    (B - first,) ndarray
    """
    steps, done = np.ones(scales.shape[1]), np.zeros(scales.shape[1])
    powers, fine, padded = [], None, None
    for low, high in itertools.pairwise(scales[first:]):
        for axis in np.flatnonzero(low >= COARSE_FROM * steps).tolist():
            volumes, padded = _halved(volumes, axis + 1, fades[axis]), None
            done[axis] += HALVING_VARIANCE * steps[axis] ** 2
            steps[axis] *= 2
        if padded is None:
            # As far as the last band goes that this grid is fine enough for.
            fits = (scales[:-1] < COARSE_FROM * steps).all(axis=1)
            reach = (TRUNCATE * scales[1:][fits][-1] / steps + 0.5).astype(int).tolist()
            room = [
                (size * first, size * last)
                for size, (first, last) in zip(reach, fades, strict=True)
            ]
            padded = np.pad(volumes, [(0, 0), *room])
            fine = _smoothed(padded, low, done, steps)
        assert fine is not None
        coarse = _smoothed(padded, high, done, steps)
        fine -= coarse
        powers.append(float(np.square(fine, out=fine).sum(dtype=np.float64)) * steps.prod())
        fine = coarse
    return np.array(powers)


def _smoothed(volumes: Singles, sigmas: Floats, done: Floats, steps: Floats) -> Singles:
    """Smoothed by what is left to smooth of these voxels, in points of the grid."""
    left = np.sqrt(np.maximum(sigmas**2 - done, 0)) / steps
    return smooth_volume(volumes.copy(), [0.0, *left.tolist()], truncate=TRUNCATE)


def _halved(volumes: Singles, axis: int, fades: tuple[bool, bool]) -> Singles:
    """Every second point along an axis, blended with its neighbours."""
    # Blending goes two points, one of those that are left, beyond what fades.
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
