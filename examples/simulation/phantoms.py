"""Simulate shapes with a known segmentation and a noisy image.

Sizes are in voxels and axes in array order, so a 3D shape is (z, y, x).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.errors import ParameterError

PAPER_SHAPE = (128, 128)
PAPER_SEMI_AXES = (35, 25)
PAPER_NOISE = 0.08
PAPER_CONTRAST = 0.7


class Phantom(NamedTuple):
    """A true segmentation and an image of it."""

    truth: NDArray[Any]  #: bool for one structure, uint8 for labels (0 = background)
    image: NDArray[np.float64]  #: Same shape as `truth`


def ellipsoid_mask(
    shape: Sequence[int], semi_axes: Sequence[float], center: Sequence[float] | None = None
) -> NDArray[np.bool_]:
    """Return the voxels whose centre lies inside or on an axis-aligned ellipsoid of any dimension.

    Parameters
    ----------
    shape, semi_axes, center : sequences of one number per axis
        `center` defaults to ``shape // 2``.
    """
    center = [side // 2 for side in shape] if center is None else center
    if not len(shape) == len(semi_axes) == len(center):
        raise ParameterError(
            "ellipsoid_mask: shape, semi_axes and center need one number per axis, "
            f"got {len(shape)}, {len(semi_axes)} and {len(center)}"
        )
    grid = np.ogrid[tuple(slice(side) for side in shape)]
    squared_radius = np.zeros((1,) * len(shape))
    for x, c, r in zip(grid, center, semi_axes, strict=True):
        squared_radius = squared_radius + ((x - c) / r) ** 2
    return squared_radius <= 1


def _noisy_image(
    intensities: NDArray[Any], noise: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    return intensities + noise * rng.standard_normal(intensities.shape)


def ellipsoid_phantom(
    shape: Sequence[int] = PAPER_SHAPE,
    semi_axes: Sequence[float] = PAPER_SEMI_AXES,
    seed: int = 0,
    *,
    center: Sequence[float] | None = None,
    noise: float = PAPER_NOISE,
    contrast: float = PAPER_CONTRAST,
) -> Phantom:
    """Simulate one ellipsoid. The defaults are the paper's phantom (section 3.1).

    The image is ``contrast * truth + noise * N(0, 1)``.
    """
    truth = ellipsoid_mask(shape, semi_axes, center)
    return Phantom(truth, _noisy_image(contrast * truth, noise, np.random.default_rng(seed)))


def disc_phantom(radius: float, seed: int = 0, shape: Sequence[int] = PAPER_SHAPE) -> Phantom:
    """Simulate one disc (2D `shape`) or ball (3D `shape`), as in the paper's Table 3."""
    return ellipsoid_phantom(shape, (radius,) * len(shape), seed)


def nested_phantom(
    shape: Sequence[int] = (64, 96, 96),
    number_of_labels: int = 4,
    seed: int = 0,
    *,
    noise: float = PAPER_NOISE,
    contrast: float = PAPER_CONTRAST,
) -> Phantom:
    """Simulate concentric ellipsoids: label 1 is the outermost shell, the highest label the core.

    Parameters
    ----------
    shape : sequence of int
        2D, 3D or 4D.
    number_of_labels : int
        K, background included. Shells have equal thickness, and the semi-axes of the outermost are
        40 % of each side. Intensities increase in equal steps up to `contrast` in the core.
    """
    shells = _check_number("nested_phantom", "number_of_labels", number_of_labels, 2, 256) - 1
    truth = np.zeros(shape, np.uint8)
    for shell in range(shells):
        scale = 0.4 * (shells - shell) / shells
        truth += ellipsoid_mask(shape, [max(scale * side, 0.5) for side in shape])
    rng = np.random.default_rng(seed)
    return Phantom(truth, _noisy_image(contrast * truth / shells, noise, rng))


def organs_phantom(
    shape: Sequence[int] = (64, 96, 96), number_of_organs: int = 5, seed: int = 0
) -> Phantom:
    """Simulate separate ellipsoids of random size and position, labelled 1 to `number_of_organs`.

    The volume is divided into equal cells and each organ is drawn inside its own cell, so that
    organs never overlap and none is missing.
    """
    _check_number("organs_phantom", "number_of_organs", number_of_organs, 1, 255)
    rng = np.random.default_rng(seed)
    cells = list(itertools.product(*_cell_slices(shape, number_of_organs)))
    truth = np.zeros(shape, np.uint8)
    for label, cell in enumerate(rng.permutation(len(cells))[:number_of_organs], start=1):
        region = truth[cells[cell]]
        half = np.array(region.shape) / 2
        semi_axes = half * rng.uniform(0.45, 0.85, region.ndim)
        slack = half - semi_axes - 0.5
        center = half - 0.5 + np.maximum(slack, 0) * rng.uniform(-1, 1, region.ndim)
        region[ellipsoid_mask(region.shape, semi_axes.tolist(), center.tolist())] = label
    intensities = PAPER_CONTRAST * truth / number_of_organs
    return Phantom(truth, _noisy_image(intensities, PAPER_NOISE, rng))


def _cell_slices(shape: Sequence[int], number: int) -> list[list[slice]]:
    """Divide the axis with the longest cells into one more part until there are `number` cells or
    more.
    """
    parts = [1] * len(shape)
    while np.prod(parts) < number:
        axis = int(np.argmax([side / part for side, part in zip(shape, parts, strict=True)]))
        parts[axis] += 1
    edges = [
        np.linspace(0, *pair).astype(int) for pair in zip(shape, np.add(parts, 1), strict=True)
    ]
    smallest = min(int(np.diff(edge).min()) for edge in edges)
    if smallest < 4:
        raise ParameterError(
            f"organs_phantom: number_of_organs must leave cells of at least 4 voxels a side, "
            f"got {number} for shape {tuple(shape)}"
        )
    return [[slice(a, b) for a, b in itertools.pairwise(edge)] for edge in edges]


def _check_number(function: str, parameter: str, value: int, lowest: int, highest: int) -> int:
    if not lowest <= value <= highest:
        raise ParameterError(
            f"{parameter} must be {lowest} to {highest}, got {value}", owner=function
        )
    return value
