"""Bands of scale, the power that raters share in them, and the result that keeps it.

The formulas of the coherence vote up to its cut; `coherence_vote` explains the method. They are
computed in double precision, with scipy's Gaussians, in ``tests/coherence_reference.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.space.band_gains import KeptShares, band_powers, keep_bands, keep_shared
from itk_consensus.space.gaussian import Singles, smooth_volume
from itk_consensus.space.rater_field import RaterField

#: Standard deviations after which a Gaussian is cut off.
TRUNCATE = 3.0

#: A band weaker than this is rounding.
LEAST_POWER = 1e-8

#: In larger boxes windowed power is kept at every second voxel: it is smooth, and windows of all
#: bands at every voxel would take as long as the bands, and most of the memory.
VOXELS_OF_FULL_GRID = 1 << 17

#: Windows narrower than so many voxels are not smooth enough for that.
LEAST_COARSE_WINDOW = 4.0

#: What interpolating between every second voxel adds to a window's variance along an axis, on
#: average, in voxels; and what the mean around them (1/4, 1/2, 1/4) adds.
COARSE_VARIANCE, MEAN_VARIANCE = 2 / 3, 1 / 2


@dataclass(frozen=True)
class CoherenceSettings:
    """Scales in smallest voxel sides, and how sharply to keep or drop."""

    scales: tuple[float, ...] = (0.0, 0.7, 1.4, 2.8)  #: Ascending, from 0: each pair bounds a band
    #: Standard deviation of the window in which power is measured, at least twice the band's.
    window: float = 5.0
    #: 1 is Wiener's gain, which also weakens what it keeps; higher powers keep or drop.
    gain_sharpness: float = 2.0
    detail_sharpness: float = 3.0  #: The same for the share of the votes themselves

    def windows(self) -> list[float]:
        """One per band."""
        return [max(self.window, 2 * scale) for scale in self.scales[1:]]

    def in_voxels(self, sides: Floats) -> list[list[float]]:
        """The scales along each axis."""
        return [(scale * sides).tolist() for scale in self.scales]

    @property
    def detail_band(self) -> int:
        """The band that tells shared detail: the finest still feels where a contour is rounded."""
        return min(1, len(self.scales) - 2)

    def margin(self, sides: Floats) -> list[int]:
        """Voxels that the coarsest scale covers to each side: beyond, no band feels a voxel."""
        return [int(TRUNCATE * sigma + 0.5) for sigma in self.scales[-1] * sides]


DEFAULT_SETTINGS = CoherenceSettings()


def smallest_sides(spacing: Sequence[float]) -> Floats:
    """The smallest voxel side in voxels of each axis; 0 for time, the first of four axes."""
    sizes = np.asarray(spacing, np.float64)
    sides: Floats = sizes[-3:].min() / sizes
    if len(sizes) > 3:
        sides[:-3] = 0
    return sides


def effective_number(weights: Floats) -> float:
    """How many raters of equal weight count as much, ``(sum w)^2 / sum w^2``.

    The variance of a mean of independent errors falls by it.
    """
    return float(weights.sum() ** 2 / np.square(weights).sum())


def shared_power(value: Singles, square: Singles, raters: float | Singles) -> Singles:
    """Power that raters share at each voxel: unbiased if their errors are independent.

    The square of the mean holds shared power C and a share of the errors' power, C + N / J; the
    mean of squares holds C + N. Alone, a rater shares everything with himself.

    Parameters
    ----------
    value, square : (\\*box) ndarray
        Mean over the raters of a band, and of its square.
    raters : float or (\\*box) ndarray
        Effective number of raters.
    """
    several = np.asarray(raters) > 1 + 1e-6
    if not several.any():
        return square.copy()
    unbiased = value * value
    unbiased *= raters
    unbiased -= square
    unbiased /= np.where(several, np.asarray(raters, np.float32) - 1, np.float32(1))
    if not several.all():
        np.copyto(unbiased, square, where=~several)
    return unbiased


class Coherence(NamedTuple):
    """What to keep, and what that makes of the votes; all in one box."""

    kept: KeptShares  #: Gain of each band, and how much of the votes themselves is kept
    answer: Singles
    #: Share of the power at the coarsest scale that raters have in common; for k of J raters who
    #: draw the same while the others draw nothing it is (k - 1) / (J - 1).
    common: float


def coherence(
    raters: RaterField,
    weights: Floats,
    sides: Floats,
    settings: CoherenceSettings,
) -> Coherence:
    """Gains and answer for one label's raters in a box."""
    scales = settings.in_voxels(sides)
    steps = _grid_steps(raters, sides, settings)
    found = band_powers(raters, weights, scales, steps, truncate=TRUNCATE)
    number = effective_number(weights) if found.raters is None else found.raters
    detail = np.empty(found.power.shape[1:], np.float32)
    sharpness = settings.gain_sharpness, settings.detail_sharpness
    windows = settings.windows()
    for band, window in enumerate(windows):
        widest = band == len(windows) - 1
        added = COARSE_VARIANCE + (0 if widest else MEAN_VARIANCE)
        sigmas = _window_sigmas(window * sides, steps, added)
        power, shared = found.power[band], found.shared[band]
        # Beyond the box nothing is disputed, so there is no power. Gains are ratios, so a
        # window that leaves the box needs no correction.
        for volume in (power, shared):
            smooth_volume(volume, sigmas, truncate=TRUNCATE, border="zero")
        told = detail if band == settings.detail_band else None
        keep_shared(power, shared, number, sharpness, LEAST_POWER, told)
    kept = KeptShares(found.shared, detail, steps)
    common = found.base_shared / max(found.base_power, LEAST_POWER)
    del found, power
    answer = keep_bands(raters, weights, kept, scales, truncate=TRUNCATE)
    return Coherence(kept, answer, common)


def _grid_steps(raters: RaterField, sides: Floats, settings: CoherenceSettings) -> tuple[int, ...]:
    """Voxels between two points at which windowed power is kept, per axis."""
    # Where raters are missing, gains follow their number from voxel to voxel.
    if raters.present is not None or math.prod(raters.shape) <= VOXELS_OF_FULL_GRID:
        return (1,) * len(sides)
    return tuple(
        2 if min(settings.windows()) * side >= LEAST_COARSE_WINDOW else 1 for side in sides
    )


def _window_sigmas(window: Floats, steps: Sequence[int], added: float) -> list[float]:
    """Of a window in points of the grid, given in voxels, less what the grid has added."""
    return [
        float(sigma if step == 1 else np.sqrt(sigma**2 - added) / step)
        for sigma, step in zip(window, steps, strict=True)
    ]
