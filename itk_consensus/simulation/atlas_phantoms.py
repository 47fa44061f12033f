"""Multi-atlas cases with known truth: a parcellated organ, its image, and misregistered atlases.

The organ is an ellipsoid divided into Voronoi cells, one per label. An atlas is the truth warped by
a smooth random displacement field that represents the registration error; its amplitude differs
between the atlases of a case. Shapes, displacements and intensities are determined by the seed, and
the labels do not depend on whether images are simulated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itk_consensus.core.errors import ParameterError

Labels = NDArray[np.unsignedinteger]
Field = NDArray[np.float64]

#: Semi-axes of the organ, as a fraction of the volume's side lengths.
_ORGAN_SIZE = 0.42
#: Range of the parcels' intensities; the background is 0.
_PARCEL_INTENSITIES = (60.0, 160.0)
#: Standard deviation of the imaging blur, in voxels.
_BLUR = 0.7
#: Number of grid points per axis of the bias field, which is linear between them.
_BIAS_POINTS = 4


class AtlasLabels(NamedTuple):
    """A true label map and the label map of each atlas, on the same grid."""

    truth: Labels  #: 0 outside the organ, 1 to the number of labels inside it
    maps: list[Labels]  #: One per atlas, with the dtype of the truth


class AtlasCase(NamedTuple):
    """A target image to be labelled, and atlases with images, all on the target's grid."""

    truth: Labels
    target: NDArray[np.float32]  #: Image of the truth
    images: list[NDArray[np.float32]]  #: Image of each atlas
    maps: list[Labels]  #: Labels of each atlas


def atlas_labels(
    seed: int,
    shape: Sequence[int] = (80, 96, 80),
    labels: int = 24,
    atlases: int = 8,
    *,
    amplitude: float = 3.5,
    grid: float = 16.0,
) -> AtlasLabels:
    """Simulate the true labels and the atlas labels, without images.

    Parameters
    ----------
    labels : int
        Number of parcels of the organ, excluding the background.
    amplitude : float
        Standard deviation of displacements at grid points in voxels, averaged over atlases; that of
        a single atlas is between 0.5 and 1.5 times this value.
    grid : float
        Spacing in voxels of the points at which displacements are drawn; they are interpolated
        linearly in between.
    """
    rng = _generators(seed)[0]
    truth = _parcels(rng, tuple(shape), labels)
    errors = (_displace(rng, truth.shape, amplitude, grid) for _ in range(atlases))
    return AtlasLabels(truth, [_sample(truth, error, order=0) for error in errors])


def atlas_case(
    seed: int,
    shape: Sequence[int] = (80, 96, 80),
    labels: int = 24,
    atlases: int = 8,
    *,
    amplitude: float = 3.5,
    grid: float = 16.0,
    noise: float = 8.0,
    bias: float = 0.1,
) -> AtlasCase:
    """Simulate a case as `atlas_labels` does, with images that have blur, bias field and noise.

    Parameters
    ----------
    noise : float
        Standard deviation of the white noise; parcels are between 60 and 160, the background is 0.
    bias : float
        Standard deviation of the smooth bias field around 1.
    """
    anatomy, imaging = _generators(seed)
    truth = _parcels(anatomy, tuple(shape), labels)
    clean = np.concatenate([[0.0], imaging.uniform(*_PARCEL_INTENSITIES, labels)])[truth]
    target = _make_image(imaging, clean, noise, bias)
    images, maps = [], []
    for _ in range(atlases):
        error = _displace(anatomy, truth.shape, amplitude, grid)
        maps.append(_sample(truth, error, order=0))
        images.append(_make_image(imaging, _sample(clean, error, order=1), noise, bias))
    return AtlasCase(truth, target, images, maps)


def _generators(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return independent random generators for the anatomy and for its images."""
    anatomy, imaging = np.random.SeedSequence(seed).spawn(2)
    return np.random.default_rng(anatomy), np.random.default_rng(imaging)


def _parcels(rng: np.random.Generator, shape: tuple[int, ...], labels: int) -> Labels:
    """Return the Voronoi cells of random voxels of an ellipsoid, clipped to the ellipsoid."""
    axes = np.ogrid[tuple(slice(size) for size in shape)]
    distance = sum(
        ((axis - size / 2) / (_ORGAN_SIZE * size)) ** 2
        for axis, size in zip(axes, shape, strict=True)
    )
    places = np.argwhere(distance <= 1)
    if not 1 <= labels <= min(len(places), 65_535):
        raise ParameterError(
            f"atlas_labels: labels must be 1 to {min(len(places), 65_535)} for a volume of "
            f"{shape}, got {labels}"
        )
    centres = np.zeros(shape, np.uint8 if labels < 256 else np.uint16)
    chosen = rng.choice(len(places), labels, replace=False)
    centres[tuple(places[chosen].T)] = np.arange(1, labels + 1)
    nearest = ndimage.distance_transform_edt(
        centres == 0, return_distances=False, return_indices=True
    )
    return np.where(distance <= 1, centres[tuple(nearest)], 0).astype(centres.dtype)


def _displace(
    rng: np.random.Generator, shape: tuple[int, ...], amplitude: float, grid: float
) -> Field:
    """Return the (axes, ...) displaced voxel coordinates for an atlas of random amplitude."""
    points = [max(4, round(size / grid)) for size in shape]
    own = amplitude * rng.uniform(0.5, 1.5)
    places = np.indices(shape, dtype=np.float64)
    for axis in places:
        axis += own * _upsample(rng.normal(size=points), shape)
    return places


def _upsample(values: Field, shape: tuple[int, ...]) -> Field:
    """Interpolate a coarse field linearly to a given shape."""
    factors = [fine / coarse for fine, coarse in zip(shape, values.shape, strict=True)]
    return np.asarray(ndimage.zoom(values, factors, order=1))


def _sample(volume: NDArray[Any], places: Field, order: int) -> NDArray[Any]:
    """Interpolate a volume at coordinates; 0 outside it."""
    sampled = ndimage.map_coordinates(volume, places, order=order, mode="constant", cval=0)
    return np.asarray(sampled, dtype=volume.dtype)


def _make_image(
    rng: np.random.Generator, clean: Field, noise: float, bias: float
) -> NDArray[np.float32]:
    field = _upsample(rng.normal(size=[_BIAS_POINTS] * clean.ndim), clean.shape)
    image = ndimage.gaussian_filter(clean, _BLUR) * (1 + bias * field)
    return np.asarray(image + rng.normal(0, noise, clean.shape), dtype=np.float32)
