"""Bands of scale, the power that raters share in them, and the answer that keeps it.

The formulas of the coherence vote up to its cut; `coherence_vote` tells the whole story.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from itk_consensus.algorithms.rater_masks import Floats, Mask

#: Standard deviations after which a Gaussian is cut off.
TRUNCATE = 3.0

#: A band weaker than this is rounding.
LEAST_POWER = 1e-8


@dataclass(frozen=True)
class CoherenceSettings:
    """Scales in smallest voxel sides, and how sharply to keep or drop.

    Attributes
    ----------
    scales : tuple of float
        Ascending, from 0: each pair bounds a band.
    window : float
        Standard deviation of the window in which power is measured, at least twice the band's.
    gain_sharpness : float
        1 is Wiener's gain, which also weakens what it keeps; higher powers keep or drop.
    detail_sharpness : float
        The same for the share of the votes themselves.
    """

    scales: tuple[float, ...] = (0.0, 0.7, 1.4, 2.8)
    window: float = 5.0
    gain_sharpness: float = 2.0
    detail_sharpness: float = 3.0

    def windows(self) -> list[float]:
        """One per band."""
        return [max(self.window, 2 * scale) for scale in self.scales[1:]]

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


def smooth(volume: Floats, sigma: Floats, border: str = "nearest") -> Floats:
    """Gaussian over the last axes, of so many voxels per axis."""
    sigmas = (0.0,) * (volume.ndim - len(sigma)) + tuple(sigma)
    return np.asarray(gaussian_filter(volume, sigmas, mode=border, truncate=TRUNCATE))


def levels_of_scale(
    masks: Floats, scales: Sequence[float], sides: Floats, present: Mask | None = None
) -> Iterator[Floats]:
    """Masks smoothed at each scale: (J, \\*box); only over voxels that a rater annotated."""
    for scale in scales:
        if scale == 0:
            yield masks
        elif present is None:
            yield smooth(masks, scale * sides)
        else:
            mass = smooth(present.astype(masks.dtype), scale * sides)
            level = smooth(np.where(present, masks, masks.dtype.type(0)), scale * sides)
            yield np.divide(level, mass, out=np.zeros_like(level), where=mass > 0)


class Mean(NamedTuple):
    """Weighted mean over the raters at each voxel, and how many raters that is."""

    value: Floats
    square: Floats
    raters: Floats


def rater_mean(band: Floats, weights: Floats, present: Mask | None = None) -> Mean:
    """Mean of a band (J, \\*box) and of its square, and the effective number of raters.

    With weights u that sum to 1 the number is 1 / sum u^2: the variance of a mean of independent
    errors falls by it.
    """
    if present is None:
        shares = weights / weights.sum()
        number = np.asarray(1 / np.square(shares).sum())
        return Mean(np.tensordot(shares, band, 1), np.tensordot(shares, band**2, 1), number)
    here = np.tensordot(weights, present, 1)
    known = np.where(present, band, 0.0)
    total = np.maximum(here, 1e-300)
    number = here**2 / np.maximum(np.tensordot(weights**2, present, 1), 1e-300)
    value = np.tensordot(weights, known, 1) / total
    return Mean(value, np.tensordot(weights, known**2, 1) / total, number)


class BandMeans(NamedTuple):
    """Means over the raters of each band, of the coarsest level, and of the masks themselves."""

    means: list[Mean]
    base: Mean
    votes: Floats


def band_means(
    masks: Floats,
    weights: Floats,
    scales: Sequence[float],
    sides: Floats,
    present: Mask | None = None,
) -> BandMeans:
    """What `rater_mean` gives for every band, one rater in memory at a time."""
    shape, kind = masks.shape[1:], masks.dtype
    sums = [(np.zeros(shape, kind), np.zeros(shape, kind)) for _ in scales]
    votes = np.zeros(shape, kind)
    here, squared = np.zeros((2, *(shape if present is not None else ())), kind)
    for rater, mask in enumerate(masks):
        weight = kind.type(weights[rater])
        there = None if present is None else present[rater]
        counted = weight if there is None else weight * there
        here, squared = here + counted, squared + counted * weight
        votes += counted * mask
        levels = list(levels_of_scale(mask, scales, sides, there))
        bands = [fine - coarse for fine, coarse in itertools.pairwise(levels)]
        for (value, square), band in zip(sums, [*bands, levels[-1]], strict=True):
            weighted = counted * band
            value += weighted
            weighted *= band
            square += weighted
    total = np.maximum(here, kind.type(1e-30))
    number = np.asarray(here * here / np.maximum(squared, kind.type(1e-30)))
    *means, base = [Mean(value / total, square / total, number) for value, square in sums]
    return BandMeans(means, base, votes / total)


def shared_power(mean: Mean) -> Floats:
    """Power that raters share at each voxel: unbiased if their errors are independent.

    The square of the mean holds shared power C and a share of the errors' power, C + N / J; the
    mean of squares holds C + N. Alone, a rater shares everything with himself.
    """
    several = mean.raters > 1 + 1e-9
    others = np.where(several, mean.raters - 1, mean.raters.dtype.type(1))
    unbiased = (mean.raters * np.square(mean.value) - mean.square) / others
    power: Floats = np.where(several, unbiased, mean.square)
    return power


def keep_share(shared: Floats, noise: Floats, sharpness: float) -> Floats:
    """``C^p / (C^p + N^p)``: for p = 1 Wiener's gain of a signal C in noise N."""
    signal, error = shared**sharpness, noise**sharpness
    kept: Floats = np.zeros_like(signal)
    np.divide(signal, signal + error, out=kept, where=signal > 0)
    return kept


