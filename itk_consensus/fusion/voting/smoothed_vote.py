"""The vote smoothed in space: neighbours share their votes before the decision.

A Gaussian of the vote shares, in mm, is the baseline that spatial fusion has to beat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import TieRule
from itk_consensus.votes.tiled_shares import TiledFusion, TiledShares, TilesOf
from itk_consensus.votes.vote_tiles import VoteTiles


@dataclass(frozen=True)
class SmoothedVote:
    """Vote shares smoothed by a Gaussian, and the rule by which they decide.

    Where nobody annotated, a voxel's shares are the labels' overall frequencies. Voxels outside the
    mask neither vote nor count. In 4D the first array axis (ITK's last) holds independent volumes
    and is not smoothed.
    """

    votes: LabelStack | DecisionPatterns
    tiles_of: TilesOf
    threshold: float | None
    ties: TieRule

    @cached_property
    def tiles(self) -> VoteTiles:
        """The smoothed shares."""
        return self.tiles_of(self.votes)

    def fusion(self) -> TiledFusion:
        """The smoothed result."""
        shares = TiledShares.of(self.tiles, self.votes, self.tiles_of)
        return TiledFusion(self.decision(), shares)

    def decision(self) -> NDArray[Any]:
        """Label index per voxel, `votes.ties` codes where no label wins."""
        return self.tiles.decision(self.ties, threshold=self.threshold)


def smoothed_vote(
    votes: LabelStack | DecisionPatterns,
    sigma: float,
    spacing: Sequence[float],
    *,
    weights: Floats | None = None,
    threshold: float | None = None,
    ties: TieRule = "undecided",
) -> SmoothedVote:
    """Smooth votes as `VoteTiles.make` does, to be decided as `majority_vote` does."""
    tiles_of = partial(VoteTiles.make, sigma=sigma, spacing=spacing, weights=weights)
    return SmoothedVote(votes, tiles_of, threshold, ties)
