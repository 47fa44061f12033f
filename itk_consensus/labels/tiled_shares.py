"""Smoothed shares of votes that can be asked for later, when the caller's images are gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.kept_stack import KeptStack
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.uncertainty import UncertaintyKind
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
        return self._tiles().share(label, unmixing=self.unmixing)

    def write_uncertainty(self, kind: UncertaintyKind, out: NDArray[np.float32]) -> None:
        """Write how unsure the shares leave each voxel, all labels at once."""
        self._tiles().write_uncertainty(kind, out, unmixing=self.unmixing)

    def _tiles(self) -> VoteTiles:
        votes = self.votes.restored() if isinstance(self.votes, KeptStack) else self.votes
        return self.tiles_of(votes)
