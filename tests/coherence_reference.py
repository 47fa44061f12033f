"""Reference implementation of the coherence vote: double precision, scipy, whole boxes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, maximum_filter, minimum_filter

from itk_consensus.methods.consensus.coherence_vote import CoherenceResult
from itk_consensus.methods.consensus.cut import (
    CONTOUR_REACH,
    CUT_ROUNDS,
    LEAST_COMMON,
    LEVEL_WEIGHT,
    LEVELS,
    PSEUDO_VOXELS,
    Cut,
)
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.scale_bands import (
    LEAST_POWER,
    TRUNCATE,
    CoherenceSettings,
    smallest_sides,
)
from itk_consensus.methods.consensus.shared_consensus import SharedConsensus
from itk_consensus.space.boxes import (
    bounding_box,
    clip_box,
    read_extended,
    relative_to,
    widen_box,
)

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def foreground_masks(
    masks: NDArray[np.generic],
    *,
    present: Mask | None = None,
    weights: Sequence[float] | None = None,
) -> RaterMasks:
    """Return masks or probabilities (J, \\*shape) of one foreground label."""

    def read(label: int, box: tuple[slice, ...] = ()) -> NDArray[np.generic]:
        part = masks[(slice(None), *box)]
        return part if label == 1 else 1 - part.astype(np.float64)

    counted = np.ones(len(masks)) if weights is None else np.asarray(weights, np.float64)
    return RaterMasks(read, masks.shape[1:], len(masks), 2, counted, present)


def label_masks(raters: NDArray[np.generic], number_of_labels: int) -> RaterMasks:
    """Return label indices (J, \\*shape), 0 to K - 1."""
    return RaterMasks(
        lambda label, box=(): raters[(slice(None), *box)] == label,
        raters.shape[1:],
        len(raters),
        number_of_labels,
        np.ones(len(raters)),
    )


def probability(result: CoherenceResult | SharedConsensus, label: int) -> Floats:
    """Return (\\*shape) probabilities of a result."""
    written = np.empty(result.decision.shape)
    result.write_probability(label, written)
    return written


def smooth(volume: Floats, sigma: Floats, border: str = "nearest") -> Floats:
    """Smooth with a Gaussian along the last axes, with sigma in voxels per axis."""
    sigmas = (0.0,) * (volume.ndim - len(sigma)) + tuple(sigma)
    return np.asarray(gaussian_filter(volume, sigmas, mode=border, truncate=TRUNCATE))


def levels_of_scale(
    masks: Floats, scales: Sequence[float], sides: Floats, present: Mask | None = None
) -> Iterator[Floats]:
    """Return the masks smoothed at each scale, (J, \\*box), only over voxels that a rater
    annotated.
    """
    for scale in scales:
        if scale == 0:
            yield masks
        elif present is None:
            yield smooth(masks, scale * sides)
        else:
            mass = smooth(present.astype(np.float64), scale * sides)
            level = smooth(np.where(present, masks, 0.0), scale * sides)
            yield np.divide(level, mass, out=np.zeros_like(level), where=mass > 0)


class Mean(NamedTuple):
    """Weighted mean over the raters at each voxel, and their effective number."""

    value: Floats
    square: Floats
    raters: Floats


def rater_mean(band: Floats, weights: Floats, present: Mask | None = None) -> Mean:
    """Return the means of a band (J, \\*box) and of its square, and the effective number of raters.

    With weights u that sum to 1 this number is 1 / sum u^2, the factor by which averaging reduces
    the variance of independent errors.
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


def shared_power(mean: Mean) -> Floats:
    """Return the power shared by the raters at each voxel; unbiased if their errors are
    independent.

    The expected square of the mean is C + N / J, for shared power C and error power N; the
    expected mean of the squares is C + N. With a single rater, all power is shared.
    """
    several = mean.raters > 1 + 1e-9
    others = np.where(several, mean.raters - 1, 1.0)
    unbiased = (mean.raters * np.square(mean.value) - mean.square) / others
    return np.where(several, unbiased, mean.square)


def keep_share(shared: Floats, noise: Floats, sharpness: float) -> Floats:
    """Return ``C^p / (C^p + N^p)``; for p = 1, the Wiener gain of a signal C in noise N."""
    signal, error = shared**sharpness, noise**sharpness
    return np.divide(signal, signal + error, out=np.zeros_like(signal), where=signal > 0)


