"""Simulate small cases, which are fast enough to test guarantees on thousands of them.

A structure consists of the points at which a level function (in mm) is negative. Each reader or
ensemble member adds a shared error, an individual error and an individual constant; all have a
common bias. Voxel sizes are random, as in scans, so equal distances are rare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.errors import ParameterError

#: Kinds of structures: a disc, three lesions (one of them tiny), or an ellipsoid on thick slices.
LEVEL_FAMILIES = ("disc", "lesions", "thick slices")

_WAVES = 5
_WAVELENGTHS = (12.0, 40.0)
_SOFTNESS = 1.5


class LevelCase(NamedTuple):
    """True mask, masks of the readers or probabilities of the networks, and voxel size in mm."""

    truth: Mask  #: (\\*shape)
    members: NDArray[np.float32]  #: (J, \\*shape): masks of 0 and 1, or probabilities
    spacing: tuple[float, ...]


def level_case(
    seed: int, family: str, *, members: int = 5, bias: float = 0.0, soft: bool = False
) -> LevelCase:
    """Draw one case.

    Parameters
    ----------
    family : str
        One of `LEVEL_FAMILIES`.
    members : int
        Number of readers or networks.
    bias : float
        Distance in mm by which all members draw too tightly; negative if too widely.
    soft : bool
        Whether members are networks, which return probabilities, rather than readers, who draw
        masks.
    """
    if family not in LEVEL_FAMILIES:
        raise ParameterError(
            f"level_case: family must be one of {', '.join(LEVEL_FAMILIES)}, got {family!r}"
        )
    rng = np.random.default_rng([seed, LEVEL_FAMILIES.index(family)])
    spacing, grid = _grid(rng, family)
    level = _level(rng, family, grid)
    hard = np.exp(rng.normal(0, 0.3))
    shared = 0.5 * hard * _waves(rng, grid) + bias
    drawn = np.empty((members, *level.shape), np.float32)
    for member in drawn:
        own = hard * (0.8 * _waves(rng, grid) + rng.normal(0, 0.5))
        moved = level + shared + own
        member[...] = expit(-moved / _SOFTNESS) if soft else moved < 0
    return LevelCase(level < 0, drawn, spacing)


def _grid(rng: np.random.Generator, family: str) -> tuple[tuple[float, ...], list[Floats]]:
    """Return voxel sizes, and the voxels' coordinates in mm along each axis, 0 at the centre."""
    flat = float(rng.uniform(0.7, 1.1))
    extents: tuple[int, ...] = (48, 48)
    spacing: tuple[float, ...] = (flat, flat)
    if family == "thick slices":
        extents, spacing = (12, 28, 28), (float(rng.uniform(2.5, 3.5)), 1.6 * flat, 1.6 * flat)
    axes = [
        (np.arange(extent) - (extent - 1) / 2) * step
        for extent, step in zip(extents, spacing, strict=True)
    ]
    return spacing, list(np.meshgrid(*axes, indexing="ij", sparse=True))


def _level(rng: np.random.Generator, family: str, grid: list[Floats]) -> Floats:
    if family == "lesions":
        places = [(-7.0, -7.0, 6.0), (7.0, -4.0, 4.5), (2.0, 9.0, 3.5)]
        balls = [
            _ball(grid, rng.normal([y, x], 1.0).tolist(), [radius * rng.uniform(0.8, 1.2)] * 2)
            for y, x, radius in places
        ]
        return np.asarray(np.minimum.reduce(balls))
    radii = rng.uniform(8, 13, len(grid)).tolist()
    centre = rng.uniform(-2, 2, len(grid)).tolist()
    return np.asarray(_ball(grid, centre, radii) + _waves(rng, grid))


def _ball(grid: list[Floats], centre: list[float], radii: list[float]) -> Floats:
    squares = [((x - c) / r) ** 2 for x, c, r in zip(grid, centre, radii, strict=True)]
    return np.asarray((np.sqrt(sum(squares)) - 1) * np.mean(radii))


def _waves(rng: np.random.Generator, grid: list[Floats]) -> Floats:
    """Return a smooth field of unit variance: a sum of waves of random direction and length."""
    field: Floats = np.zeros(())
    for _ in range(_WAVES):
        direction = rng.standard_normal(len(grid))
        direction *= 2 * np.pi / rng.uniform(*_WAVELENGTHS) / np.linalg.norm(direction)
        phase = sum(x * k for x, k in zip(grid, direction, strict=True))
        field = field + np.cos(phase + rng.uniform(0, 2 * np.pi))
    return np.asarray(field * np.sqrt(2 / _WAVES))
