"""Scale bands of the raters' masks, their shared power, and the reconstruction from gains.

This module implements the coherence vote up to its cut; `coherence_vote` explains the method.
``tests/coherence_reference.py`` is a reference in double precision with scipy's Gaussians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.space.band_gains import (
    FIXED_POINT,
    KeptShares,
    band_powers,
    keep_bands,
    keep_shared,
)
from itk_consensus.space.boxes import Box, grow_box, relative_to
from itk_consensus.space.gaussian import Singles, smooth_volume
from itk_consensus.space.rater_field import RaterField

#: Radius of Gaussian kernels in standard deviations.
TRUNCATE = 3.0

#: Power below this is attributed to rounding.
LEAST_POWER = 1e-8

#: In boxes with more voxels than this, windowed power is stored at every second voxel. It is
#: smooth, and windowing all bands at every voxel would take as long as computing the bands and use
#: most of the memory.
VOXELS_OF_FULL_GRID = 1 << 17

#: Minimum width of a window, in voxels, for using the coarse grid.
LEAST_COARSE_WINDOW = 4.0

#: Mean increase in a window's variance along an axis, in voxels, due to interpolation between every
#: second voxel, and due to averaging with weights (1/4, 1/2, 1/4) at these voxels.
COARSE_VARIANCE, MEAN_VARIANCE = 2 / 3, 1 / 2


@dataclass(frozen=True)
class CoherenceSettings:
    """Scales, in units of the smallest voxel side, and the sharpness of gains."""

    scales: tuple[float, ...] = (0.0, 0.7, 1.4, 2.8)  #: Ascending, from 0: each pair bounds a band
    #: Minimum standard deviation of the window for power; the value used is at least twice the
    #: band's scale.
    window: float = 5.0
    #: Exponent of the gains: 1 gives Wiener's gain; larger values are closer to a hard threshold.
    gain_sharpness: float = 2.0
    #: Sharpness of the weight of the unsmoothed votes, defined in the same way
    detail_sharpness: float = 3.0

    def windows(self) -> list[float]:
        """Return the standard deviation of the window of each band."""
        return [max(self.window, 2 * scale) for scale in self.scales[1:]]

    def in_voxels(self, sides: Floats) -> list[list[float]]:
        """Return the scales in voxels along each axis."""
        return [(scale * sides).tolist() for scale in self.scales]

    @property
    def detail_band(self) -> int:
        """Band that measures shared detail: the second, since the finest depends on
        voxelization.
        """
        return min(1, len(self.scales) - 2)

    def margin(self, sides: Floats) -> list[int]:
        """Return the kernel radius of the coarsest scale, in voxels along each axis."""
        return [int(TRUNCATE * sigma + 0.5) for sigma in self.scales[-1] * sides]


DEFAULT_SETTINGS = CoherenceSettings()


def smallest_sides(spacing: Sequence[float]) -> Floats:
    """Return the smallest voxel side in voxels along each axis; 0 for time, the first of four."""
    sizes = np.asarray(spacing, np.float64)
    sides: Floats = sizes[-3:].min() / sizes
    if len(sizes) > 3:
        sides[:-3] = 0
    return sides


def effective_number(weights: Floats) -> float:
    """Return the effective number of raters, ``(sum w)^2 / sum w^2``.

    This is the factor by which averaging with these weights reduces the variance of independent
    errors.
    """
    return float(weights.sum() ** 2 / np.square(weights).sum())


def shared_power(value: Singles, square: Singles, raters: float | Singles) -> Singles:
    """Estimate the power that raters share at each voxel; unbiased if errors are independent.

    The expected square of the mean is C + N / J, with shared power C, noise power N and J raters;
    the expected mean of squares is C + N. For a single rater, all power is assumed to be shared.

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
    """Gains and smoothed votes in one block of a label's box."""

    #: Gain of each band, and weight of the unsmoothed votes, around the block
    kept: KeptShares
    answer: Singles
    base: tuple[int, int]  #: See `BandPowers`; integers, so that sums over blocks are exact


def common_share(base: tuple[int, int]) -> float:
    """Return the fraction of the power at the coarsest scale that is shared.

    If k of J raters draw the same structure and the others draw nothing, the fraction is (k - 1) /
    (J - 1).
    """
    power, shared = (total / FIXED_POINT for total in base)
    return shared / max(power, LEAST_POWER)


