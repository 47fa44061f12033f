"""Shape-based averaging: mean of the raters' signed distances instead of their votes.

Rohlfing & Maurer, IEEE Trans. Image Processing 16(1):153-161, 2007. Every rater's labels are
converted to signed distances in mm; these are averaged, and a voxel is assigned to the label with
the smallest mean distance. A contour displaced by one rater therefore moves the mean slightly,
whereas the vote follows the median or, with voxel noise, has ragged contours. Unanimous voxels keep
their label, so only disputed voxels are averaged.
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

#: Distances are computed up to a margin around each label, which is enlarged if some voxel has no
#: label within it: FAR_SCALES times the probability scale, at which the odds have fallen to 0.7 %,
#: but at least NEAR_SIDES and at most FAR_SIDES times the largest voxel side.
FAR_SCALES, NEAR_SIDES, FAR_SIDES = 5, 5, 10


@dataclass(frozen=True)
class ShapeAverage(LabelShares):
    """The labels with the smallest mean distance, and their probabilities."""

    voxels: DisputedVoxels  #: Disputed voxels, in the smallest box within which distances are exact
    decision: NDArray[Any]  #: (N,) label index, or a code of `votes.ties`
    vote: VoteResult  #: Result at all other voxels
    means: MeanDistances  #: Mean distances to each label, recomputed on every call
    closest: ClosestLabels

    def fusion(self) -> DisputedFusion:
        """Return the result as a fusion."""
        return DisputedFusion(self.voxels, self.vote, self.decision, self)

    def of_label(self, label: int) -> Floats32:
        """Return the (N,) probability of a label index, using mean distance / scale as log odds.

        Pohl et al., Medical Image Analysis 11(5):465-477, 2007. Where no rater has a positive
        weight, all labels are infinitely far away and equally likely.
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
    # With a mask or missing votes the nearest labels may lie outside the margin: use the full
    # extent.
    side = max(voxel_sides(settings.spacing))
    near = np.clip(FAR_SCALES * settings.probability_scale, NEAR_SIDES * side, FAR_SIDES * side)
    margin = extent if gaps else float(near)
    while True:
        means = MeanDistances(voxels, settings, None if margin >= extent else margin)
        closest = ClosestLabels(len(voxels.places), tolerance, settings.probability_scale)
        every = one_by_one(means.near, range(patterns.number_of_labels))
        for label, distances in enumerate(every):
            closest.add(label, *distances)
        # Distances beyond the margin were left out; they matter only if no label is closer.
        if margin >= extent or closest.nearest.max(initial=0.0) <= margin:
            break
        margin *= 4
    decision = closest.decision(patterns.labels, settings.tie_rule, vote.frequencies)
    return ShapeAverage(voxels, decision, vote, means, closest)


def contour_region(patterns: DecisionPatterns, axes: int) -> Box:
    """Return the smallest box in which disputed voxels have the same distances as in the volume.

    The box contains all voxels that differ from the most common pattern, and a one-voxel shell with
    that pattern, which is closer to the inside than any voxel outside the box.
    """
    others = np.ones(len(patterns.counts), dtype=bool)
    commonest = patterns.counts.argmax()
    # Voxels outside a mask have no label, so the shell need not consist of the common pattern.
    others[commonest] = patterns.outside_code is not None or not patterns.unanimous[commonest]
    if not (~patterns.unanimous & patterns.present.any(axis=1)).any():
        others[:] = False
    return patterns.region(others, [1] * axes)
