"""Shape-based averaging: the mean of the raters' contours instead of the sum of their votes.

Rohlfing & Maurer, IEEE Trans. Image Processing 16(1):153-161, 2007. Every rater's labels become
signed distances in mm; they are averaged, and a voxel goes to the label whose mean distance is
smallest. A contour displaced by one rater therefore moves the mean a little, where a vote would
follow the median or, with voxel noise, fall to pieces. A voxel that all raters give to one label
keeps it, so only disputed voxels are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats32
from itk_consensus.core.work import one_by_one
from itk_consensus.methods.shape.closest_labels import ClosestLabels
from itk_consensus.methods.shape.mean_distances import (
    AveragingSettings,
    MeanDistances,
)
from itk_consensus.methods.voting.majority_vote import VoteResult, majority_vote
from itk_consensus.space.boxes import Box, voxel_sides
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.fusions import DisputedFusion, LabelShares
from itk_consensus.votes.ties import SAME_SINGLE

#: Labels farther from a voxel are tried if none is nearer: by so many scales of probabilities,
#: which lower odds to .7 %, but not within fewer nor beyond more of the (largest) voxel sides.
FAR_SCALES, NEAR_SIDES, FAR_SIDES = 5, 5, 10


@dataclass(frozen=True)
class ShapeAverage(LabelShares):
    """The labels of smallest mean distance, and what probabilities are made from."""

    voxels: DisputedVoxels  #: In the smallest box that keeps distances exact
    decision: NDArray[Any]  #: (N,) label index, or a code of `votes.ties`
    vote: VoteResult  #: The answer at all other voxels
    means: MeanDistances  #: Of each label, made again when asked for
    closest: ClosestLabels

    def fusion(self) -> DisputedFusion:
        """The result and its probabilities."""
        return DisputedFusion(self.voxels, self.vote, self.decision, self)

    def of_label(self, label: int) -> Floats32:
        """(N,) probability of a label index, mean distances over the scale being log odds.

        Pohl et al., Medical Image Analysis 11(5):465-477, 2007. Where no rater counts every label
        is infinitely far, and all are equally likely.
        """
        total = self.closest.odds
        labels = self.voxels.patterns.number_of_labels
        equal = np.full(total.shape, 1 / labels, np.float32)
        odds = self.closest.odds_of(*self.means.near(label))
        return np.divide(odds, total, out=equal, where=total > 0)


def shape_based_average(
    patterns: DecisionPatterns,
    settings: AveragingSettings,
) -> ShapeAverage:
    """Average the raters' signed distances to every label."""
    voxels = DisputedVoxels(patterns, contour_region(patterns, len(settings.spacing)))
    vote = majority_vote(patterns, weights=settings.weights, ties=settings.tie_rule)
    tolerance = SAME_SINGLE * min(voxel_sides(settings.spacing))
    extent = float(np.linalg.norm(np.multiply(voxels.shape, settings.spacing)))
    gaps = patterns.outside_code is not None or not patterns.present.all()
    # Where labels are unknown a box does not hold all that is near.
    side = max(voxel_sides(settings.spacing))
    near = np.clip(FAR_SCALES * settings.probability_scale, NEAR_SIDES * side, FAR_SIDES * side)
    margin = extent if gaps else float(near)
    while True:
        means = MeanDistances(voxels, settings, None if margin >= extent else margin)
        closest = ClosestLabels(len(voxels.places), tolerance, settings.probability_scale)
        every = one_by_one(means.near, range(patterns.number_of_labels))
        for label, distances in enumerate(every):
            closest.add(label, *distances)
        # Left out were distances beyond the margin: they matter only if nothing is nearer.
        if margin >= extent or closest.nearest.max(initial=0.0) <= margin:
            break
        margin *= 4
    decision = closest.decision(patterns.labels, settings.tie_rule, vote.frequencies)
    return ShapeAverage(voxels, decision, vote, means, closest)


def contour_region(patterns: DecisionPatterns, axes: int) -> Box:
    """Smallest box within which distances from disputed voxels equal those in the whole volume.

    It holds all that differs from the commonest pattern, and a shell of that pattern: a voxel of
    the shell is nearer to the inside than any voxel beyond it.
    """
    others = np.ones(len(patterns.counts), dtype=bool)
    commonest = patterns.counts.argmax()
    # Voxels outside a mask have no label, so there the shell would not stand for what lies beyond.
    others[commonest] = patterns.outside_code is not None or not patterns.unanimous[commonest]
    if not (~patterns.unanimous & patterns.present.any(axis=1)).any():
        others[:] = False
    return patterns.region(others, [1] * axes)
