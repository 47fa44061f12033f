"""Where the coherence vote draws the contour, and the probability that follows.

Between what the raters mark inside and outside (Rogan & Gladen, American Journal of Epidemiology
107:71-76, 1978), at the level where a clean mask sent through the same smoothing keeps its volume.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.bands import (
    LEAST_POWER,
    TRUNCATE,
    Coherence,
    CoherenceSettings,
)
from itk_consensus.space.contour_cut import CutCounts, Side, count_cut, cut_answer
from itk_consensus.space.gaussian import Singles
from itk_consensus.space.rater_field import RaterField
from itk_consensus.space.spread import spread

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

#: Values this close to the cut are ties and not chosen, as single precision cannot decide.
TIE_TOLERANCE = 1e-6


class Cut(NamedTuple):
    """How a label's answer was cut."""

    outside: float  #: Mean share of votes far outside the contour: a
    inside: float  #: The same far inside: b
    level: float  #: Where between them a clean mask, smoothed alike, keeps its volume

    @property
    def between(self) -> float:
        """Where the contour lies where no detail is shared; where it is, it lies at one half."""
        return self.outside + (self.inside - self.outside) * self.level


def find_cut(
    found: Coherence,
    raters: RaterField,
    weights: Floats,
    sides: Floats,
    settings: CoherenceSettings,
) -> Cut:
    """Begin with the strongest answers, then cut by what was counted against the last cut."""
    # From one half, structures that most raters miss would never be found; but what hardly two of
    # them draw alike is no structure that the others miss.
    strongest = float(found.answer.max()) / 2
    begin = min(0.5, strongest) if found.common >= LEAST_COMMON else 0.5
    chosen = found.answer > begin
    counted = counted_voxels(raters, sides)
    scales, reach = settings.in_voxels(sides), contour_reach(sides)
    cut = Cut(0.0, 1.0, 0.5)
    for _ in range(CUT_ROUNDS):
        counts = count_cut(
            raters,
            weights,
            chosen,
            counted,
            reach,
            found.kept,
            scales,
            truncate=TRUNCATE,
        )
        cut = cut_levels(counts)
        cut_answer(found.answer, found.kept, _levels(cut), chosen)
        if not chosen.any():
            break
    return cut


def cut_levels(counts: CutCounts) -> Cut:
    """Mean shares inside and outside a mask, and the level between them."""
    outside = _mean_share(counts.far_outside, counts.outside)
    inside = _mean_share(counts.far_inside, counts.inside)
    if inside - outside < LEAST_POWER:
        return Cut(0.0, 1.0, 0.5)
    return Cut(outside, inside, volume_level(counts))


def volume_level(counts: CutCounts) -> float:
    """Where to cut the answer, judged by where a clean mask's answer keeps its volume."""
    if not (counts.inside.voxels and counts.outside.voxels):
        return 0.5
    middle = (counts.before + counts.at) / 2
    return float(np.clip(0.5 + LEVEL_WEIGHT * (middle - 0.5), *LEVELS))


def _mean_share(far: Side, side: Side) -> float:
    """Mean of votes far from the contour; of the whole side, where little lies far."""
    if not side.voxels:
        return 0.0
    total = far.votes + PSEUDO_VOXELS * side.votes / side.voxels
    return total / (far.voxels + PSEUDO_VOXELS)


def probability_of(found: Coherence, cut: Cut) -> Singles:
    """0 at the mean share outside, one half at the contour, 1 at the mean share inside.

    Overwrites the answer.
    """
    cut_answer(found.answer, found.kept, _levels(cut))
    return found.answer


def _levels(cut: Cut) -> tuple[float, float, float, float]:
    return cut.outside, cut.inside, cut.between, TIE_TOLERANCE


def counted_voxels(raters: RaterField, sides: Floats) -> Mask:
    """Annotated voxels within reach of what any rater marked.

    Clean background, however much of it, must not count.
    """
    counted = spread(raters.marked(), contour_reach(sides))
    annotated = raters.annotated()
    if annotated is not None:
        counted &= annotated
    return counted


def contour_reach(sides: Floats) -> list[int]:
    """`CONTOUR_REACH` in voxels of each axis."""
    return [int(radius + 1e-9) for radius in CONTOUR_REACH * sides]
