"""The vote smoothed in space: neighbours share their votes before the decision.

A Gaussian of the vote shares, in mm, is the baseline that spatial fusion has to beat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.fusions import VolumeFusion, VoxelShares
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.ties import TieRule
from itk_consensus.votes.uncertainty import UncertaintyKind
from itk_consensus.votes.vote_tiles import VoteTiles
from itk_consensus.votes.votes import LabelVotes

#: Makes the tiles of votes: `VoteTiles.make` with arguments, which can be pickled.
TilesOf = Callable[..., VoteTiles]


@dataclass(frozen=True)
class TiledShares(VoxelShares):
    """Smoothed shares by label index, made anew whenever they are asked for."""

    #: To be exchanged for what is kept before the caller's images go.
    votes: LabelVotes
    tiles_of: TilesOf  #: Makes the tiles of votes, or of a part of them
    reach: int  #: Planes that the Gaussian covers to each side
    unmixing: Floats | None = None  #: (K, K) applied to the shares

    @classmethod
    def of(cls, tiles: VoteTiles, votes: LabelVotes, tiles_of: TilesOf) -> TiledShares:
        """The shares of tiles, and what they were made of."""
        reach = tiles.reach[-min(len(tiles.shape), len(tiles.reach))]
        # Part of the votes must not have frequencies of its own.
        again = partial(tiles_of, frequencies=tiles.frequencies)
        return cls(votes, again, reach)

    def write(self, label: int, out: NDArray[Any]) -> None:
        """Write the share of a label at every voxel; 0 outside the mask."""
        self._write(lambda tiles, part: tiles.write_share(label, part, unmixing=self.unmixing), out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        """Write how unsure the shares leave each voxel, all labels at once."""
        self._write(
            lambda tiles, part: tiles.write_uncertainty(kind, part, unmixing=self.unmixing), out
        )

    def _write(self, write: Callable[[VoteTiles, NDArray[Any]], None], out: NDArray[Any]) -> None:
        """Let tiles write; what was kept of a stack is restored some planes at a time."""
        if not isinstance(self.votes, KeptStack):
            write(self.tiles_of(self.votes), out)
            return
        for planes, inside, stack in self.votes.slabs(self.reach):
            part = np.empty(stack.shape, out.dtype)
            write(self.tiles_of(stack), part)
            out[planes] = part[inside]


@dataclass(frozen=True)
class TiledFusion(VolumeFusion):
    """A decision between smoothed shares."""

    shares: TiledShares

    def keeping(self, votes: LabelVotes) -> TiledFusion:
        return replace(self, shares=replace(self.shares, votes=votes))


@dataclass(frozen=True)
class SmoothedVote:
    """Vote shares smoothed by a Gaussian, and the rule by which they decide.

    Where nobody annotated, a voxel's shares are the labels' overall frequencies. Voxels outside the
    mask neither vote nor count. In 4D the first array axis (ITK's last) holds independent volumes
    and is not smoothed.
    """

    votes: LabelVotes
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
    votes: LabelVotes,
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
