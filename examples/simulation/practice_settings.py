"""Simulate realistic readers, and gross errors ("slips") of one of them.

`SLIP_SETTINGS` are settings in which earlier versions failed: masks that are inverted, empty, next
to the structure or too wide, absent structures, readers of unequal skill, and readers who omit
parts. Rules and thresholds were chosen on seeds below 3000 of these settings. Nothing was chosen
on `PRACTICE_SETTINGS`, which are for reporting, from seed 3000 on.

Each setting is a function of a seed. Sizes are in voxels and axes in array order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion, distance_transform_edt, shift

from examples.simulation.contour_errors import contour_error_raters, smooth_field
from examples.simulation.phantoms import ellipsoid_mask
from examples.simulation.structure_settings import (
    COARSE_ERRORS,
    FINE_ERRORS,
    LESION_ERRORS,
    PLANE,
    VOLUME,
    SpacedCase,
    scattered_lesions,
    vessel_tree,
)
from itk_consensus.core.array_types import Mask

Change = Callable[[Mask, np.random.Generator], Mask]


def inverted(mask: Mask, rng: np.random.Generator) -> Mask:
    """Swap background and structure."""
    return ~mask


def emptied(mask: Mask, rng: np.random.Generator) -> Mask:
    """Return an empty mask."""
    return np.zeros_like(mask)


def beside(mask: Mask, rng: np.random.Generator) -> Mask:
    """Shift the mask to the adjacent tissue on a random side."""
    axis = int(rng.integers(mask.ndim))
    along = np.flatnonzero(mask.any(axis=tuple(set(range(mask.ndim)) - {axis})))
    if not len(along):
        return mask
    reach = int(along[-1] - along[0]) + 1
    room = (int(along[0]), mask.shape[axis] - 1 - int(along[-1]))
    moved = min(reach, max(room)) * (1 if room[1] >= room[0] else -1)
    offsets = [moved if k == axis else 0 for k in range(mask.ndim)]
    return np.asarray(shift(mask.view(np.uint8), offsets, order=0) != 0)


def widened(mask: Mask, rng: np.random.Generator) -> Mask:
    """Widen the mask by three voxels."""
    return np.asarray(binary_dilation(mask, iterations=3))


#: Gross errors that a reader may make, by name.
SLIPS: dict[str, Change] = {
    "inverted": inverted,
    "empty": emptied,
    "beside": beside,
    "three wider": widened,
}


def blob(seed: int, shape: Sequence[int] = PLANE) -> Mask:
    """Return a smooth, irregular structure in the middle of a grid."""
    rng = np.random.default_rng(seed)
    semi_axes = rng.uniform(0.17, 0.28, len(shape)) * np.array(shape)
    grid = np.indices(shape, float).reshape(len(shape), -1)
    middle = np.array(shape)[:, None] / 2
    radius = np.sqrt(np.square((grid - middle) / semi_axes[:, None]).sum(axis=0))
    bumps = smooth_field(grid, np.array(shape, float), 12.0, rng)
    return np.asarray((radius < 1 + 0.15 * bumps).reshape(shape))


def slip_case(seed: int, readers: int, change: Change) -> SpacedCase:
    """Simulate readers with contour errors, the first of whom makes a slip."""
    truth = blob(seed)
    raters = contour_error_raters(truth, readers, seed, **COARSE_ERRORS)
    raters[0] = change(raters[0], np.random.default_rng(seed + 1))
    return SpacedCase(truth, raters, (1.0, 1.0))


def absent_case(seed: int, readers: int, drawers: int) -> SpacedCase:
    """Simulate an absent structure; some readers outline something similar at about the same
    place.
    """
    rng = np.random.default_rng(seed)
    seen = ellipsoid_mask(PLANE, rng.uniform(5, 11, 2).tolist(), rng.uniform(35, 60, 2).tolist())
    raters = np.zeros((readers, *PLANE), bool)
    raters[:drawers] = contour_error_raters(seen, drawers, seed, **COARSE_ERRORS)
    return SpacedCase(np.zeros(PLANE, bool), raters, (1.0, 1.0))


def several_empty_case(seed: int, readers: int, empty: int) -> SpacedCase:
    """Simulate a structure that is present, but for which some readers left the mask empty."""
    truth = blob(seed)
    raters = contour_error_raters(truth, readers, seed, **COARSE_ERRORS)
    raters[:empty] = False
    return SpacedCase(truth, raters, (1.0, 1.0))


def skill_case(seed: int, displacements: Sequence[float], biases: Sequence[float]) -> SpacedCase:
    """Simulate readers with the given contour displacements and biases."""
    hands = [(bias, spread, 6.0) for spread, bias in zip(displacements, biases, strict=True)]
    return _drawn_by(hands, seed)


def _drawn_by(hands: Sequence[tuple[float, float, float]], seed: int) -> SpacedCase:
    """Simulate readers of one structure, each with a bias, spread and smoothness of the contour."""
    truth = blob(seed)
    rng = np.random.default_rng(seed)
    distance = signed_distance(truth)
    grid = np.indices(PLANE, float).reshape(2, -1)
    extent = np.array(PLANE, float)
    raters = [
        distance + bias + spread * smooth_field(grid, extent, length, rng).reshape(PLANE) > 0
        for bias, spread, length in hands
    ]
    return SpacedCase(truth, np.array(raters), (1.0, 1.0))


def networks_case(seed: int) -> SpacedCase:
    """Simulate ten networks on vessels: six similar good ones, two weak ones, one that failed, and
    one with wrongly scaled probabilities.

    The good ones were trained on the same data and share most of their errors: missed branches, and
    edges slightly too far inside.
    """
    rng = np.random.default_rng(seed)
    trunk = vessel_tree(PLANE, 2.0, rng, number=2)
    branches = vessel_tree(PLANE, 1.0, rng, number=4)
    truth = trunk | branches
    grid = np.indices(PLANE, float).reshape(2, -1)
    extent = np.array(PLANE, float)
    distance = signed_distance(truth)

    def drawn(bias: float, spread: float, smoothness: float, common: float = 0.0) -> Mask:
        own = smooth_field(grid, extent, smoothness, rng).reshape(PLANE)
        return np.asarray(distance + bias + common * shared + spread * own > 0)

    shared = smooth_field(grid, extent, 6.0, rng).reshape(PLANE)
    good = [drawn(-0.3, 0.45, 3.0, 0.5) for _ in range(6)]
    weak = [drawn(-0.8, 1.0, 3.0) for _ in range(2)]
    failed = np.zeros(PLANE, bool)
    failed[: PLANE[0] // 8] = truth[: PLANE[0] // 8]
    ill_scaled = np.asarray(distance > -6)
    return SpacedCase(truth, np.array([*good, *weak, failed, ill_scaled]), (1.0, 1.0))


def multifocal_case(seed: int, detection: float, readers: int = 5) -> SpacedCase:
    """Simulate many foci of all sizes, each of which a reader finds with the same probability."""
    rng = np.random.default_rng(seed)
    foci = scattered_lesions(PLANE, 10, (15, 120), rng)
    raters = np.zeros((readers, *PLANE), bool)
    for index, focus in enumerate(foci):
        drawn = contour_error_raters(focus, readers, 20 * seed + index, **LESION_ERRORS)
        raters |= drawn & (rng.random(readers) < detection)[:, None, None]
    return SpacedCase(np.any(foci, axis=0), raters, (1.0, 1.0))


def different_edges_case(seed: int) -> SpacedCase:
    """Simulate four readers of a wall: two follow its outer edge, and two its inner edge."""
    return skill_case(seed, [0.7] * 4, [0.3, 0.3, -2.5, -2.5])


def brush_case(seed: int, readers: int = 4) -> SpacedCase:
    """Simulate readers who paint with a round brush, in dabs that leave gaps."""
    rng = np.random.default_rng(seed)
    truth = blob(seed)
    brush = ellipsoid_mask((9, 9), (4, 4))
    inner = np.argwhere(binary_erosion(truth, brush))
    raters = np.zeros((readers, *PLANE), bool)
    for rater in raters:
        dabs = np.zeros(PLANE, bool)
        chosen = inner[rng.random(len(inner)) < 60 / max(len(inner), 1)]
        dabs[tuple((chosen + rng.integers(-1, 2, chosen.shape)).T)] = True
        rater[...] = binary_dilation(dabs, brush)
    return SpacedCase(truth, raters, (1.0, 1.0))


def partial_case(seed: int) -> SpacedCase:
    """Simulate readers who omit the part of a structure beyond a line, different for each
    reader."""
    rng = np.random.default_rng(seed)
    truth = blob(seed)
    raters = contour_error_raters(truth, 5, seed, **LESION_ERRORS)
    grid = np.indices(PLANE, float)
    for rater in raters:
        angle = rng.uniform(0, 2 * np.pi)
        along = grid[0] * np.cos(angle) + grid[1] * np.sin(angle)
        rater &= along < np.quantile(along[truth], rng.uniform(0.5, 1.0))
    return SpacedCase(truth, raters, (1.0, 1.0))


def signed_distance(mask: Mask, spacing: Sequence[float] | None = None) -> NDArray[np.float64]:
    """Return the signed distance to the contour, positive inside."""
    inside = distance_transform_edt(mask, sampling=spacing)
    outside = distance_transform_edt(~mask, sampling=spacing)
    return np.asarray(np.where(mask, inside - 0.5, 0.5 - outside))


SLIP_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    f"{readers} readers, one {name}": partial(slip_case, readers=readers, change=change)
    for readers in (3, 4, 5)
    for name, change in SLIPS.items()
} | {
    "absent, 2 of 5 drew": partial(absent_case, readers=5, drawers=2),
    "absent, 2 of 7 drew": partial(absent_case, readers=7, drawers=2),
    "2 of 5 empty": partial(several_empty_case, readers=5, empty=2),
    "ten networks": networks_case,
    "3 good, 7 generous": partial(
        skill_case, displacements=[0.5] * 3 + [2.0] * 7, biases=[0.0] * 3 + [1.5] * 7
    ),
    "expert and novices": partial(skill_case, displacements=[0.4] + [2.5] * 4, biases=[0.0] * 5),
    "multifocal .6": partial(multifocal_case, detection=0.6),
    "different edges": different_edges_case,
    "brush strokes": brush_case,
    "partial annotation": partial_case,
}


def styles_case(seed: int) -> SpacedCase:
    """Simulate five readers with different styles: large, small, smooth, rough, and accurate
    contours.
    """
    wide, tight, smooth = (1.5, 0.8, 8.0), (-1.5, 0.8, 8.0), (0.0, 1.5, 16.0)
    rough, by_the_book = (0.3, 1.2, 2.5), (0.0, 0.5, 6.0)
    return _drawn_by([wide, tight, smooth, rough, by_the_book], seed)


def thick_slices_case(seed: int) -> SpacedCase:
    """Simulate thick slices, of which readers often omit the first or the last one."""
    rng = np.random.default_rng(seed)
    shape, spacing = (12, 40, 40), (5.0, 1.0, 1.0)
    truth = ellipsoid_mask(shape, [rng.uniform(3, 4.5), rng.uniform(8, 13), rng.uniform(8, 13)])
    raters = contour_error_raters(
        truth, 5, seed, displacement=0.8, bias=0.3, smoothness=8.0, spacing=spacing
    )
    for rater in raters:
        slices = np.flatnonzero(rater.any(axis=(1, 2)))
        for end in (slices[0], slices[-1]):
            rater[end] &= rng.random() > 0.4
    return SpacedCase(truth, raters, spacing)


def misregistered_case(seed: int) -> SpacedCase:
    """Simulate five readers of an organ whose masks are misregistered by one or two voxels."""
    rng = np.random.default_rng(seed)
    truth = blob(seed, VOLUME)
    raters = contour_error_raters(truth, 5, seed, **LESION_ERRORS)
    for rater in raters:
        moved = shift(rater.astype(np.float32), rng.normal(0, 1.2, 3), order=1)
        rater[...] = moved > 0.5
    return SpacedCase(truth, raters, (1.0, 1.0, 1.0))


def polygons_case(seed: int) -> SpacedCase:
    """Simulate four readers who click a polygon with few vertices on the contour."""
    rng = np.random.default_rng(seed)
    truth = blob(seed)
    middle = np.argwhere(truth).mean(axis=0)
    grid = np.indices(PLANE, float) - middle[:, None, None]
    raters = [_polygon(truth, middle, grid, int(rng.integers(7, 14)), rng) for _ in range(4)]
    return SpacedCase(truth, np.array(raters), (1.0, 1.0))


def _polygon(
    truth: Mask,
    middle: NDArray[Any],
    grid: NDArray[Any],
    vertices: int,
    rng: np.random.Generator,
) -> Mask:
    """Return a polygon whose vertices lie on the contour with an error of half a voxel."""
    angles = (np.arange(vertices) + rng.uniform(-0.3, 0.3, vertices)) * 2 * np.pi / vertices
    steps = np.arange(0, max(PLANE), 0.25)
    radii = []
    for angle in angles:
        ray = np.rint(middle[:, None] + np.outer([np.sin(angle), np.cos(angle)], steps))
        ray = np.clip(ray, 0, np.array(PLANE)[:, None] - 1).astype(int)
        radii.append(steps[np.flatnonzero(truth[tuple(ray)])[-1]] + rng.normal(0.3, 0.5))
    around = np.stack([radii * np.sin(angles), radii * np.cos(angles)], axis=1)
    inside = np.zeros(PLANE, bool)
    for start, end in zip(around, np.roll(around, -1, axis=0), strict=True):
        # A voxel is inside the triangle formed by the middle and two adjacent vertices if it is on
        # the same side of all three edges.
        sides = [
            _side(grid, first, second)
            for first, second in ((np.zeros(2), start), (start, end), (end, np.zeros(2)))
        ]
        inside |= np.all([side >= 0 for side in sides], axis=0)
        inside |= np.all([side <= 0 for side in sides], axis=0)
    return inside


def _side(grid: NDArray[Any], start: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
    along = end - start
    return np.asarray(along[0] * (grid[1] - start[1]) - along[1] * (grid[0] - start[0]))


def edits_case(seed: int) -> SpacedCase:
    """Simulate five readers who correct those errors of an automatic contour that they notice.

    The contour is too wide at two places and too narrow at two others; a reader corrects each of
    them with a probability of .7, with individual errors, and leaves the rest unchanged.
    """
    rng = np.random.default_rng(seed)
    truth = blob(seed)
    distance = signed_distance(truth)
    grid = np.indices(PLANE, float)
    flat = grid.reshape(2, -1)
    contour = np.argwhere(truth & ~binary_erosion(truth))
    faults = contour[rng.choice(len(contour), 4, replace=False)]
    bumps = [np.exp(-np.square(grid - at[:, None, None]).sum(axis=0) / 2 / 6**2) for at in faults]
    errors = [4.0 * bump * sign for bump, sign in zip(bumps, (1, 1, -1, -1), strict=True)]
    automatic = distance + np.sum(errors, axis=0)
    raters = []
    for _ in range(5):
        own = automatic.copy()
        for bump, error in zip(bumps, errors, strict=True):
            if rng.random() < 0.7:
                hand = smooth_field(flat, np.array(PLANE, float), 6.0, rng).reshape(PLANE)
                own += bump * hand - error
        raters.append(own > 0)
    return SpacedCase(truth, np.array(raters), (1.0, 1.0))


def branches_case(seed: int) -> SpacedCase:
    """Simulate a tree of vessels; readers draw the trunk, and each side branch with probability
    3/4.
    """
    rng = np.random.default_rng(seed)
    trunk = vessel_tree(PLANE, 2.0, rng, number=1)
    branches = [vessel_tree(PLANE, 1.0, rng, number=1) for _ in range(4)]
    truth = np.any([trunk, *branches], axis=0)
    raters = []
    for reader in range(5):
        kept = [branch for branch in branches if rng.random() < 0.75]
        drawn = np.any([trunk, *kept], axis=0)
        raters.append(contour_error_raters(drawn, 1, 10 * seed + reader, **FINE_ERRORS)[0])
    return SpacedCase(truth, np.array(raters), (1.0, 1.0))


PRACTICE_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    "reader styles": styles_case,
    "thick slices": thick_slices_case,
    "misregistration": misregistered_case,
    "polygons": polygons_case,
    "edited contour": edits_case,
    "missing branches": branches_case,
}
