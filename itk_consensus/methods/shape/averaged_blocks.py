"""Shape-based averaging of votes that are stored in blocks, since they do not fit into memory.

The distance to a contour is exact if it is at most that to the border of what was read. So around
each block as much is read as it takes: some voxels if raters agree roughly, more where one of them
is far from the others, and the whole volume at worst. The decision is that in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats32, Mask
from itk_consensus.methods.shape.closest_labels import ClosestLabels
from itk_consensus.methods.shape.mean_distances import (
    Around,
    AveragingSettings,
    MeanDistances,
    average,
)
from itk_consensus.methods.voting.majority_vote import VoteResult, majority_vote
from itk_consensus.space.blocks import SIDE, Blocked, Blocks
from itk_consensus.space.boxes import Box, grow_box, in_space, relative_to, voxel_sides
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.ties import BACKGROUND, SAME_SINGLE

#: How far around a block is read first, in largest voxel sides; doubled until it suffices.
FIRST_REACH = 8.0

#: Distances closer than this share are not told apart, since they are float32.
ROUNDING = 1e-5


def averaged_blocks(patterns: DecisionPatterns, settings: AveragingSettings) -> Blocked:
    """Return the label index of each voxel, or a code of `votes.ties`, by blocks.

    Parameters
    ----------
    patterns : DecisionPatterns
        Of which the codes are `Blocked`.
    """
    assert isinstance(patterns.codes, Blocked)
    vote = majority_vote(patterns, weights=settings.weights, ties=settings.tie_rule)
    whole = patterns.codes.box
    disputed = ~patterns.unanimous & patterns.present.any(axis=1)

    def decide(own: Box) -> NDArray[np.int32]:
        part = patterns.crop(own)
        decision = part.expand(vote.decision.astype(np.int32), outside=BACKGROUND)
        mask = part.expand(disputed)
        reach = FIRST_REACH * max(voxel_sides(settings.spacing))
        while mask.any():
            block = _Block.read(patterns, settings, own, reach)
            winners = block.winners(vote)
            if winners is not None:
                decision[mask] = winners
                break
            reach *= 2
        return decision

    return Blocked.made(Blocks.of(whole, SIDE), decide)


@dataclass(frozen=True)
class _Block:
    """The disputed voxels of a block, and the votes around it."""

    means: MeanDistances  #: In the box that was read
    members: NDArray[np.intp]  #: (n,) the block's voxels, among all disputed ones of that box
    limit: float  #: Distances up to this, in mm, are those in the volume

    @classmethod
    def read(
        cls, patterns: DecisionPatterns, settings: AveragingSettings, own: Box, reach: float
    ) -> _Block:
        """Read the votes up to a distance around a block."""
        assert isinstance(patterns.codes, Blocked)
        whole = patterns.codes.box
        around = [int(np.ceil(reach / side)) for side in settings.spacing]
        wide = grow_box(own, in_space(around, 0), patterns.codes.shape)
        everything = wide[-3:] == whole[-3:]
        cropped = patterns.crop(wide)
        voxels = DisputedVoxels(cropped, relative_to(wide, wide))
        members, _ = voxels.inside(relative_to(own, wide))
        limit = np.inf if everything else reach * (1 - ROUNDING)
        return cls(MeanDistances(voxels, settings, None), members, limit)

    def winners(self, vote: VoteResult) -> NDArray[np.int64] | None:
        """Return (n,) decisions; None if a distance that matters may be another in the volume."""
        settings, patterns = self.means.settings, self.means.voxels.patterns
        side = min(voxel_sides(settings.spacing))
        closest = ClosestLabels(len(self.members), SAME_SINGLE * side, settings.probability_scale)
        every = np.arange(len(self.members))
        least = np.full(len(self.members), np.inf)  #: Of the labels left out
        for label in range(patterns.number_of_labels):
            distances, known, bound = self._distances(label)
            closest.add(label, every[known], distances[known])
            least[~known] = np.minimum(least[~known], bound[~known])
        # A label that is left out must be farther than the nearest one.
        is_exact = np.isinf(self.limit)
        if not is_exact and (least <= closest.nearest + (SAME_SINGLE + ROUNDING) * side).any():
            return None
        return closest.decision(patterns.labels, settings.tie_rule, vote.frequencies)

    def _distances(self, label: int) -> tuple[Floats32, Mask, Floats32]:
        """Return (n,) mean distances, whether they are exact, and else lower bounds."""
        means, patterns = self.means, self.means.voxels.patterns
        box = means.voxels.region
        around = Around(label, box, self.members, means.voxels.places[self.members])
        raters = np.flatnonzero(means.weights)
        rows = means.of_raters(raters.tolist(), around)
        never = ~(patterns.patterns == label).any(axis=0)[raters]
        absent = never[:, None] & np.isposinf(rows)
        exact = (np.abs(rows) <= self.limit) | np.isnan(rows) | absent | np.isinf(self.limit)
        known = np.asarray(exact.all(axis=0))
        lower = np.where(exact, rows, np.where(rows > 0, self.limit, -np.inf))
        lower = np.where(absent & ~known, self.limit, lower).astype(np.float32)
        outside = ~np.isneginf(lower).any(axis=0)
        bound = np.full(len(self.members), -np.inf, np.float32)
        weights, trim = means.weights[raters], means.settings.trim_fraction
        unknown = outside & ~known
        bound[unknown] = average(lower[:, unknown], weights, trim)
        return means.mean_at(around), known, bound
