"""TileVoteFilter: what the filters that smooth votes in tiles tell those who bring the tiles."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from itk_consensus.algorithms.corrected_vote import CorrectedVote
from itk_consensus.algorithms.smoothed_vote import SmoothedVote
from itk_consensus.filters.probability_inputs import SoftInputsMixin
from itk_consensus.filters.rater_weights import RaterWeightsMixin
from itk_consensus.filters.vote_smoothing import VoteSmoothingMixin
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.mixed_votes import MixedVotes
from itk_consensus.labels.tiled_shares import TilesOf


class TileVoteFilter(RaterWeightsMixin, VoteSmoothingMixin, SoftInputsMixin):
    """Base of the filters that decide by smoothed votes."""

    #: Whether the decision depends on how votes mix the labels, counted over all voxels.
    mixes_votes: ClassVar[bool] = False

    @property
    def chunking(self) -> str:
        return "tiles"

    @abstractmethod
    def _vote_of(
        self, stack: LabelStack, tiles_of: TilesOf, mixed: MixedVotes | None
    ) -> SmoothedVote | CorrectedVote:
        """The vote of a stack's tiles, with what was counted over all voxels."""

    def _measured_of(self, mixed: MixedVotes | None) -> dict[str, Any]:
        """Measurements that need no voxels."""
        return {}
