"""Thin and small structures whose true segmentation is known: vessels, rings and lesions.

Sizes are in voxels and axes in array order. All are bool masks and functions of a generator.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import distance_transform_edt, gaussian_filter1d

from itk_consensus.array_types import Mask
from itk_consensus.simulation.phantoms import ellipsoid_mask

#: Voxels between a structure and the border of its volume, or the next structure.
GAP = 4


def vessel_tree(
    shape: Sequence[int], radius: float, rng: np.random.Generator, number: int = 3
) -> Mask:
    """Winding tubes from one end of the first axis to the other, at most `radius` from a line.

    A radius of 0.5 is a line one voxel wide.
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
    """Voxels between two concentric circles or spheres, the outer of the given radius."""
    outer = ellipsoid_mask(shape, (radius,) * len(shape))
    return outer & ~ellipsoid_mask(shape, (radius - wall,) * len(shape))


def scattered_lesions(
    shape: Sequence[int],
    number: int,
    voxels: tuple[int, int],
    rng: np.random.Generator,
    avoid: Mask | None = None,
) -> list[Mask]:
    """Compact lesions of a number of voxels in a range, apart from each other and from `avoid`.

    Fewer than `number` where they do not fit.
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
