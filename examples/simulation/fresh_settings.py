"""Simulate families of readers on which nothing was chosen, for reporting from seed 3000 on.

Readers use different thresholds of one noisy image, repeat slices, have masks rotated by
registration, or follow a tube only partly. The earlier families (a leaking tool, missing lobes, a
coarse grid) have since been used for choosing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import ndimage

from examples.simulation.contour_errors import contour_error_raters
from examples.simulation.phantoms import ellipsoid_mask
from examples.simulation.structure_settings import FINE_ERRORS, LESION_ERRORS, SpacedCase

_SHAPE = (24, 56, 56)
_SPACING = (2.0, 1.0, 1.0)


def leaking_case(seed: int) -> SpacedCase:
    """Simulate five readers whose region-growing tool leaks with a probability of .35 for each
    reader.
    """
    rng = np.random.default_rng(seed)
    radii = [rng.uniform(5, 7), rng.uniform(9, 12), rng.uniform(9, 12)]
    truth = ellipsoid_mask(_SHAPE, radii, [12, 22, 28])
    neighbour = ellipsoid_mask(_SHAPE, [4, 6, 6], [12, 22 + radii[1] + 4, 28]) & ~truth
    raters = contour_error_raters(truth, 5, seed, spacing=_SPACING, **LESION_ERRORS)
    for rater in raters:
        if rng.random() < 0.35:
            rater |= neighbour
    return SpacedCase(truth, raters, _SPACING)


def lobes_case(seed: int) -> SpacedCase:
    """Simulate five readers of an organ with three lobes, each of whom omits a small lobe in one
    of four cases.
    """
    rng = np.random.default_rng(seed)
    body = ellipsoid_mask(_SHAPE, [6, 12, 12], [12, 28, 28])
    angles = rng.uniform(0, 2 * np.pi) + np.array([0.0, 2.2])
    lobes = [
        ellipsoid_mask(_SHAPE, [4, 6, 6], [12, 28 + 14 * np.sin(a), 28 + 14 * np.cos(a)]) & ~body
        for a in angles
    ]
    truth = np.any([body, *lobes], axis=0)
    raters = []
    for reader in range(5):
        drawn = np.any([body, *(lobe for lobe in lobes if rng.random() < 0.75)], axis=0)
        own = contour_error_raters(drawn, 1, 10 * seed + reader, spacing=_SPACING, **FINE_ERRORS)
        raters.append(own[0])
    return SpacedCase(truth, np.array(raters), _SPACING)


def coarse_case(seed: int) -> SpacedCase:
    """Simulate four readers on a grid twice as coarse in-plane, each of whom makes an error on
    one side.
    """
    rng = np.random.default_rng(seed)
    radii = [rng.uniform(5, 8), rng.uniform(10, 16), rng.uniform(8, 14)]
    truth = ellipsoid_mask(_SHAPE, radii, [12, 28, 28])
    raters = contour_error_raters(truth, 4, seed, spacing=_SPACING, **LESION_ERRORS)
    moved = [np.roll(one, int(rng.integers(0, 2)), 1)[:, ::2, ::2] for one in raters]
    fine = [ndimage.zoom(one.astype(np.uint8), (1, 2, 2), order=0) > 0 for one in moved]
    return SpacedCase(truth, np.array(fine), _SPACING)


def threshold_case(seed: int) -> SpacedCase:
    """Simulate five readers with different thresholds of one noisy image.

    They keep the largest component. They use the same image, so they share the errors caused by its
    noise.
    """
    rng = np.random.default_rng(seed)
    radii = [rng.uniform(5, 8), rng.uniform(9, 14), rng.uniform(9, 14)]
    truth = ellipsoid_mask(_SHAPE, radii, [12, 28, 28])
    blurred = ndimage.gaussian_filter(truth.astype(float), [1.0, 2.0, 2.0])
    image = blurred + ndimage.gaussian_filter(rng.normal(0, 1.0, _SHAPE), [0.7, 1.4, 1.4])
    raters = []
    for level in rng.uniform(0.35, 0.65, 5):
        pieces, _ = ndimage.label(image > level)
        sizes = np.bincount(pieces.ravel())[1:]
        raters.append(ndimage.binary_fill_holes(pieces == 1 + sizes.argmax()))
    return SpacedCase(truth, np.array(raters), _SPACING)


def interpolated_case(seed: int) -> SpacedCase:
    """Simulate four readers who draw on every third slice, starting from different slices, and
    repeat it.
    """
    rng = np.random.default_rng(seed)
    radii = [rng.uniform(6, 10), rng.uniform(9, 13), rng.uniform(9, 13)]
    tilt = np.linspace(-6, 6, _SHAPE[0])[:, None, None] * rng.uniform(0.5, 1.5)
    z, y, x = np.indices(_SHAPE)
    inside = ((z - 12) / radii[0]) ** 2 + ((y - 28 - tilt) / radii[1]) ** 2
    truth = inside + ((x - 28) / radii[2]) ** 2 <= 1
    raters = contour_error_raters(truth, 4, seed, spacing=_SPACING, **FINE_ERRORS)
    drawn = []
    for rater in raters:
        slices = np.arange(_SHAPE[0])
        nearest = np.clip(np.round((slices - (first := rng.integers(0, 3))) / 3) * 3 + first, 0, 23)
        drawn.append(rater[nearest.astype(int)])
    return SpacedCase(truth, np.array(drawn), _SPACING)


def tilted_case(seed: int) -> SpacedCase:
    """Simulate five copies of a long organ, each rotated by a few degrees, as by registration."""
    rng = np.random.default_rng(seed)
    truth = ellipsoid_mask(_SHAPE, [6, rng.uniform(5, 8), rng.uniform(14, 20)], [12, 28, 28])
    turned = [
        ndimage.rotate(truth.astype(float), rng.normal(0, 8), (1, 2), reshape=False, order=1) > 0.5
        for _ in range(5)
    ]
    return SpacedCase(truth, np.array(turned), _SPACING)


def pruned_case(seed: int) -> SpacedCase:
    """Simulate six readers of a tube that becomes thinner, each of whom stops somewhere along
    it.
    """
    rng = np.random.default_rng(seed)
    phase, height = rng.uniform(0, 2 * np.pi), rng.uniform(6, 12)
    z, y, x = np.indices(_SHAPE)
    radius = 5.5 - 3.5 * x / _SHAPE[2]
    path = 28 + height * np.sin(2 * np.pi * x / 56 + phase)
    tube = (2 * (z - 12)) ** 2 + (y - path) ** 2 <= radius**2
    truth = tube & (x >= 4) & (x < 50)
    ends = rng.integers(30, 54, 6)
    drawn = [truth & (x < end) for end in ends]
    raters = [
        contour_error_raters(one, 1, 10 * seed + n, spacing=_SPACING, **FINE_ERRORS)[0]
        for n, one in enumerate(drawn)
    ]
    return SpacedCase(truth, np.array(raters), _SPACING)


#: Families that were used for reporting once, and for choosing since then.
SEEN_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    "leaking tool": leaking_case,
    "lobes left out": lobes_case,
    "coarse grid": coarse_case,
}

FRESH_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    "thresholds of one image": threshold_case,
    "every third slice": interpolated_case,
    "turned copies": tilted_case,
    "pruned tube": pruned_case,
}