class Coherence(NamedTuple):
    """Gains of the bands and of the votes themselves, and the filtered mean; all in one box.

    Attributes
    ----------
    gains : list of ndarray
        One per band.
    detail : ndarray
        Gain of the votes themselves.
    answer : ndarray
    common : float
        Share of the power at the coarsest scale that is common to the raters; if k of J raters
        draw the same mask and the others nothing, it is (k - 1) / (J - 1).
    """

    gains: list[Floats]
    detail: Floats
    answer: Floats
    common: float


def coherence(
    masks: Floats,
    weights: Floats,
    present: Mask | None,
    sides: Floats,
    settings: CoherenceSettings,
) -> Coherence:
    """Compute the gains and the filtered mean of one label's masks (J, \\*box)."""
    levels = levels_of_scale(masks, settings.scales, sides, present)
    gains, means = [], []
    detail = np.zeros(masks.shape[1:])
    pairs = itertools.pairwise(levels)
    for band, ((fine, coarse), window) in enumerate(zip(pairs, settings.windows(), strict=True)):
        mean = rater_mean(fine - coarse, weights, present)
        # There is no dispute beyond the box, so the power there is 0. Gains are ratios, so windows
        # that extend beyond the box need no correction.
        power = smooth(mean.square, window * sides, "constant")
        shared = smooth(shared_power(mean), window * sides, "constant").clip(0, power)
        shared[power < LEAST_POWER] = 0
        noise = power - shared
        gains.append(
            keep_share(shared, noise / np.maximum(mean.raters, 1), settings.gain_sharpness)
        )
        means.append(mean.value)
        if band == settings.detail_band:
            detail = keep_share(shared, noise, settings.detail_sharpness)
    base = rater_mean(coarse, weights, present)
    common = float(shared_power(base).sum() / max(base.square.sum(), LEAST_POWER))
    votes = rater_mean(masks, weights, present).value
    return Coherence(gains, detail, answer(votes, base.value, means, gains, detail), common)


def answer(
    votes: Floats, base: Floats, bands: list[Floats], gains: list[Floats], detail: Floats
) -> Floats:
    """Return the coarsest level plus bands times gains, blended with the votes by the detail."""
    smoothed = base + sum(gain * band for gain, band in zip(gains, bands, strict=True))
    return np.asarray(smoothed + detail * (votes - smoothed))


def clean_answer(
    chosen: Mask, found: Coherence, sides: Floats, settings: CoherenceSettings
) -> Floats:
    """Return the filtered mean of raters who all draw `chosen`, with the same gains."""
    votes = chosen.astype(np.float64)
    levels = list(levels_of_scale(votes, settings.scales, sides))
    bands = [fine - coarse for fine, coarse in itertools.pairwise(levels)]
    return answer(votes, levels[-1], bands, found.gains, found.detail)


def find_cut(
    found: Coherence, votes: Floats, counted: Mask, sides: Floats, settings: CoherenceSettings
) -> Cut:
    """Find the threshold iteratively: start from the highest values, then alternate between
    counting votes and thresholding.

    Parameters
    ----------
    found : Coherence
    votes : (\\*box) ndarray
        Share of the raters who marked each voxel.
    counted : (\\*box) ndarray of bool
        Voxels that are counted; unanimous background is excluded, so that its amount has no effect.
    """
    # With an initial threshold of one half, structures that most raters miss would never be found;
    # but marks on which hardly two raters agree do not count as such structures.
    begin = min(0.5, found.answer.max() / 2) if found.common >= LEAST_COMMON else 0.5
    chosen = found.answer > begin
    cut = Cut(0.0, 1.0, 0.5)
    for _ in range(CUT_ROUNDS):
        clean = clean_answer(chosen, found, sides, settings)
        cut = cut_levels(votes, chosen, counted, clean, sides)
        chosen = found.answer > threshold(cut, found.detail) + 1e-9
        if not chosen.any():
            break
    return cut


def volume_level(clean: Floats, number: int) -> float:
    """Return the level above which a clean mask's filtered mean has `number` values."""
    if not 0 < number < clean.size:
        return 0.5
    ends = np.partition(clean.ravel(), [clean.size - number - 1, clean.size - number])
    middle = (ends[clean.size - number - 1] + ends[clean.size - number]) / 2
    return float(np.clip(0.5 + LEVEL_WEIGHT * (middle - 0.5), *LEVELS))


