"""Simulate errors caused by tools rather than by hand, for one report on seeds from 3800 on.

The tools are slice interpolation in three directions, atlases warped onto the patient, clickable
tiles, and display windows that show a blurred edge at different places. The size of the errors is
drawn per seed, so readers agree well in some cases and moderately in others.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy import ndimage
from scipy.spatial import cKDTree

from examples.simulation.contour_errors import contour_error_raters, smooth_field
from examples.simulation.harm_settings import ORGAN_VOLUME
from examples.simulation.practice_settings import blob, signed_distance
from examples.simulation.structure_settings import FINE_ERRORS, PLANE, SpacedCase
from itk_consensus.core.array_types import Mask


def directions_case(seed: int) -> SpacedCase:
    """Simulate six readers, two each on axial, coronal and sagittal slices, interpolated by a
    tool.

    They draw on every third to eighth slice. Nothing is drawn beyond the first and the last of
    these slices, so the structure is cut off at both ends of this direction.
    """
    rng = np.random.default_rng(seed)
    truth = blob(seed, ORGAN_VOLUME)
    raters = contour_error_raters(truth, 6, seed, **FINE_ERRORS)
    gap = int(rng.integers(3, 9))
    drawn = [
        _between_slices(rater, number % 3, gap, int(rng.integers(gap)))
        for number, rater in enumerate(raters)
    ]
    return SpacedCase(truth, np.array(drawn), (1.0, 1.0, 1.0))


def _between_slices(mask: Mask, axis: int, gap: int, first: int) -> Mask:
    """Interpolate the contours of every `gap`-th slice by their signed distances."""
    moved = np.moveaxis(mask, axis, 0)
    filled = np.zeros_like(moved)
    drawn = [k for k in range(first, len(moved), gap) if moved[k].any()]
    for low, high in pairwise(drawn):
        start, end = signed_distance(moved[low]), signed_distance(moved[high])
        for k in range(low, high + 1):
            share = (k - low) / (high - low)
            filled[k] = (1 - share) * start + share * end > 0
    if len(drawn) == 1:
        filled[drawn[0]] = moved[drawn[0]]
    return np.moveaxis(filled, 0, axis)


def warped_case(seed: int) -> SpacedCase:
    """Simulate seven atlases of a kidney-shaped organ, each warped by an independent smooth
    field.
    """
    rng = np.random.default_rng(seed)
    organ, hilus = blob(seed, ORGAN_VOLUME), blob(seed + 1, ORGAN_VOLUME)
    truth = organ & ~np.roll(hilus, int(rng.integers(12, 18)), axis=2)
    amount = rng.uniform(0.4, 1.6)
    grid = np.indices(ORGAN_VOLUME, float)
    flat, extent = grid.reshape(3, -1), np.array(ORGAN_VOLUME, float)
    raters = []
    for _ in range(7):
        moves = [
            amount * smooth_field(flat, extent, 8.0, rng).reshape(ORGAN_VOLUME) for _ in range(3)
        ]
        raters.append(ndimage.map_coordinates(truth.astype(float), grid + moves, order=1) > 0.5)
    return SpacedCase(truth, np.array(raters), (1.0, 1.0, 1.0))


def tiles_case(seed: int) -> SpacedCase:
    """Simulate four readers who click tiles of one image, whose edges are common to all readers.

    A reader clicks a tile if more than about half of it belongs to the structure.
    """
    rng = np.random.default_rng(seed)
    truth = blob(seed)
    side = rng.uniform(4.0, 12.0)
    corners = np.stack(np.meshgrid(*(np.arange(0, n, side) for n in PLANE), indexing="ij"), -1)
    middles = corners.reshape(-1, 2) + rng.uniform(0, side, (corners.size // 2, 2))
    voxels = np.indices(PLANE).reshape(2, -1).T
    tile = cKDTree(middles).query(voxels)[1].reshape(PLANE)
    inside, size = (np.bincount(of, minlength=len(middles)) for of in (tile[truth], tile.ravel()))
    share = inside / np.maximum(size, 1)
    raters = [(share + rng.normal(0, 0.2, len(share)) > 0.5)[tile] for _ in range(4)]
    return SpacedCase(truth, np.array(raters), (1.0, 1.0))


def windows_case(seed: int) -> SpacedCase:
    """Simulate five readers of a lesion that is sharp on one side and blurred on the other.

    Each uses a different window, and follows the edge at the grey value in the middle of it.
    """
    rng = np.random.default_rng(seed)
    truth = blob(seed)
    angle = rng.uniform(0, 2 * np.pi)
    rows, columns = np.indices(PLANE, float) - np.array(PLANE)[:, None, None] / 2
    blurred = 1 / (1 + np.exp(-(np.cos(angle) * rows + np.sin(angle) * columns) / 6))
    mask = truth.astype(float)
    wide = ndimage.gaussian_filter(mask, rng.uniform(5.0, 10.0))
    image = (1 - blurred) * ndimage.gaussian_filter(mask, 1.0) + blurred * wide
    spread = rng.uniform(0.1, 0.45)
    drawn = [image > level for level in rng.uniform(0.5 - spread, 0.5 + spread, 5)]
    raters = [
        contour_error_raters(one, 1, 10 * seed + reader, **FINE_ERRORS)[0]
        for reader, one in enumerate(drawn)
    ]
    return SpacedCase(truth, np.array(raters), (1.0, 1.0))


TOOL_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    "three directions": directions_case,
    "warped atlases": warped_case,
    "tiles of one tool": tiles_case,
    "windows of a blurred edge": windows_case,
}
