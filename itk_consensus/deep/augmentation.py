"""Augmentation of patches, built in or by the user's transform. This module does not use torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates, zoom
from scipy.stats import binom

from itk_consensus.core.errors import ParameterError
from itk_consensus.deep.cases import MISSING, Augmentation, Case

#: Maps a dict of channels-first arrays to another such dict.
Transform: TypeAlias = Callable[[dict[str, Any]], Mapping[str, Any]]

#: Fraction of the patches that are rotated, scaled and deformed; limited, since this blurs them
#: slightly.
_BENT_PATCHES = 0.5
_LARGEST_ANGLE = np.deg2rad(15)
_SCALES = (0.85, 1.2)
#: Axes whose spacings differ by more than this factor are not rotated into each other.
_THICK = 2.0
#: Standard deviation of the deformation, and spacing of its control points, in voxels.
_BEND, _KNOT = 1.5, 12
#: Fraction of the channels that undergo a gamma transform, and fraction that get noise of up to
#: _LARGEST_NOISE.
_CHANGED_CHANNELS = 0.3
_GAMMAS = (0.7, 1.5)
_LARGEST_NOISE = 0.2
#: p-value below which an axis is considered to have an anatomical orientation.
_ONE_SIDED = 1e-3
#: Number of cases used for the test of orientation.
_LOOKED_AT = 64


@dataclass(frozen=True)
class BuiltInAugmentation:
    """Random mirroring, rotation, scaling, deformation, brightness, contrast, noise and gamma.

    As in nnU-Net (Isensee et al., Nat Methods 18:203-211, 2021), but with smaller angles: there are
    few cases, and the raters' labels already show the location of the structure.
    """

    #: Axes that may be mirrored, counted from the last one; see `unoriented_axes`.
    mirrored: tuple[int, ...]
    spacing: tuple[float, ...]  #: Voxel size per axis, so that rotations are rigid in mm

    def __call__(self, patch: Case, rng: np.random.Generator) -> Case:
        """Return an augmented patch of the same size."""
        axes = tuple(axis for axis in self.mirrored if rng.random() < 0.5)
        # A quarter turn in the plane of the last two axes needs no interpolation. Other planes are
        # excluded, since slices may be thick.
        square = patch.shape[-1] == patch.shape[-2] and {-1, -2} <= set(self.mirrored)
        turned = rng.random() < 0.5 and square

        def flip(array: NDArray[Any]) -> NDArray[Any]:
            flipped = np.flip(array, axes)
            return flipped.swapaxes(-1, -2) if turned else flipped

        placed = replace(patch, **{name: flip(array) for name, array in _volumes(patch).items()})
        if rng.random() < _BENT_PATCHES:
            placed = resample(placed, self._places(patch.shape, rng))
        return replace(placed, image=change_intensities(placed.image, rng))

    def _places(self, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the (D, \\*S) position in the patch of each voxel of the augmented patch."""
        spacing = np.array(self.spacing)
        matrix = np.eye(len(shape)) * rng.uniform(*_SCALES)
        for one, other in combinations(range(len(shape)), 2):
            angle = rng.uniform(-_LARGEST_ANGLE, _LARGEST_ANGLE)
            if max(spacing[one], spacing[other]) <= _THICK * min(spacing[one], spacing[other]):
                turn = np.eye(len(shape))
                turn[[one, other], [one, other]] = np.cos(angle)
                turn[[one, other], [other, one]] = -np.sin(angle), np.sin(angle)
                matrix = matrix @ turn
        matrix = matrix * spacing / spacing[:, None]
        middle = (np.array(shape) - 1) / 2
        grid = np.indices(shape, np.float32).reshape(len(shape), -1) - middle[:, None]
        places = (matrix @ grid + middle[:, None]).reshape(-1, *shape)
        for axis in range(len(shape)):
            knots = [max(2, side // _KNOT + 1) for side in shape]
            bend = rng.normal(0, _BEND * spacing.min() / spacing[axis], knots)
            places[axis] += zoom(bend, np.divide(shape, knots), order=1)
        return np.asarray(places, np.float32)


def resample(patch: Case, places: NDArray[np.float32]) -> Case:
    """Resample a patch: linear interpolation of intensities, nearest neighbour for labels."""
    nearest = np.rint(places).astype(np.intp)
    limits = np.array(patch.shape).reshape(-1, *(1,) * len(patch.shape))
    inside = ((nearest >= 0) & (nearest < limits)).all(0)
    chosen = tuple(np.where(inside, nearest, 0))

    def at(array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype == np.uint8:
            return np.where(inside, array[(..., *chosen)], np.uint8(MISSING))
        return np.stack([map_coordinates(one, places, order=1, mode="nearest") for one in array])

    return replace(patch, **{name: at(array) for name, array in _volumes(patch).items()})


def _volumes(patch: Case) -> dict[str, NDArray[Any]]:
    """Return the arrays of a patch by field name."""
    volumes = {name: getattr(patch, name) for name in ("image", "labels", "truth", "prior")}
    return {name: array for name, array in volumes.items() if array is not None}


def change_intensities(image: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Change brightness and contrast of each channel, and gamma and noise of some."""
    space = (1,) * (image.ndim - 1)
    gain = rng.uniform(0.9, 1.1, (len(image), *space)).astype(np.float32)
    offset = rng.uniform(-0.1, 0.1, (len(image), *space)).astype(np.float32)
    changed = image * gain + offset
    for channel in changed:
        if rng.random() < _CHANGED_CHANNELS:
            low, width = channel.min(), np.ptp(channel) or 1.0
            channel[...] = ((channel - low) / width) ** rng.uniform(*_GAMMAS) * width + low
        if rng.random() < _CHANGED_CHANNELS:
            channel += rng.normal(0, rng.uniform(0, _LARGEST_NOISE), channel.shape)
    return changed


def unoriented_axes(cases: Iterable[Case], classes: int) -> tuple[int, ...]:
    """Return the axes that may be mirrored, counted from the last one.

    An axis has an anatomical orientation, and must not be mirrored, if a class, or the brighter
    part of the image, lies on the same side of the centre in significantly many cases (sign test).
    """
    sides = np.array([_asymmetries(case, classes) for case in islice(cases, _LOOKED_AT)])
    there, here = (sides > 0).sum(0), (sides < 0).sum(0)
    by_chance = np.asarray(2 * binom.cdf(np.minimum(there, here), there + here, 0.5))
    mirrored = np.asarray((by_chance >= _ONE_SIDED).all(1))
    return tuple(int(axis) for axis in np.flatnonzero(mirrored) - len(mirrored))


def _asymmetries(case: Case, classes: int) -> NDArray[np.float64]:
    """Return each class's (D, K) signed distance from the centre; for class 0, of brightness."""
    masses = [np.clip(case.image[0], 0, None)]
    masses += [(case.labels == index).sum(0, np.uint16) for index in range(1, classes)]
    return np.array(
        [[_asymmetry(mass, axis) for mass in masses] for axis in range(len(case.shape))]
    )


def _asymmetry(mass: NDArray[Any], axis: int) -> float:
    profile = np.moveaxis(mass, axis, 0).reshape(mass.shape[axis], -1).sum(1, np.float64)
    places = np.arange(len(profile)) - (len(profile) - 1) / 2
    return float(places @ profile)


def augmentation_from_transform(transform: Transform, owner: str) -> Augmentation:
    """Wrap the user's transform as an augmentation.

    A transform with a method `set_random_state`, such as MONAI's, is seeded for every patch, so a
    resumed training run gives the same result as an uninterrupted one.
    """
    if not callable(transform):
        raise ParameterError(f"transform must be callable, got {transform!r:.80}", owner=owner)

    def augment(patch: Case, rng: np.random.Generator) -> Case:
        seed = int(rng.integers(2**31))
        if hasattr(transform, "set_random_state"):
            transform.set_random_state(seed)
        given: dict[str, Any] = {n: array.copy() for n, array in _volumes(patch).items()}
        if patch.truth is not None:
            given["truth"] = given["truth"][None]
        wanted = {name: array.shape for name, array in given.items()}
        changed = transform(given)
        arrays = {name: _array(changed, name, shape, owner) for name, shape in wanted.items()}
        if "truth" in arrays:
            arrays["truth"] = arrays["truth"][0]
        types = {name: array.dtype for name, array in _volumes(patch).items()}
        return replace(patch, **{name: arrays[name].astype(types[name]) for name in types})

    return augment


def _array(changed: Any, name: str, shape: tuple[int, ...], owner: str) -> NDArray[Any]:
    if not isinstance(changed, Mapping) or name not in changed:
        raise ParameterError(f"transform must return a dict with {name}, got none", owner=owner)
    array = np.asarray(changed[name])
    if array.shape != shape:
        raise ParameterError(
            f"transform must keep the shape of {name}, {shape}, got {array.shape}", owner=owner
        )
    return array
