"""Simulate readers who delineate individual lesions, which may be missed, split or merged.

The true lesions and the readers' lesions are instance maps; the readers' instance labels are
arbitrary. Each setting is a function of a seed, and `LESION_SETTINGS` maps their names to them.
Defaults were chosen on seeds below 3000.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, gaussian_filter

from examples.simulation.structure_settings import SpacedCase
from itk_consensus.core.array_types import Floats

#: Shapes, in voxels, of the simulated 2D and 3D images.
LESION_PLANE = (128, 128)
LESION_VOLUME = (20, 64, 64)

#: Standard deviation of the contours' displacement, and its correlation length, in mm.
_DISPLACEMENT, _SMOOTHNESS = 0.6, 4.0


@dataclass(frozen=True)
class LesionSetting:
    """Parameters of the lesions and of the readers who detect and outline them."""

    readers: int = 5
    lesions: int = 12
    radius: tuple[float, float] = (2.0, 6.0)  #: Smallest and largest, in mm
    #: Detection probabilities of (the smallest, the largest lesion), for the worst and the best
    #: reader.
    finding: tuple[tuple[float, float], tuple[float, float]] = ((0.8, 0.8), (0.8, 0.8))
    #: Mean number of false lesions per case, for the reader who finds fewest and the one who finds
    #: most
    false_finds: tuple[float, float] = (0.0, 0.0)
    split: float = 0.0  #: Probability that a reader draws one lesion as two
    joined: float = 0.0  #: Probability that a reader merges touching lesions
    touching: bool = False  #: Whether lesions form touching pairs
    shape: tuple[int, ...] = LESION_PLANE
    spacing: tuple[float, ...] = (1.0, 1.0)


def lesion_case(seed: int, setting: LesionSetting) -> SpacedCase:
    """Draw the true lesions and the readers' lesions, as instance maps of uint16."""
    rng = np.random.default_rng([34, seed])
    truth, radii = _truth(setting, rng)
    finding = _finding(setting, radii)
    numbers = np.linspace(*setting.false_finds, setting.readers)
    maps = [
        _reader(truth, finding[reader], numbers[reader], setting, rng)
        for reader in range(setting.readers)
    ]
    order = rng.permutation(setting.readers)
    return SpacedCase(truth, np.stack([maps[reader] for reader in order]), setting.spacing)


def _truth(setting: LesionSetting, rng: np.random.Generator) -> tuple[NDArray[np.uint16], Floats]:
    """Draw separate balls, or touching pairs of balls; return their map and radii."""
    grid = _coordinates(setting)
    size = np.array(setting.shape) * setting.spacing
    truth = np.zeros(setting.shape, np.uint16)
    gap = 3.0
    radii: list[float] = []
    for _ in range(40 * setting.lesions):
        if len(radii) >= setting.lesions:
            break
        radius = float(np.exp(rng.uniform(*np.log(setting.radius))))
        middles = [rng.uniform(0, size)]
        if setting.touching:
            step = rng.standard_normal(len(size))
            middles.append(middles[0] + 1.7 * radius * step / np.linalg.norm(step))
        distances = [np.sqrt(np.square(grid - _column(m, grid)).sum(axis=0)) for m in middles]
        if truth[np.min(distances, axis=0) <= radius + gap].any():
            continue
        nearest = np.argmin(distances, axis=0)
        drawn = [(d <= radius) & (nearest == k) for k, d in enumerate(distances)]
        if not all(lesion.any() for lesion in drawn):
            continue
        for lesion in drawn:
            radii.append(radius)
            truth[lesion] = len(radii)
    return truth, np.array(radii)


def _finding(setting: LesionSetting, radii: Floats) -> Floats:
    """Return (J, N) detection probabilities, linear in the reader (worst to best) and in the
    logarithm of lesion size.
    """
    low, high = np.log(setting.radius)
    size = (np.log(radii) - low) / max(high - low, 1e-9)
    worst, best = (small + (large - small) * size for small, large in setting.finding)
    share = np.linspace(0, 1, setting.readers)[:, None]
    return np.asarray(worst + (best - worst) * share)


