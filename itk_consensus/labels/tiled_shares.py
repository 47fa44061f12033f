"""Smoothed shares of votes that can be asked for later, when the caller's images are gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.kept_stack import KeptStack
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.vote_tiles import VoteTiles

#: Makes the tiles of votes.
TilesOf = Callable[[LabelStack | DecisionPatterns], VoteTiles]


@dataclass(frozen=True)
class TiledShares:
    """Smoothed shares by label index, made anew whenever they are asked for."""

    #: To be exchanged for a kept stack before the caller's images go.
    votes: LabelStack | KeptStack | DecisionPatterns
    tiles_of: TilesOf  #: Makes the tiles of votes
    unmixing: Floats | None = None  #: (K, K) applied to the shares

    def __call__(self, label: int) -> Floats:
        """Share of a label at every voxel; 0 outside the mask."""
        votes = self.votes.restored() if isinstance(self.votes, KeptStack) else self.votes
        return self.tiles_of(votes).share(label, unmixing=self.unmixing)
