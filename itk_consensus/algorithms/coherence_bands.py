"""Bands of scale, the power that raters share in them, and the answer that keeps it.

The formulas of the coherence vote up to its cut; `coherence_vote` tells the whole story. They are
written out in double precision, with scipy's Gaussians, in ``tests/coherence_reference.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.rater_masks import Floats, Mask
from itk_consensus.labels.band_gains import keep_bands, keep_shared
from itk_consensus.labels.gaussian import Singles, band_means, smooth_volume

#: Standard deviations after which a Gaussian is cut off.
TRUNCATE = 3.0

#: A band weaker than this is rounding.
LEAST_POWER = 1e-8

#: In boxes of so many voxels all bands are made at once: levels between two are smoothed once.
VOXELS_OF_ALL_BANDS = 1 << 20


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


def effective_number(weights: Floats) -> float:
    """How many raters of equal weight count as much, ``(sum w)^2 / sum w^2``.

<<<<<<< HEAD
    The variance of a mean of independent errors falls by it.
=======

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
>>>>>>> integration
    """
    return float(weights.sum() ** 2 / np.square(weights).sum())


<<<<<<< HEAD
def shared_power(value: Singles, square: Singles, raters: float | Singles) -> Singles:
=======
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
>>>>>>> integration
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
<<<<<<< HEAD
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
=======
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
>>>>>>> integration


class Coherence(NamedTuple):
    """What to keep of each band, and of the votes themselves; all in one box.

    Attributes
    ----------
    gains : list of ndarray of float32
        One per band.
    detail : ndarray of float32
        How much of the votes themselves is kept.
    answer : ndarray of float32
    votes : ndarray of float32
        Share of the raters.
    common : float
        Share of the power at the coarsest scale that raters have in common; for k of J raters who
        draw the same while the others draw nothing it is (k - 1) / (J - 1).
    votes : ndarray
        Share of the raters.
    """

    gains: list[Singles]
    detail: Singles
    answer: Singles
    votes: Singles
    common: float
    votes: Floats


def coherence(
    masks: NDArray[Any],
    weights: Floats,
    present: Mask | None,
    sides: Floats,
    settings: CoherenceSettings,
    threads: int | None = None,
) -> Coherence:
    """Gains and answer for one label's masks (J, \\*box)."""
<<<<<<< HEAD
    number = effective_number(weights)
    bands = len(settings.scales) - 1
    gains: list[Singles] = []
    detail = np.empty(masks.shape[1:], np.float32)
    # In a large box one band at a time, the coarsest first: what the answer begins with. All of
    # them would be most of the memory.
    at_once = 1 if detail.size > VOXELS_OF_ALL_BANDS else bands
    for last in range(bands, 0, -at_once):
        first = last - at_once
        wanted = ["base", "base_squares"] * (last == bands) + ["votes"] * (first == 0)
        mean = band_means(
            masks,
            weights,
            [(scale * sides).tolist() for scale in settings.scales[first : last + 1]],
            present=present,
            truncate=TRUNCATE,
            threads=threads,
            wanted=wanted + ["raters"] * (present is not None),
        )
        raters = number if mean.raters is None else mean.raters
        if mean.base is not None and mean.base_squares is not None:
            kept, common = mean.base, _common_share(mean.base, mean.base_squares, raters)
            mean = mean._replace(base_squares=None)
        for band in reversed(range(first, last)):
            one = mean.values[band - first], mean.squares[band - first]
            kept_detail = detail if band == settings.detail_band else None
            window = settings.windows()[band] * sides
            gains.append(_keep_band(*one, raters, window, settings, kept, kept_detail, threads))
    assert mean.votes is not None
    kept += detail * (mean.votes - kept)
    return Coherence(gains[::-1], detail, kept, mean.votes, common)
=======
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
>>>>>>> integration


def _common_share(base: Singles, squares: Singles, raters: float | Singles) -> float:
    total = squares.sum(dtype=np.float64)
    return float(
        shared_power(base, squares, raters).sum(dtype=np.float64) / max(total, LEAST_POWER)
    )


def _keep_band(
    value: Singles,
    power: Singles,
    raters: float | Singles,
    window: Floats,
    settings: CoherenceSettings,
    answer: Singles,
    detail: Singles | None,
    threads: int | None,
) -> Singles:
    """Gain of a band; what it keeps is added to the answer, in place."""
    shared = shared_power(value, power, raters)
    # Beyond the box nobody disputes anything: no power to look at. Gains are ratios, so a
    # window that leaves the box needs no correction.
    for volume in (power, shared):
        smooth_volume(volume, window.tolist(), truncate=TRUNCATE, border="zero", threads=threads)
    sharpness = settings.gain_sharpness, settings.detail_sharpness
    return keep_shared(
        power, shared, raters, value, answer, detail, sharpness, LEAST_POWER, threads
    )


def clean_answer(
    chosen: Mask,
    found: Coherence,
    sides: Floats,
    settings: CoherenceSettings,
    threads: int | None = None,
) -> Singles:
    """The answer to raters who all draw `chosen`, were they treated alike."""
<<<<<<< HEAD
    scales = [(scale * sides).tolist() for scale in settings.scales]
    return keep_bands(chosen, found.gains, found.detail, scales, truncate=TRUNCATE, threads=threads)
=======
    votes = chosen.astype(found.answer.dtype)
    levels = list(levels_of_scale(votes, settings.scales, sides))
    bands: list[Floats] = [fine - coarse for fine, coarse in itertools.pairwise(levels)]
    return answer(votes, levels[-1], bands, found.gains, found.detail)
>>>>>>> integration
