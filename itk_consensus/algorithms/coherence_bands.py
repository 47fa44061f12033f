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
    """

    gains: list[Singles]
    detail: Singles
    answer: Singles
    votes: Singles
    common: float


def coherence(
    masks: NDArray[Any],
    weights: Floats,
    present: Mask | None,
    sides: Floats,
    settings: CoherenceSettings,
    threads: int | None = None,
) -> Coherence:
    """Gains and answer for one label's masks (J, \\*box)."""
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
    scales = [(scale * sides).tolist() for scale in settings.scales]
    return keep_bands(chosen, found.gains, found.detail, scales, truncate=TRUNCATE, threads=threads)
