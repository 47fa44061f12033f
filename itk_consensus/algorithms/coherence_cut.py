"""Where the coherence vote draws the contour, and the probability that follows.

Between what the raters mark inside and outside (Rogan & Gladen, American Journal of Epidemiology
107:71-76, 1978), at the level where a clean mask sent through the same smoothing keeps its volume.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.coherence_bands import (
    LEAST_POWER,
    Coherence,
    CoherenceSettings,
    clean_answer,
)
from itk_consensus.algorithms.rater_masks import Floats, Mask
from itk_consensus.labels.gaussian import Singles
from itk_consensus.labels.spread import spread

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

#: Answers this close to the cut are a tie, and not chosen; single precision tells no more.
TIE_TOLERANCE = 1e-6

#: Values that tell where in a distribution to look.
VALUES_IN_SAMPLE = 10_000

#: Planes worked on at a time hold about so many voxels: what is made on the way stays in the cache.
VOXELS_AT_ONCE = 1 << 17


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


def find_cut(
    found: Coherence,
    counted: Mask,
    sides: Floats,
    settings: CoherenceSettings,
    threads: int | None = None,
) -> Cut:
    """Begin with the strongest answers, then cut by what was counted against the last cut.

    Parameters
    ----------
    found : Coherence
    counted : (\\*box) ndarray of bool
        Voxels that may count: clean background, however much of it, must not.
    """
    # From one half, structures that most raters miss would never be found; but what hardly two of
    # them draw alike is no structure that the others miss.
    strongest = float(found.answer.max()) / 2
    begin = min(0.5, strongest) if found.common >= LEAST_COMMON else 0.5
    chosen = found.answer > begin
    cut = Cut(0.0, 1.0, 0.5)
    for _ in range(CUT_ROUNDS):
        clean = clean_answer(chosen, found, sides, settings, threads)
        cut = cut_levels(found.votes, chosen, counted, clean, sides, threads)
        for part in planes(chosen):
            limit = threshold(cut, found.detail[part])
            chosen[part] = found.answer[part] > limit + np.float32(TIE_TOLERANCE)
        if not chosen.any():
            break
    return cut


def volume_level(clean: NDArray[Any], number: int) -> float:
    """Where to cut the answer, judged by where `number` values of a clean mask's lie above."""
    if not 0 < number < clean.size:
        return 0.5
    middle = sum(ranked_values(clean.ravel(), clean.size - number)) / 2
    return float(np.clip(0.5 + LEVEL_WEIGHT * (middle - 0.5), *LEVELS))


def ranked_values(values: NDArray[Any], place: int) -> tuple[float, float]:
    """The values at `place` - 1 and `place`, were they sorted; 0 < `place` < their number.

    A sample tells between which values they lie, and only those are sorted.
    """
    sample = np.sort(values[:: max(1, values.size // VALUES_IN_SAMPLE)])
    middle = place / values.size * len(sample)
    margin = 4 * np.sqrt(len(sample)) + 1
    low = sample[int(max(middle - margin, 0))]
    high = sample[int(min(middle + margin, len(sample) - 1))]
    below = int(np.count_nonzero(values < low))
    among = values[(values >= low) & (values <= high)]
    if not below < place < below + len(among):
        below, among = 0, values
    among = np.sort(among)
    return float(among[place - 1 - below]), float(among[place - below])


def cut_levels(
    votes: Singles,
    chosen: Mask,
    counted: Mask,
    clean: Singles,
    sides: Floats,
    threads: int | None = None,
) -> Cut:
    """Mean shares inside and outside a mask, and the level between them, over counted voxels."""
    outside = _mean_share(votes, ~reached(chosen, sides, threads) & counted, ~chosen & counted)
    inside = _mean_share(votes, ~reached(~chosen, sides, threads) & counted, chosen & counted)
    if inside - outside < LEAST_POWER:
        return Cut(0.0, 1.0, 0.5)
    number = int(np.count_nonzero(chosen & counted))
    return Cut(outside, inside, volume_level(clean[counted], number))


def _mean_share(votes: Singles, far: Mask, side: Mask) -> float:
    """Mean of votes far from the contour; of the whole side, where little lies far."""
    near, voxels = _sum_where(votes, side), np.count_nonzero(side)
    if not voxels:
        return 0.0
    total = _sum_where(votes, far) + PSEUDO_VOXELS * near / voxels
    return float(total / (np.count_nonzero(far) + PSEUDO_VOXELS))


def _sum_where(values: Singles, flags: Mask) -> float:
    """Sum in double precision."""
    return float(sum(values[part][flags[part]].sum(dtype=np.float64) for part in planes(values)))


def threshold(cut: Cut, detail: NDArray[Any]) -> NDArray[Any]:
    """Where the contour lies: between the mean shares, but at one half where detail is shared."""
    between = cut.outside + (cut.inside - cut.outside) * cut.level
    return np.asarray(between + detail * (0.5 - between))


def probability_of(found: Coherence, cut: Cut) -> Singles:
    """0 at the mean share outside, one half at the contour, 1 at the mean share inside.

    Overwrites the answer.
    """
    for part in planes(found.answer):
        detail, answer = found.detail[part], found.answer[part]
        middle = threshold(cut, detail)
        low = (1 - detail) * np.float32(cut.outside)
        high = (1 - detail) * np.float32(cut.inside) + detail
        above = answer - middle
        width = np.where(above > 0, high - middle, middle - low)
        linear = 0.5 + 0.5 * above / np.maximum(width, np.float32(1e-12))
        # A tie is not chosen, so its probability is below one half.
        tied = np.minimum(linear, np.float32(0.5 - TIE_TOLERANCE))
        answer[...] = np.where(above > np.float32(TIE_TOLERANCE), linear, tied).clip(0, 1)
    return found.answer


def near_marks(votes: Singles, sides: Floats, threads: int | None = None) -> Mask:
    """Voxels within reach of what somebody marked."""
    return reached(votes > 0, sides, threads)


def reached(mask: Mask, sides: Floats, threads: int | None = None) -> Mask:
    """Voxels with a flagged one in the box of `CONTOUR_REACH` around them."""
    return spread(mask, [int(radius + 1e-9) for radius in CONTOUR_REACH * sides], threads=threads)


def planes(volume: NDArray[Any]) -> Iterator[slice]:
    """Parts of the first axis, some planes each."""
    step = max(1, VOXELS_AT_ONCE // max(1, volume[:1].size))
    return (slice(first, first + step) for first in range(0, len(volume), step))
