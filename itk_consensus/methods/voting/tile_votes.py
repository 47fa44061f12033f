"""TileVoteFilter: base class of filters that smooth votes and can process volumes in tiles."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from itk_consensus.core.constraints import LENGTH
from itk_consensus.core.parameters import Measurement, Parameter
from itk_consensus.core.process_object import ProcessObject
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.fusion_case import FusionCase
from itk_consensus.fusing.probability_inputs import SoftInputsMixin
from itk_consensus.fusing.shared_parameters import RaterWeightsMixin
from itk_consensus.methods.voting.corrected_vote import CorrectedVote
from itk_consensus.methods.voting.smoothed_vote import SmoothedVote, TilesOf
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.vote_tiles import MixedVotes


@dataclass(frozen=True)
class SmoothingEstimate(Estimate):
    """Smoothing applied to the votes."""

    sigma: float  #: Standard deviation in mm


class VoteSmoothingMixin(ProcessObject):
    """Parameter and measurement for smoothing votes."""

    SmoothingSigma = Parameter(
        LENGTH,
        1.0,
        "Standard deviation of the smoothing of the votes, in smallest voxel sides; 0: none.",
    )

    SmoothingSigmaInMillimetres = Measurement(
        float,
        "Standard deviation of the smoothing of the votes in mm, the same on every axis.",
        "estimate.sigma",
    )

    def _sigma(self, case: FusionCase) -> float:
        """Return the standard deviation of the smoothing in mm."""
        return self.SmoothingSigma * case.smallest_side


class TileVoteFilter(RaterWeightsMixin, VoteSmoothingMixin, SoftInputsMixin):
    """Base class of filters whose decision is based on smoothed votes."""

    #: Whether the decision requires the mixing matrix, which is counted over all voxels.
    mixes_votes: ClassVar[bool] = False

    @property
    def chunking(self) -> str:
        return "tiles"

    @abstractmethod
    def tile_vote(
        self, stack: LabelStack, tiles_of: TilesOf, mixed: MixedVotes | None
    ) -> SmoothedVote | CorrectedVote:
        """Return the vote for a stack's tiles; `mixed` was counted over all voxels."""

    def estimate_of(self, sigma: float, mixed: MixedVotes | None) -> SmoothingEstimate:
        """Return the estimate that applies to all chunks."""
        return SmoothingEstimate(sigma)
