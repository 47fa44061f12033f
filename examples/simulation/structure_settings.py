"""Simulate thin and small structures, and deviating raters.

Defaults were chosen on seeds below 3000. Each setting is a function of a seed;
`STRUCTURE_SETTINGS` maps their names to them, and drawing a case takes milliseconds. Sizes are in
voxels and axes in array order; structures are bool masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion, distance_transform_edt, gaussian_filter1d

from examples.simulation.contour_errors import contour_error_raters
from examples.simulation.phantoms import disc_phantom, ellipsoid_mask, nested_phantom
from examples.simulation.raters import heterogeneous_raters
from itk_consensus.core.array_types import Mask

#: Distance in voxels between a structure and the border of its volume, or the next structure.
GAP = 4


def vessel_tree(
    shape: Sequence[int], radius: float, rng: np.random.Generator, number: int = 3
) -> Mask:
    """Draw curved tubes of a given radius from one end of the first axis to the other.

    A radius of 0.5 yields lines one voxel wide.
    """
    line = np.zeros(shape, bool)
    steps = np.linspace(GAP, shape[0] - 1 - GAP, 4 * shape[0])
    for _ in range(number):
        walk = gaussian_filter1d(rng.standard_normal((len(shape) - 1, len(steps))), 40, axis=1)
        swing = 0.2 * np.array(shape[1:]) / np.abs(walk).max(axis=1)
        middle = np.array(shape[1:]) * rng.uniform(0.3, 0.7, len(shape) - 1)
        others = middle[:, None] + swing[:, None] * walk
        line[tuple(np.rint(axis).astype(int) for axis in (steps, *others))] = True
    return np.asarray(distance_transform_edt(~line) <= radius)


def ring(shape: Sequence[int], radius: float, wall: float) -> Mask:
    """Return the voxels between two concentric circles or spheres; `radius` is the outer radius."""
    outer = ellipsoid_mask(shape, (radius,) * len(shape))
    return outer & ~ellipsoid_mask(shape, (radius - wall,) * len(shape))


def scattered_lesions(
    shape: Sequence[int],
    number: int,
    voxels: tuple[int, int],
    rng: np.random.Generator,
    avoid: Mask | None = None,
) -> list[Mask]:
    """Draw compact lesions, separated from each other and from `avoid`, with voxel counts in a
    range.

    There are fewer than `number` if not all of them fit.
    """
    taken = np.zeros(shape, bool) if avoid is None else avoid
    lesions: list[Mask] = []
    grid = np.indices(shape).reshape(len(shape), -1)
    for _ in range(20 * number):
        center = rng.uniform(GAP, np.array(shape) - 1 - GAP)
        size = int(rng.integers(voxels[0], voxels[1] + 1))
        distance = np.square(grid - center[:, None]).sum(axis=0)
        chosen = np.argpartition(distance, size)[:size]
        reach = np.sqrt(distance[chosen].max()) + GAP
        if taken.ravel()[distance <= reach**2].any():
            continue
        lesion = np.zeros(shape, bool)
        lesion.ravel()[chosen] = True
        lesions.append(lesion)
        taken = taken | lesion
        if len(lesions) == number:
            break
    return lesions


PLANE = (96, 96)
VOLUME = (32, 40, 40)

#: Displacement, bias and smoothness of contours for structures a few voxels thick.
FINE_ERRORS: dict[str, Any] = {"displacement": 0.5, "bias": 0.25, "smoothness": 4.0}
COARSE_ERRORS: dict[str, Any] = {"displacement": 1.2, "bias": 0.5, "smoothness": 8.0}
LESION_ERRORS: dict[str, Any] = {"displacement": 0.7, "bias": 0.3, "smoothness": 6.0}


class SpacedCase(NamedTuple):
    """True segmentation (\\*shape), its raters (raters, \\*shape), and the voxel size in array
    order.
    """

    truth: NDArray[Any]
    raters: NDArray[Any]
    spacing: tuple[float, ...]


def _isotropic(truth: NDArray[Any], raters: NDArray[Any]) -> SpacedCase:
    return SpacedCase(truth, raters, (1.0,) * truth.ndim)


def vessels_case(seed: int, shape: Sequence[int], radius: float) -> SpacedCase:
    """Simulate vessels with contour errors of half a voxel."""
    truth = vessel_tree(shape, radius, np.random.default_rng(seed))
    return _isotropic(truth, contour_error_raters(truth, 5, seed, **FINE_ERRORS))


def ring_case(seed: int) -> SpacedCase:
    """Simulate a ring with a wall two voxels thick."""
    truth = ring(PLANE, np.random.default_rng(seed).uniform(15, 35), 2)
    return _isotropic(truth, contour_error_raters(truth, 5, seed, **FINE_ERRORS))


def tiny_lesions_case(seed: int, shape: Sequence[int], voxels: tuple[int, int]) -> SpacedCase:
    """Simulate lesions of a few voxels with contour errors of half a voxel."""
    lesions = scattered_lesions(shape, 8, voxels, np.random.default_rng(seed))
    truth = np.any(lesions, axis=0)
    return _isotropic(truth, contour_error_raters(truth, 5, seed, **FINE_ERRORS))


def tiny_and_big_case(seed: int) -> SpacedCase:
    """Simulate a large lesion with contour errors, and tiny ones around it."""
    rng = np.random.default_rng(seed)
    big = ellipsoid_mask(VOLUME, rng.uniform(6, 9, 3).tolist())
    tiny = np.any(scattered_lesions(VOLUME, 6, (4, 14), rng, big), axis=0)
    raters = contour_error_raters(big, 5, seed, **COARSE_ERRORS)
    raters |= contour_error_raters(tiny, 5, seed + 1, **FINE_ERRORS)
    return _isotropic(big | tiny, raters)


def touching_labels_case(seed: int) -> SpacedCase:
    """Simulate three nested shells: four labels that all touch."""
    truth = nested_phantom(VOLUME, 4, seed).truth
    return _isotropic(truth, contour_error_raters(truth, 5, seed, **COARSE_ERRORS))


def anisotropic_case(seed: int) -> SpacedCase:
    """Simulate an ellipsoid on slices four times as thick as pixels are wide, with voxel noise."""
    truth = ellipsoid_mask((12, 48, 48), (3.5, 14, 12))
    noise = np.random.default_rng(seed).uniform((0.8, 0.92), (0.95, 0.99), (5, 2))
    raters = heterogeneous_raters(truth, seed, [(s, t) for s, t in noise])
    return SpacedCase(truth, raters, (4.0, 1.0, 1.0))


def drawn_case(seed: int, step: int) -> SpacedCase:
    """Simulate five raters, two of whom draw contours `step` voxels too far outside (negative:
    inside).
    """
    truth = disc_phantom(18, shape=PLANE).truth
    raters = contour_error_raters(truth, 5, seed, **COARSE_ERRORS)
    change = binary_dilation if step > 0 else binary_erosion
    for rater in raters[:2]:
        rater[...] = change(rater, iterations=abs(step))
    return _isotropic(truth, raters)


def colluding_case(seed: int) -> SpacedCase:
    """Simulate five raters, three of whom copy a mask with an additional lobe, with few changes."""
    rng = np.random.default_rng(seed)
    truth = disc_phantom(18, shape=PLANE).truth
    raters = contour_error_raters(truth, 5, seed, **COARSE_ERRORS)
    angle = rng.uniform(0, 2 * np.pi)
    lobe = 48 + 20 * np.array([np.cos(angle), np.sin(angle)])
    raters[:3] = raters[0] | ellipsoid_mask(PLANE, (9, 9), lobe.tolist())
    raters[:3] ^= _near_contour(raters[0]) & (rng.random((3, *PLANE)) < 0.05)
    return _isotropic(truth, raters)


def odd_raters_case(seed: int, empty: int = 0, inverted: int = 0) -> SpacedCase:
    """Simulate five raters with noise and contour errors, some of whose masks are empty or
    inverted.
    """
    case = crowd_case(seed, 5)
    case.raters[:empty] = False
    case.raters[empty : empty + inverted] = ~case.raters[empty : empty + inverted]
    return case


def crowd_case(seed: int, number: int) -> SpacedCase:
    """Simulate a disc, and raters with contour errors and some voxel noise."""
    truth = disc_phantom(16, shape=PLANE).truth
    raters = contour_error_raters(truth, number, seed, **COARSE_ERRORS)
    raters ^= np.random.default_rng(seed + 1).random(raters.shape) < 0.03
    return _isotropic(truth, raters)


def missed_lesions_case(seed: int, detection: float) -> SpacedCase:
    """Simulate raters who find each lesion independently with the same probability."""
    rng = np.random.default_rng(seed)
    lesions = scattered_lesions(PLANE, 6, (40, 160), rng)
    raters = np.zeros((5, *PLANE), bool)
    for index, lesion in enumerate(lesions):
        drawn = contour_error_raters(lesion, 5, 10 * seed + index, **LESION_ERRORS)
        raters |= drawn & (rng.random(5) < detection)[:, None, None]
    return _isotropic(np.any(lesions, axis=0), raters)


def false_lesions_case(seed: int) -> SpacedCase:
    """Simulate four lesions that all raters find; every rater adds two false ones."""
    rng = np.random.default_rng(seed)
    truth = np.any(scattered_lesions(PLANE, 4, (40, 160), rng), axis=0)
    raters = contour_error_raters(truth, 5, seed, **LESION_ERRORS)
    for rater in raters:
        rater |= np.any(scattered_lesions(PLANE, 2, (20, 80), rng), axis=0)
    return _isotropic(truth, raters)


def border_flips_case(seed: int) -> SpacedCase:
    """Simulate raters who flip voxels on either side of the contour with probability 1/4."""
    rng = np.random.default_rng(seed)
    truth = ellipsoid_mask(PLANE, rng.uniform(12, 28, 2).tolist())
    return _isotropic(truth, truth ^ (_near_contour(truth) & (rng.random((5, *PLANE)) < 0.25)))


def organ_case(seed: int) -> SpacedCase:
    """Simulate a 3D organ with contour errors of 1.2 voxels."""
    semi_axes = np.random.default_rng(seed).uniform((8, 10, 10), (12, 15, 15))
    truth = ellipsoid_mask(VOLUME, semi_axes.tolist())
    return _isotropic(truth, contour_error_raters(truth, 5, seed, **COARSE_ERRORS))


def _near_contour(mask: Mask) -> Mask:
    return np.asarray(binary_dilation(mask) & ~binary_erosion(mask))


STRUCTURE_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    "vessels 2D r0.5": partial(vessels_case, shape=PLANE, radius=0.5),
    "vessels 2D r1": partial(vessels_case, shape=PLANE, radius=1.0),
    "vessels 2D r1.5": partial(vessels_case, shape=PLANE, radius=1.5),
    "vessels 3D r1": partial(vessels_case, shape=VOLUME, radius=1.0),
    "vessels 3D r1.5": partial(vessels_case, shape=VOLUME, radius=1.5),
    "ring": ring_case,
    "tiny lesions 2D": partial(tiny_lesions_case, shape=PLANE, voxels=(3, 10)),
    "tiny lesions 3D": partial(tiny_lesions_case, shape=VOLUME, voxels=(4, 20)),
    "tiny and big 3D": tiny_and_big_case,
    "touching labels 3D": touching_labels_case,
    "anisotropic noise": anisotropic_case,
    "over-drawing": partial(drawn_case, step=3),
    "under-drawing": partial(drawn_case, step=-3),
    "colluding": colluding_case,
    "two empty": partial(odd_raters_case, empty=2),
    "one inverted": partial(odd_raters_case, inverted=1),
    "2 raters": partial(crowd_case, number=2),
    "3 raters": partial(crowd_case, number=3),
    "4 raters": partial(crowd_case, number=4),
    "15 raters": partial(crowd_case, number=15),
    "missed lesions .8": partial(missed_lesions_case, detection=0.8),
    "missed lesions .45": partial(missed_lesions_case, detection=0.45),
    "false lesions": false_lesions_case,
    "border flips": border_flips_case,
    "organ 3D": organ_case,
}