class Coherence(NamedTuple):
    """What to keep of each band, and of the votes themselves; all in one box.

    Attributes
    ----------
    gains : list of ndarray
        One per band.
    detail : ndarray
        How much of the votes themselves is kept.
    answer : ndarray
    common : float
        Share of the power at the coarsest scale that raters have in common; for k of J raters who
        draw the same while the others draw nothing it is (k - 1) / (J - 1).
    votes : ndarray
        Share of the raters.
    """

    gains: list[Floats]
    detail: Floats
    answer: Floats
    common: float
    votes: Floats


def coherence(
    masks: Floats,
    weights: Floats,
    present: Mask | None,
    sides: Floats,
    settings: CoherenceSettings,
) -> Coherence:
    """Gains and answer for one label's masks (J, \\*box)."""
    bands = band_means(masks, weights, settings.scales, sides, present)
    gains = []
    detail = np.zeros_like(bands.votes)
    for number, (mean, window) in enumerate(zip(bands.means, settings.windows(), strict=True)):
        # Beyond the box nobody disputes anything: no power to look at. Gains are ratios, so a
        # window that leaves the box needs no correction.
        power = smooth(mean.square, window * sides, "constant")
        shared = smooth(shared_power(mean), window * sides, "constant").clip(0, power)
        shared[power < LEAST_POWER] = 0
        noise = power - shared
        gains.append(
            keep_share(shared, noise / np.maximum(mean.raters, 1), settings.gain_sharpness)
        )
        if number == settings.detail_band:
            detail = keep_share(shared, noise, settings.detail_sharpness)
    values: list[Floats] = [mean.value for mean in bands.means]
    common = float(shared_power(bands.base).sum() / max(bands.base.square.sum(), LEAST_POWER))
    whole = answer(bands.votes, bands.base.value, values, gains, detail)
    return Coherence(gains, detail, whole, common, bands.votes)


def answer(
    votes: Floats, base: Floats, bands: list[Floats], gains: list[Floats], detail: Floats
) -> Floats:
    """What is kept of each band over the coarsest level, and the votes where detail is shared."""
    smoothed = base + sum(gain * band for gain, band in zip(gains, bands, strict=True))
    return np.asarray(smoothed + detail * (votes - smoothed))


def clean_answer(
    chosen: Mask, found: Coherence, sides: Floats, settings: CoherenceSettings
) -> Floats:
    """The answer to raters who all draw `chosen`, were they treated alike."""
    votes = chosen.astype(found.answer.dtype)
    levels = list(levels_of_scale(votes, settings.scales, sides))
    bands: list[Floats] = [fine - coarse for fine, coarse in itertools.pairwise(levels)]
    return answer(votes, levels[-1], bands, found.gains, found.detail)