def mean_share(votes: Floats, far: Mask, side: Mask) -> float:
    """Return the mean of votes far from the contour, or of the whole side if few voxels are far."""
    if not side.any():
        return 0.0
    total = votes[far].sum() + PSEUDO_VOXELS * votes[side].mean()
    return float(total / (np.count_nonzero(far) + PSEUDO_VOXELS))


def cut_levels(votes: Floats, chosen: Mask, counted: Mask, clean: Floats, sides: Floats) -> Cut:
    """Return the mean shares inside and outside a mask, and the level between them."""
    size = _box_size(CONTOUR_REACH * sides)
    inner = minimum_filter(chosen, size, mode="nearest")
    outer = ~maximum_filter(chosen, size, mode="nearest")
    inside = mean_share(votes, inner & counted, chosen & counted)
    outside = mean_share(votes, outer & counted, ~chosen & counted)
    if inside - outside < LEAST_POWER:
        return Cut(0.0, 1.0, 0.5)
    number = int(np.count_nonzero(chosen & counted))
    return Cut(outside, inside, volume_level(clean[counted], number))


def threshold(cut: Cut, detail: Floats) -> Floats:
    """Return the threshold: between the mean shares, but one half where detail is shared."""
    between = cut.outside + (cut.inside - cut.outside) * cut.level
    return (1 - detail) * between + detail * 0.5


def probability_of(found: Coherence, cut: Cut) -> Floats:
    """Return probabilities: 0 at the mean share outside, 1/2 at the contour, 1 at the mean
    share inside.
    """
    middle = threshold(cut, found.detail)
    low = (1 - found.detail) * cut.outside
    high = (1 - found.detail) * cut.inside + found.detail
    above = found.answer - middle
    width = np.where(above > 0, high - middle, middle - low)
    linear = 0.5 + 0.5 * above / np.maximum(width, 1e-12)
    # A tie is not part of the mask, so its probability is below one half.
    linear = np.where(above > 1e-9, linear, np.minimum(linear, 0.5 - 1e-9))
    return np.asarray(linear.clip(0, 1))


def near_marks(votes: Floats, sides: Floats) -> Mask:
    """Return the voxels within reach of any rater's marks."""
    return np.asarray(maximum_filter(votes > 0, _box_size(CONTOUR_REACH * sides), mode="nearest"))


def _box_size(radii: Floats) -> list[int]:
    return [2 * int(radius + 1e-9) + 1 for radius in radii]


class Answer(NamedTuple):
    """Result for one label around the disputed voxels, and its difference from the threshold."""

    box: tuple[slice, ...]
    answer: Floats
    above: Floats
    probability: Floats
    cut: Cut


def answer_label(
    masks: RaterMasks, label: int, spacing: Sequence[float], settings: CoherenceSettings
) -> Answer | None:
    sides = smallest_sides(spacing)
    tight = bounding_box(masks.disputed_voxels(label))
    if tight is None:
        return None
    wide = widen_box(tight, settings.margin(sides))
    stack = read_extended(masks.read(label), wide).astype(np.float64)
    present = None if masks.present is None else read_extended(masks.present, wide)
    found = coherence(stack, masks.weights, present, sides, settings)
    votes = rater_mean(stack, masks.weights, present).value
    counted = near_marks(votes, sides)
    if present is not None:
        counted &= present.any(axis=0)
    cut = find_cut(found, votes, counted, sides, settings)
    box = clip_box(wide, masks.shape)
    inside = relative_to(box, wide)
    above = found.answer - threshold(cut, found.detail)
    return Answer(box, found.answer[inside], above[inside], probability_of(found, cut)[inside], cut)


def decide(
    masks: RaterMasks, spacing: Sequence[float], settings: CoherenceSettings
) -> tuple[NDArray[np.int32], Floats]:
    """Return the label with the highest score, and its lead over the second-highest score."""
    two = masks.number_of_labels == 2
    scores = []
    for label in [1] if two else range(masks.number_of_labels):
        volume = masks.share(label)
        found = answer_label(masks, label, spacing, settings)
        if found is not None:
            volume[found.box] = found.probability
        scores.append(volume)
    if two:
        return (scores[0] >= 0.5).astype(np.int32), np.abs(2 * scores[0] - 1)
    ordered = np.sort(scores, axis=0)
    return np.argmax(scores, axis=0).astype(np.int32), ordered[-1] - ordered[-2]
