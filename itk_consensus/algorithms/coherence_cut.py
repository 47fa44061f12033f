"""Where the coherence vote draws the contour, and the probability that follows.

Between what the raters mark inside and outside (Rogan & Gladen, American Journal of Epidemiology
107:71-76, 1978), at the level where a clean mask sent through the same smoothing keeps its volume.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter

from itk_consensus.algorithms.coherence_bands import (
    LEAST_POWER,
    Coherence,
    CoherenceSettings,
    clean_answer,
)
from itk_consensus.algorithms.rater_masks import Floats, Mask

#: Smallest voxel sides: what lies nearer to a contour, or farther from any mark, is not counted.
CONTOUR_REACH = 3

#: The mean of a whole side counts as this many voxels far from its contour.
PSEUDO_VOXELS = 10.0

#: Mean shares and the level are counted this often, each time against the last cut.
CUT_ROUNDS = 2

#: A clean mask's level is kept away from where it would say nothing.
LEVELS = (0.1, 0.9)

#: How much of a clean mask's level is used: its profile is steeper than that of raters whose
#: contours differ, by sqrt(2) where they differ as far as the smoothing reaches.
LEVEL_WEIGHT = 0.5**0.5

#: Share of the coarsest power in common from which raters draw one thing: two of five who draw the
#: same have .25, three .5, and what most raters miss voxel by voxel comes near 1.
LEAST_COMMON = 0.3

#: Answers this close to the cut are a tie, and not chosen: single precision is no finer.
TIE_TOLERANCE = 1e-5


class Cut(NamedTuple):
    """How a label's answer was cut.

    Attributes
    ----------
    outside, inside : float
        Mean shares of votes far outside and inside the contour: a and b.
    level : float
        Where between them a clean mask, smoothed alike, keeps its volume.
    """

    outside: float
    inside: float
    level: float


def find_cut(found: Coherence, counted: Mask, sides: Floats, settings: CoherenceSettings) -> Cut:
    """Begin with the strongest answers, then cut by what was counted against the last cut.

    Parameters
    ----------
    found : Coherence
    counted : (\\*box) ndarray of bool
        Voxels that may count: clean background, however much of it, must not.
    """
    # From one half, structures that most raters miss would never be found; but what hardly two of
    # them draw alike is no structure that the others miss.
    begin = min(0.5, found.answer.max() / 2) if found.common >= LEAST_COMMON else 0.5
    chosen = found.answer > begin
    cut = Cut(0.0, 1.0, 0.5)
    for _ in range(CUT_ROUNDS):
        clean = clean_answer(chosen, found, sides, settings)
        cut = cut_levels(found.votes, chosen, counted, clean, sides)
        chosen = found.answer > threshold(cut, found.detail) + TIE_TOLERANCE
        if not chosen.any():
            break
    return cut


def volume_level(clean: Floats, number: int) -> float:
    """Where to cut the answer, judged by where `number` values of a clean mask's lie above."""
    if not 0 < number < clean.size:
        return 0.5
    ends = np.partition(clean.ravel(), [clean.size - number - 1, clean.size - number])
    middle = (ends[clean.size - number - 1] + ends[clean.size - number]) / 2
    return float(np.clip(0.5 + LEVEL_WEIGHT * (middle - 0.5), *LEVELS))


def mean_share(votes: Floats, far: Mask, side: Mask) -> float:
    """Mean of votes far from the contour; of the whole side, where little lies far."""
    if not side.any():
        return 0.0
    total = votes[far].sum(dtype=float) + PSEUDO_VOXELS * votes[side].mean(dtype=float)
    return float(total / (np.count_nonzero(far) + PSEUDO_VOXELS))


def cut_levels(votes: Floats, chosen: Mask, counted: Mask, clean: Floats, sides: Floats) -> Cut:
    """Mean shares inside and outside a mask, and the level between them, over counted voxels."""
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
    """Where the contour lies: between the mean shares, but at one half where detail is shared."""
    between = cut.outside + (cut.inside - cut.outside) * cut.level
    return (1 - detail) * between + detail * 0.5


def probability_of(found: Coherence, cut: Cut) -> Floats:
    """0 at the mean share outside, one half at the contour, 1 at the mean share inside."""
    middle = threshold(cut, found.detail)
    low = (1 - found.detail) * cut.outside
    high = (1 - found.detail) * cut.inside + found.detail
    above = found.answer - middle
    width = np.where(above > 0, high - middle, middle - low)
    linear = 0.5 + 0.5 * above / np.maximum(width, 1e-12)
    # A tie is not chosen, so its probability is below one half.
    linear = np.where(above > TIE_TOLERANCE, linear, np.minimum(linear, 0.5 - TIE_TOLERANCE))
    return np.asarray(linear.clip(0, 1))


def near_marks(votes: Floats, sides: Floats) -> Mask:
    """Voxels within reach of what somebody marked."""
    return np.asarray(maximum_filter(votes > 0, _box_size(CONTOUR_REACH * sides), mode="nearest"))


def _box_size(radii: Floats) -> list[int]:
    return [2 * int(radius + 1e-9) + 1 for radius in radii]