class Scales(NamedTuple):
    """Scales of one label in voxels of its box, and the margins required by blocks."""

    sides: Floats  #: Smallest voxel side in voxels along each axis
    settings: CoherenceSettings
    steps: tuple[int, ...]  #: Grid spacing of windowed power, in voxels along each axis
    shape: tuple[int, ...]  #: Shape of the box

    @property
    def of_bands(self) -> list[list[float]]:
        """Scales in voxels along each axis."""
        return self.settings.in_voxels(self.sides)

    def around_bands(self, block: Box) -> Box:
        """Return the box on which the bands of a block depend."""
        return grow_box(
            block, [_even(reach) for reach in self.settings.margin(self.sides)], self.shape
        )

    def around_windows(self, block: Box) -> Box:
        """Return the box whose power affects the windows of a block."""
        reaches = [0] * len(block)
        for sigmas in self.windows():
            for axis, (sigma, step) in enumerate(zip(sigmas, self.steps, strict=True)):
                # Interpolation from the grid needs one additional voxel on each side.
                reach = step * int(TRUNCATE * sigma + 0.5) + 2
                reaches[axis] = max(reaches[axis], _even(reach) if self.sides[axis] else 0)
        return grow_box(block, reaches, self.shape)

    def around_power(self, block: Box) -> Box:
        """Return the box of voxels on which the power in a block depends."""
        margin = self.settings.margin(self.sides)
        return grow_box(block, [_even(reach + 1) if reach else 0 for reach in margin], self.shape)

    def windows(self) -> list[list[float]]:
        """Return the standard deviations of each band's window, in grid points."""
        windows = self.settings.windows()
        # Variance added by the grid: the coarsest band is sampled, the others are averaged.
        added = [COARSE_VARIANCE + MEAN_VARIANCE] * (len(windows) - 1) + [COARSE_VARIANCE]
        return [
            _window_sigmas(window * self.sides, self.steps, more)
            for window, more in zip(windows, added, strict=True)
        ]

    def points(self, block: Box, around: Box, *, and_next: bool) -> Box:
        """Return the grid points of a block, in the grid of a box around it.

        `and_next` includes the next point, which is needed to interpolate the last voxels.
        """
        found = []
        for part, wide, step, size in zip(block, around, self.steps, self.shape, strict=True):
            start = (part.start - wide.start) // step
            number = (part.stop - part.start) // step
            if step == 2 and (and_next or part.stop == size):
                number = (part.stop - part.start) // 2 + 1
            found.append(slice(start, start + number))
        return tuple(found)


def _even(reach: int) -> int:
    """Round up to an even margin, so that blocks with margins begin at grid points."""
    return reach + reach % 2


def coherence(raters: RaterField, block: Box, weights: Floats, scales: Scales) -> Coherence:
    """Compute gains and smoothed votes of one label in a block of its box.

    Parameters
    ----------
    raters : RaterField
        Memberships in the box on which the power for the block's windows depends.
    block : tuple of slice
        Position relative to the label's box.
    """
    settings, bands = scales.settings, scales.of_bands
    windows = scales.around_windows(block)
    wide = scales.around_power(windows)
    found = band_powers(
        raters,
        weights,
        bands,
        scales.steps,
        truncate=TRUNCATE,
        made=scales.points(windows, wide, and_next=False),
        counted=scales.points(block, wide, and_next=False),
    )
    powers, shares, several, base = found
    number = effective_number(weights) if several is None else several
    del found
    detail = np.empty(powers.shape[1:], np.float32)
    sharpness = settings.gain_sharpness, settings.detail_sharpness
    for band, sigmas in enumerate(scales.windows()):
        power, shared = powers[band], shares[band]
        # Raters agree everywhere outside the box, so power is 0 there. Gains are ratios, so windows
        # that extend beyond the box need no correction.
        for volume in (power, shared):
            smooth_volume(volume, sigmas, truncate=TRUNCATE, border="zero")
        detail_out = detail if band == settings.detail_band else None
        keep_shared(power, shared, number, sharpness, LEAST_POWER, detail_out)
    del power, powers
    around = scales.around_bands(block)
    # Values beyond the block and the next point are invalid.
    own = scales.points(around, windows, and_next=True)
    kept = KeptShares(
        np.ascontiguousarray(shares[(slice(None), *own)]),
        np.ascontiguousarray(detail[own]),
        scales.steps,
    )
    part = raters.part(relative_to(around, wide))
    answer = keep_bands(part, weights, kept, bands, truncate=TRUNCATE)
    return Coherence(kept, np.ascontiguousarray(answer[relative_to(block, around)]), base)


def grid_steps(
    shape: Sequence[int], everywhere: bool, sides: Floats, settings: CoherenceSettings
) -> tuple[int, ...]:
    """Return the grid spacing of windowed power, in voxels along each axis of a box.

    `everywhere` states whether the same raters are used at all voxels.
    """
    # If raters are missing, gains depend on the number of raters at each voxel.
    if not everywhere or math.prod(shape) <= VOXELS_OF_FULL_GRID:
        return (1,) * len(sides)
    return tuple(
        2 if min(settings.windows()) * side >= LEAST_COARSE_WINDOW else 1 for side in sides
    )


def _window_sigmas(window: Floats, steps: Sequence[int], added: float) -> list[float]:
    """Convert a window's sigmas from voxels to grid points, corrected for the grid's variance."""
    return [
        float(sigma if step == 1 else np.sqrt(sigma**2 - added) / step)
        for sigma, step in zip(window, steps, strict=True)
    ]
