"""Coherence of raters by scale, and the resolution of their consensus in mm.

In electron microscopy, the resolution of a map is the scale at which the correlation of two half
sets reaches a fixed value (Harauz & van Heel, Optik 73:146-156, 1986). Here it is the scale at
which half of the power in the raters' masks is shared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from itk_consensus.core.array_types import Floats, length_unit
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.scale_bands import (
    TRUNCATE,
    VOXELS_OF_FULL_GRID,
    effective_number,
    shared_power,
    smallest_sides,
)
from itk_consensus.space.band_gains import band_powers
from itk_consensus.space.boxes import Box, clip_box, grow_box, relative_to, widen_box
from itk_consensus.space.gaussian import Singles, band_means
from itk_consensus.space.pyramid import band_power, bands_of_voxels
from itk_consensus.space.rater_field import RaterField
from itk_consensus.votes.disputed_voxels import chunks

#: First scale, in units of the smallest voxel side; each band spans a factor of sqrt(2).
FIRST_SCALE = 0.5
NUMBER_OF_BANDS = 8

SHARED_HALF = 0.5

#: Number of voxels, summed over raters, processed at once, which bounds memory.
_VOXELS_AT_ONCE = 1 << 22


class Resolution(NamedTuple):
    """The scale in mm at which half of the raters' detail is shared."""

    millimetres: float
    #: "<=" if at least half is shared even at the finest scale, ">=" if less than half is shared
    #: even at the coarsest.
    bound: Literal["=", "<=", ">="]
    unit: str = "mm"  #: Unit of the scale; "voxels" for arrays

    def __str__(self) -> str:
        sign = "" if self.bound == "=" else f"{self.bound} "
        return f"{sign}{self.millimetres:.2g} {self.unit}"


class CoherenceCurve(NamedTuple):
    """Proportion of the power that raters share, by scale."""

    scales: Floats  #: (B,) scales in mm, ascending
    #: (B,) 1 for identical masks, 0 for independent masks; NaN if there is no power.
    coherence: Floats
    unit: str = "mm"  #: Unit of the scales; "voxels" for arrays

    def resolution(self) -> Resolution | None:
        """Return the scale at which the curve, from coarse to fine, first falls below one half.

        The scale is interpolated linearly in its logarithm. Returns None if the curve is undefined.
        """
        scales, values = self.scales, self.coherence
        if np.isnan(values).all():
            return None
        unshared = np.flatnonzero(~(values >= SHARED_HALF))
        if len(unshared) == 0:
            return Resolution(float(scales[0]), "<=", self.unit)
        last = int(unshared[-1])
        if last == len(scales) - 1:
            return Resolution(float(scales[-1]), ">=", self.unit)
        low, high = values[last], values[last + 1]
        part = (SHARED_HALF - low) / (high - low)
        crossing = scales[last] * (scales[last + 1] / scales[last]) ** part
        return Resolution(float(crossing), "=", self.unit)


def coherence_curve(
    masks: RaterMasks, label: int, spacing: Sequence[float], bands: int = NUMBER_OF_BANDS
) -> CoherenceCurve | None:
    """Return the coherence by scale in the region where raters differ on a label.

    Returns None if the raters do not differ, or if there is only one rater.
    """
    tight = masks.disputed_box(label)
    if tight is None or masks.number_of_raters < 2:
        return None
    sides = smallest_sides(spacing)
    starts = FIRST_SCALE * np.sqrt(2.0) ** np.arange(bands + 1)
    wide = widen_box(tight, _reach(starts[-1] * sides))
    powers = _powers_of_some if masks.present is not None else _powers_of_all
    found = powers(masks, label, (tight, wide), starts[:, None] * sides)
    shares = [shared / total if total > 0 else np.nan for shared, total in found]
    smallest = float(np.min(np.asarray(spacing, np.float64)[-3:]))
    scales = smallest * starts[:-1] * 2**0.25
    return CoherenceCurve(scales, np.array(shares), length_unit(spacing))


