"""Threshold at which the coherence vote draws the contour.

The threshold lies between the mean vote shares inside and outside (Rogan & Gladen, American Journal
of Epidemiology 107:71-76, 1978), at the level at which a noise-free mask keeps its volume under the
same smoothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.scale_bands import LEAST_POWER
from itk_consensus.space.contour_cut import CutCounts, Side
from itk_consensus.space.rater_field import RaterField
from itk_consensus.space.spread import dilate

#: Distance in units of the smallest voxel side. Voxels that are closer to a contour than this, or
#: farther from all marks, are not counted.
CONTOUR_REACH = 3

#: Weight, in voxels, of the mean over a whole side of the contour, which stabilises the mean over
#: voxels far from the contour.
PSEUDO_VOXELS = 10.0

#: Number of iterations for the mean shares and the level, each of which starts from the previous
#: cut.
CUT_ROUNDS = 2

#: Limits of the level, since levels close to 0 and 1 are unreliable.
LEVELS = (0.1, 0.9)

#: Weight of the deviation of a noise-free mask's level from 1/2. The profile of such a mask is
#: steeper than that of raters whose contours differ, by a factor of sqrt(2) if they differ as much
#: as the smoothing.
LEVEL_WEIGHT = 0.5**0.5

#: Minimum shared fraction of the power at the coarsest scale for which raters are assumed to have
#: drawn the same structure. The fraction is 0.25 if two of five raters draw the same structure, 0.5
#: if three do, and near 1 if raters miss voxels independently.
LEAST_COMMON = 0.3

#: Values this close to the threshold are treated as ties in single precision and are not selected.
TIE_TOLERANCE = 1e-6


class Cut(NamedTuple):
    """Levels at which a label's probability is thresholded."""

    outside: float  #: Mean vote share far outside the contour: a
    inside: float  #: Mean vote share far inside the contour: b
    level: float  #: Relative position of the threshold between the two, from 0 to 1

    @property
    def between(self) -> float:
        """Threshold where no detail is shared; where all detail is shared, the threshold is 1/2."""
        return self.outside + (self.inside - self.outside) * self.level


def cut_levels(counts: CutCounts) -> Cut:
    """Return the mean shares inside and outside a mask, and the level between them."""
    outside = _mean_share(counts.far_outside, counts.outside)
    inside = _mean_share(counts.far_inside, counts.inside)
    if inside - outside < LEAST_POWER:
        return Cut(0.0, 1.0, 0.5)
    return Cut(outside, inside, volume_level(counts))


def volume_level(counts: CutCounts) -> float:
    """Return the level at which a noise-free mask keeps its volume, shrunk towards 1/2."""
    if not (counts.inside.voxels and counts.outside.voxels):
        return 0.5
    middle = (counts.before + counts.at) / 2
    return float(np.clip(0.5 + LEVEL_WEIGHT * (middle - 0.5), *LEVELS))


def _mean_share(far: Side, side: Side) -> float:
    """Return the mean vote share far from the contour, shrunk to the mean of the whole side."""
    if not side.voxels:
        return 0.0
    total = far.votes + PSEUDO_VOXELS * side.votes / side.voxels
    return total / (far.voxels + PSEUDO_VOXELS)


def levels(cut: Cut) -> tuple[float, float, float, float]:
    """Return the arguments of `cut_answer`."""
    return cut.outside, cut.inside, cut.between, TIE_TOLERANCE


def counted_voxels(raters: RaterField, sides: Floats) -> Mask:
    """Return the annotated voxels within reach of any mark.

    Other background is excluded, so its extent does not affect the result.
    """
    counted = dilate(raters.marked_voxels(), contour_reach(sides))
    annotated = raters.annotated_voxels()
    if annotated is not None:
        counted &= annotated
    return counted


def contour_reach(sides: Floats) -> list[int]:
    """Return `CONTOUR_REACH` in voxels along each axis."""
    return [int(radius + 1e-9) for radius in CONTOUR_REACH * sides]
