"""Majority vote of Gaussian-smoothed vote shares, the baseline for spatial fusion."""

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

#: Function that builds the tiles of votes: a picklable partial of `VoteTiles.make`.
TilesOf = Callable[..., VoteTiles]


@dataclass(frozen=True)
class TiledShares(VoxelShares):
    """Smoothed vote shares by label index, recomputed on every call."""

    #: The votes, replaced by a compact copy (`KeptStack`) before the inputs are released.
    votes: LabelVotes
    tiles_of: TilesOf  #: Builds the tiles of all votes, or of part of them
    reach: int  #: Half width of the Gaussian in planes
    unmixing: Floats | None = None  #: (K, K) matrix applied to the shares

    @classmethod
    def of(cls, tiles: VoteTiles, votes: LabelVotes, tiles_of: TilesOf) -> TiledShares:
        """Build shares that can recompute these tiles from the votes."""
        reach = tiles.reach[-min(len(tiles.shape), len(tiles.reach))]
        # Tiles of part of the votes must use the label frequencies of all votes.
        same_frequencies = partial(tiles_of, frequencies=tiles.frequencies)
        return cls(votes, same_frequencies, reach)

    def write(self, label: int, out: NDArray[Any]) -> None:
        """Write the share of a label at every voxel; 0 outside the mask."""
        self._write(lambda tiles, part: tiles.write_share(label, part, unmixing=self.unmixing), out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        """Write the uncertainty of each voxel, given the shares of all labels."""
        self._write(
            lambda tiles, part: tiles.write_uncertainty(kind, part, unmixing=self.unmixing), out
        )

    def _write(self, write: Callable[[VoteTiles, NDArray[Any]], None], out: NDArray[Any]) -> None:
        """Write from tiles; a `KeptStack` is restored slab by slab."""
        if not isinstance(self.votes, KeptStack):
            write(self.tiles_of(self.votes), out)
            return
        for planes, inside, stack in self.votes.slabs(self.reach):
            part = np.empty(stack.shape, out.dtype)
            write(self.tiles_of(stack), part)
            out[planes] = part[inside]


@dataclass(frozen=True)
class TiledFusion(VolumeFusion):
    """Decision based on smoothed vote shares."""

    shares: TiledShares

    def with_votes(self, votes: LabelVotes) -> TiledFusion:
        return replace(self, shares=replace(self.shares, votes=votes))


@dataclass(frozen=True)
class SmoothedVote:
    """Vote shares smoothed by a Gaussian, with the threshold and the tie rule of the decision.

    At voxels that no rater annotated, the shares are the labels' overall frequencies. Voxels
    outside the mask are excluded from the smoothing. In 4D the first array axis (ITK's last)
    indexes independent volumes and is not smoothed.
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
        """Return the smoothed vote as a fusion."""
        shares = TiledShares.of(self.tiles, self.votes, self.tiles_of)
        return TiledFusion(self.decision(), shares)

    def decision(self) -> NDArray[Any]:
        """Return the label index of each voxel, or a code of `votes.ties` where no label wins."""
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
    """Smooth votes by `VoteTiles.make`; the decision follows the rules of `majority_vote`."""
    tiles_of = partial(VoteTiles.make, sigma=sigma, spacing=spacing, weights=weights)
    return SmoothedVote(votes, tiles_of, threshold, ties)