def _reach(sigmas: Floats) -> list[int]:
    """Return the radii of Gaussian kernels in voxels."""
    return [int(TRUNCATE * sigma + 0.5) for sigma in sigmas]


def _powers_of_some(
    masks: RaterMasks, label: int, boxes: tuple[Box, Box], scales: Floats
) -> Iterator[tuple[float, float]]:
    """Yield the shared and total power of each band if some annotations are missing."""
    _, wide = boxes
    box = clip_box(wide, masks.shape)
    assert masks.present is not None
    stack, present = masks.read(label, box), masks.present[(slice(None), *box)]
    for pair in itertools.pairwise(scales.tolist()):
        mean = band_means(
            stack,
            masks.weights,
            pair,
            present=present,
            truncate=TRUNCATE,
            wanted=("raters",),
        )
        assert mean.raters is not None
        shared = shared_power(mean.values[0], mean.squares[0], mean.raters)
        yield float(shared.sum(dtype=np.float64)), float(mean.squares.sum(dtype=np.float64))


def _powers_of_all(
    masks: RaterMasks, label: int, boxes: tuple[Box, Box], scales: Floats
) -> Iterator[tuple[float, float]]:
    """Yield the shared and total power of each band if all raters annotated all voxels.

    The mean square of the raters' bands is the square of their mean plus the mean square of their
    differences from it. Differences are 0 where raters agree, so outside the bounding box of the
    disputed voxels only the mean is needed.
    """
    tight, wide = boxes
    box = clip_box(wide, masks.shape)
    mean = masks.share(label, box).astype(np.float32)
    first = bands_of_voxels(scales)
    of_mean, of_differences = np.zeros((2, len(scales) - 1))
    if first:
        # One additional band is requested: the coarsest is computed only at every second voxel and
        # is discarded.
        fine = scales[: first + 2]
        power, _ = _fine_power(RaterField.of(mean[None]), np.ones(1), fine)
        of_mean[:first] = power[:first]
        raters = masks.field(label, grow_box(tight, _reach(fine[-1]), masks.shape))
        power, shared = _fine_power(raters, masks.weights, fine)
        apart = (power - shared) * (1 - 1 / effective_number(masks.weights))
        of_differences[:first] = apart[:first]
    if first < len(of_mean):
        middle = mean[relative_to(tight, box)]
        of_mean[first:] = band_power(mean[None], scales, [(False, False)] * len(box), first)
        of_differences[first:] = _coarse_differences(masks, label, tight, scales, first, middle)
    number = effective_number(masks.weights)
    return zip(of_mean - of_differences / (number - 1), of_mean + of_differences, strict=True)


def _fine_power(raters: RaterField, weights: Floats, scales: Floats) -> tuple[Floats, Floats]:
    """Return the (B,) total and shared power of bands that require the full voxel grid."""
    step = 1 if math.prod(raters.shape) <= VOXELS_OF_FULL_GRID else 2
    steps = [step if size > 1 else 1 for size in raters.shape]
    found = band_powers(raters, weights, scales.tolist(), steps, truncate=TRUNCATE)
    axes = tuple(range(1, found.power.ndim))
    # Each grid point represents prod(steps) voxels.
    power, shared = (
        math.prod(steps) * part.sum(axis=axes, dtype=np.float64)
        for part in (found.power, found.shared)
    )
    return np.asarray(power), np.asarray(shared)


def _coarse_differences(
    masks: RaterMasks, label: int, tight: Box, scales: Floats, first: int, middle: Singles
) -> Floats:
    """Return the power of the raters' differences in the bands from index `first` upwards."""
    pairs = zip(tight, masks.shape, strict=True)
    fades = [(side.start > 0, side.stop < length) for side, length in pairs]
    power = np.zeros(len(scales) - 1 - first)
    raters = masks.read(label, tight)
    weights = masks.weights / masks.weights.sum()
    for part in chunks(len(raters), max(1, _VOXELS_AT_ONCE // middle.size)):
        away = (raters[part] - middle) * np.sqrt(weights[part]).astype(np.float32).reshape(
            -1, *(1,) * middle.ndim
        )
        power += band_power(away, scales, fades, first)
    return power
