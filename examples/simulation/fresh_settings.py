"""Families of readers on which nothing was chosen, written last and used once.

A tool that leaks into a neighbour for some readers, lobes that some leave out, and masks drawn on a
grid twice as coarse. They are for reporting, from seed 3000 on.
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
    """Five readers; a growing tool leaks into the neighbour for each with a probability of .35."""
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
    """Five readers of an organ with three lobes; each leaves each small one out in one of four."""
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
    """Four readers on a grid twice as coarse in the plane, each of whom errs on one side."""
    rng = np.random.default_rng(seed)
    radii = [rng.uniform(5, 8), rng.uniform(10, 16), rng.uniform(8, 14)]
    truth = ellipsoid_mask(_SHAPE, radii, [12, 28, 28])
    raters = contour_error_raters(truth, 4, seed, spacing=_SPACING, **LESION_ERRORS)
    moved = [np.roll(one, int(rng.integers(0, 2)), 1)[:, ::2, ::2] for one in raters]
    fine = [ndimage.zoom(one.astype(np.uint8), (1, 2, 2), order=0) > 0 for one in moved]
    return SpacedCase(truth, np.array(fine), _SPACING)


FRESH_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    "leaking tool": leaking_case,
    "lobes left out": lobes_case,
    "coarse grid": coarse_case,
}
