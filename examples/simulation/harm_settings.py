"""Simulate settings in which smoothing did harm: leaks, excluded holes, small neighbours.

The mask of one of few readers leaks into neighbouring tissue; some readers exclude the vessels and
cysts inside an organ and others include them; small labels lie between large ones. Rules were
chosen on seeds below 3000 of these settings; seeds 3000 to 3999 are for reporting.

Each setting is a function of a seed. Sizes are in voxels and axes in array order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.ndimage import binary_dilation, binary_erosion

from examples.simulation.contour_errors import contour_error_raters
from examples.simulation.phantoms import ellipsoid_mask
from examples.simulation.practice_settings import blob
from examples.simulation.structure_settings import (
    LESION_ERRORS,
    PLANE,
    VOLUME,
    SpacedCase,
    scattered_lesions,
    vessel_tree,
)
from itk_consensus.core.array_types import Mask

#: Contour errors that make the readers' volumes of a label of about a hundred voxels differ by a
#: factor of two, as in real data.
NEIGHBOUR_ERRORS: dict[str, Any] = {"displacement": 0.9, "bias": 0.3, "smoothness": 6.0}


def leak_case(
    seed: int, readers: int, leaking: int = 1, shape: Sequence[int] = PLANE
) -> SpacedCase:
    """Simulate readers, some of whom also mark adjacent tissue, each at a different place."""
    rng = np.random.default_rng(seed)
    truth = blob(seed, shape)
    raters = contour_error_raters(truth, readers, seed, **LESION_ERRORS)
    contour = np.argwhere(truth & ~binary_erosion(truth))
    for rater in raters[:leaking]:
        place = contour[rng.integers(len(contour))]
        size = rng.uniform(0.6, 1.0, len(shape)) * (truth.sum() / 3) ** (1 / len(shape))
        rater |= ellipsoid_mask(shape, size.tolist(), place.tolist())
    return SpacedCase(truth, raters, (1.0,) * len(shape))


def spared_vessels_case(
    seed: int, readers: int, sparing: float, shape: Sequence[int] = PLANE
) -> SpacedCase:
    """Simulate an organ without its vessels; each reader excludes only some of the vessels."""
    rng = np.random.default_rng(seed)
    organ = blob(seed, shape)
    vessels = [vessel_tree(shape, 1.0, rng, number=1) & organ for _ in range(3)]
    return _spared(organ, vessels, readers, sparing, seed, rng)


def spared_cysts_case(
    seed: int, readers: int, sparing: float, shape: Sequence[int] = PLANE
) -> SpacedCase:
    """Simulate an organ without its cysts; each reader excludes only some of the cysts."""
    rng = np.random.default_rng(seed)
    organ = blob(seed, shape)
    inner = binary_erosion(organ, iterations=3)
    cysts = scattered_lesions(shape, 6, (9, 40), rng, ~inner)
    return _spared(organ, cysts, readers, sparing, seed, rng)


def _spared(
    organ: Mask,
    holes: Sequence[Mask],
    readers: int,
    sparing: float,
    seed: int,
    rng: np.random.Generator,
) -> SpacedCase:
    truth = organ & ~np.any(np.array([*holes, np.zeros_like(organ)]), axis=0)
    raters = contour_error_raters(organ, readers, seed, **LESION_ERRORS)
    for index, hole in enumerate(holes):
        drawn = contour_error_raters(
            hole, readers, 10 * seed + index, displacement=0.4, bias=0.2, smoothness=4.0
        )
        raters &= ~(drawn & (rng.random(readers) < sparing).reshape(-1, *[1] * organ.ndim))
    return SpacedCase(truth, raters, (1.0,) * organ.ndim)


def small_neighbours_case(
    seed: int,
    readers: int,
    shape: Sequence[int] = VOLUME,
    sizes: tuple[int, int] = (60, 700),
    errors: dict[str, Any] = NEIGHBOUR_ERRORS,
) -> SpacedCase:
    """Simulate four large labels that fill a body, and six small ones between them."""
    rng = np.random.default_rng(seed)
    grid = np.indices(shape).reshape(len(shape), -1).astype(float)
    body = ellipsoid_mask(shape, [0.42 * side for side in shape])
    seeds = np.array(shape) / 2 + rng.uniform(-0.3, 0.3, (4, len(shape))) * shape
    distances = np.array([np.square(grid - at[:, None]).sum(axis=0) for at in seeds])
    truth = (1 + distances.argmin(axis=0)).astype(np.uint8).reshape(shape) * body
    first, second = np.sqrt(np.sort(distances, axis=0)[:2])
    between = np.flatnonzero((second - first < 1.0) & body.ravel())
    for label in range(5, 11):
        place = grid[:, rng.choice(between)]
        size = int(np.exp(rng.uniform(*np.log(sizes))))
        squares = np.square((grid - place[:, None]) / rng.uniform(0.7, 1.4, (len(shape), 1)))
        near = np.argpartition(squares.sum(axis=0), size)[:size]
        near = near[truth.ravel()[near] > 0]
        if not (truth.ravel()[near] > 4).any():
            truth.ravel()[near] = label
    return SpacedCase(
        truth, contour_error_raters(truth, readers, seed, **errors), (1.0,) * len(shape)
    )


#: Kinds of readers of a test case: like those of the calibration, all copies of one, or twice as
#: rough.
READERS = ("unchanged", "copies", "rough")
ORGAN_VOLUME = (40, 56, 56)


def calibrated_case(seed: int, readers: str = "unchanged") -> SpacedCase:
    """Simulate a 3D organ and five readers. The spread between readers determines the width of the
    conformal band (ConformalBandFilter).
    """
    truth = blob(seed, ORGAN_VOLUME)
    displacement = 2.0 if readers == "rough" else 1.0
    raters = contour_error_raters(
        truth, 5, seed, displacement=displacement, bias=0.3, smoothness=6.0
    )
    if readers == "copies":
        contour = binary_dilation(raters[0]) & ~binary_erosion(raters[0])
        flips = np.random.default_rng(seed).random(raters.shape) < 0.05
        raters = raters[0] ^ (contour & flips)
    return SpacedCase(truth, raters, (1.0,) * truth.ndim)


HARM_SETTINGS: dict[str, Callable[[int], SpacedCase]] = {
    "leak, 3 readers": partial(leak_case, readers=3),
    "leak, 3 readers 3D": partial(leak_case, readers=3, shape=VOLUME),
    "leak, 4 readers": partial(leak_case, readers=4),
    "two leaks, 5 readers": partial(leak_case, readers=5, leaking=2),
    "spared vessels, 4 readers": partial(spared_vessels_case, readers=4, sparing=0.65),
    "spared vessels, 5 readers": partial(spared_vessels_case, readers=5, sparing=0.65),
    "half spare vessels": partial(spared_vessels_case, readers=4, sparing=0.5),
    "spared vessels 3D": partial(spared_vessels_case, readers=4, sparing=0.65, shape=VOLUME),
    "spared cysts, 4 readers": partial(spared_cysts_case, readers=4, sparing=0.65),
    "spared cysts, 3 readers": partial(spared_cysts_case, readers=3, sparing=0.65),
    "small neighbours 3D": partial(small_neighbours_case, readers=5),
    "small neighbours, 3 readers": partial(small_neighbours_case, readers=3),
    "small neighbours, fine": partial(small_neighbours_case, readers=5, errors=LESION_ERRORS),
    "small neighbours 2D": partial(
        small_neighbours_case, readers=4, shape=PLANE, sizes=(15, 80), errors=LESION_ERRORS
    ),
}