def _reader(
    truth: NDArray[np.uint16],
    finding: Floats,
    false_finds: float,
    setting: LesionSetting,
    rng: np.random.Generator,
) -> NDArray[np.uint16]:
    """Simulate one reader's instance map, with arbitrary instance labels."""
    sizes = [_SMOOTHNESS / side for side in setting.spacing]
    shift = gaussian_filter(rng.standard_normal(truth.shape), sizes)
    shift *= _DISPLACEMENT / shift.std()
    shift += rng.normal(0, 0.25)
    seen = np.flatnonzero(rng.random(len(finding)) < finding) + 1
    own = np.where(np.isin(truth, seen), truth, 0)
    if setting.touching:
        pairs = [n for n in seen if n % 2 and n + 1 in seen and rng.random() < setting.joined]
        for first in pairs:
            own[own == first + 1] = first
    own = _redrawn(own, shift, setting.spacing)
    grid = _coordinates(setting)
    for number in np.unique(own[own > 0]):
        if rng.random() < setting.split:
            _split(own, number, grid, rng)
    for _ in range(rng.poisson(false_finds)):
        radius = rng.uniform(setting.radius[0], np.mean(setting.radius))
        middle = rng.uniform(0, np.array(setting.shape) * setting.spacing)
        ball = np.sqrt(np.square(grid - _column(middle, grid)).sum(axis=0)) + shift <= radius
        own[ball & (own == 0)] = own.max() + 1
    names = np.append(0, 1 + rng.permutation(2 * int(own.max()) + 1)).astype(np.uint16)
    return np.asarray(names[own])


def _redrawn(
    own: NDArray[np.uint16], shift: Floats, spacing: Sequence[float]
) -> NDArray[np.uint16]:
    """Displace the contours of an instance map; added voxels belong to the nearest lesion."""
    if not own.any():
        return own
    outside, nearest = distance_transform_edt(own == 0, spacing, return_indices=True)
    inside = distance_transform_edt(own > 0, spacing)
    near = own[tuple(nearest)]
    return np.where(outside - inside + shift < 0.5 * min(spacing), near, 0).astype(np.uint16)


def _split(own: NDArray[np.uint16], number: int, grid: Floats, rng: np.random.Generator) -> None:
    """Split a lesion by removing a line one voxel wide through its middle."""
    places = np.nonzero(own == number)
    points = np.stack([axis[places] for axis in grid])
    normal = rng.standard_normal(len(grid))
    along = (normal / np.linalg.norm(normal)) @ (points - points.mean(axis=1, keepdims=True))
    values = np.where(along > 0.8, own.max() + 1, np.where(along < -0.8, number, 0))
    own[places] = values


def _coordinates(setting: LesionSetting) -> Floats:
    steps = np.array(setting.spacing).reshape(-1, *[1] * len(setting.shape))
    return np.asarray(np.indices(setting.shape) * steps)


def _column(values: Floats, grid: Floats) -> Floats:
    return values.reshape(-1, *[1] * (grid.ndim - 1))


_PLAIN = LesionSetting()
_BY_SIZE = replace(_PLAIN, finding=((0.45, 0.85), (0.7, 0.95)))
_THICK = replace(
    _PLAIN, shape=LESION_VOLUME, spacing=(3.0, 1.0, 1.0), radius=(3.0, 7.0), lesions=10
)
_CELLS = replace(_PLAIN, touching=True, lesions=24, radius=(4.0, 6.5))

_SETTINGS: dict[str, LesionSetting] = {
    "found .95": replace(_PLAIN, finding=((0.95, 0.95),) * 2),
    "found .7": replace(_PLAIN, finding=((0.7, 0.7),) * 2),
    "found .45": replace(_PLAIN, finding=((0.45, 0.45),) * 2),
    "found by size": _BY_SIZE,
    "found by size, 3 readers": replace(_BY_SIZE, readers=3),
    "found by size, 4 readers": replace(_BY_SIZE, readers=4),
    "found by size, 8 readers": replace(_BY_SIZE, readers=8),
    "by reader .45 to .95": replace(_PLAIN, finding=((0.45, 0.45), (0.95, 0.95))),
    "false finds": replace(_PLAIN, finding=((0.9, 0.9),) * 2, false_finds=(1.0, 3.0)),
    "one invents": replace(_BY_SIZE, false_finds=(0.0, 8.0)),
    "missed and false": replace(_BY_SIZE, false_finds=(0.5, 2.0)),
    "missed and false, 3 readers": replace(_BY_SIZE, readers=3, false_finds=(0.5, 2.0)),
    "few lesions": replace(_BY_SIZE, lesions=3),
    "split": replace(_PLAIN, finding=((0.85, 0.85),) * 2, split=0.2, radius=(4.0, 8.0)),
    "touching": replace(_CELLS, finding=((0.85, 0.85),) * 2),
    "touching and joined": replace(_CELLS, finding=((0.85, 0.85),) * 2, joined=0.25),
    "touching, found .6": replace(_CELLS, finding=((0.6, 0.6),) * 2, false_finds=(0.0, 2.0)),
    "thick slices": replace(_THICK, finding=((0.6, 0.9), (0.8, 0.95))),
    "thick slices, missed and false": replace(
        _THICK, finding=((0.45, 0.85), (0.7, 0.95)), false_finds=(0.5, 2.0), readers=4
    ),
}

LESION_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    name: partial(lesion_case, setting=setting) for name, setting in _SETTINGS.items()
}
