"""The smoothed vote, corrected for the raters' mean errors.

The share of votes around a voxel is a measurement of how much foreground lies there, made with
raters who miss some of it and add some. Rogan & Gladen (American Journal of Epidemiology
107(1):71-76, 1978) correct such a measured prevalence: ``(share - a) / (b - a)``, where b and a are
the mean shares inside and outside the structure. The contour, where half is foreground, then lies
midway between a and b, not at one half of the votes. For several labels the mean shares form a
matrix, and its inverse does the same (Forman, Data Mining and Knowledge Discovery 17:164-206,
2008).

The mean shares are counted against the smoothed vote, beyond the Gaussian's reach of its contours:
what raters miss and add there is noise. Near a contour they also disagree about where it runs,
which needs no correction, the median of their contours being as good as any. Counted once:
counting again against the corrected map lets contours creep outwards.

Of the background, which is as large as the image happens to be, only what lies within reach of any
other vote is counted: background that is added around an image must not change what is inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.methods.voting.smoothed_vote import TiledFusion, TiledShares
from itk_consensus.votes.ties import SAME_PROBABILITY
from itk_consensus.votes.vote_tiles import MixedVotes, VoteTiles
from itk_consensus.votes.votes import LabelVotes

#: Where few voxels lie beyond a contour's reach, all voxels count as this many of them.
PSEUDO_VOXELS = 10.0

#: Smaller coefficients of an inverse are rounding.
NO_COEFFICIENT = 1e-13


@dataclass(frozen=True)
class CorrectedVote:
    """A smoothed vote and how its shares mix the labels."""

    tiles: VoteTiles  #: The smoothed shares
    #: The same, to be asked for by label even after the votes were kept elsewhere.
    shares: TiledShares
    #: (K, K) ``mixing[d, t]`` is the mean share of votes for d where the smoothed vote says t, far
    #: from its contours; NaN in the column of a label that it never says.
    mixing: Floats

    def fusion(self) -> TiledFusion:
        """The corrected result."""
        return TiledFusion(self.decision(), replace(self.shares, unmixing=self.inverse))

    def decision(self) -> NDArray[Any]:
        """Label index per voxel, or a code of `votes.ties`."""
        return self.tiles.decision("prior", unmixing=self.inverse, tolerance=SAME_PROBABILITY)

    @cached_property
    def inverse(self) -> Floats:
        """(K, K): shares of true labels by shares of votes."""
        return unmixing_matrix(self.mixing)


def corrected_vote(
    votes: LabelVotes,
    sigma: float,
    spacing: Sequence[float],
    *,
    weights: Floats | None = None,
) -> CorrectedVote:
    """Smooth a vote, as `VoteTiles.make` does, and count how its shares mix the labels."""
    tiles_of = partial(VoteTiles.make, sigma=sigma, spacing=spacing, weights=weights)
    tiles = tiles_of(votes)
    counted = tiles.mixed_votes(tiles.decision("prior"))
    shares = TiledShares.of(tiles, votes, tiles_of)
    return CorrectedVote(tiles, shares, mixing_matrix(counted))


def mixing_matrix(counted: MixedVotes) -> Floats:
    """(K, K) mean share of votes for a label (row) where the smoothed vote says another (column).

    Where all votes around are for one label, its share is 1. Such voxels count, but for the label
    that has most of them: it is the background.
    """
    is_background = counted.agreed == counted.agreed.max()
    agreed = np.where(is_background, 0, counted.agreed)
    agreed_far = np.where(is_background, 0, counted.agreed_far)
    here = counted.near_voxels + agreed
    said = counted.near_voxels + counted.agreed > 0
    everywhere = (counted.near + np.diag(agreed)) / np.maximum(here, 1)
    # A label that is said only where nobody dissents has no error to be corrected.
    everywhere = np.where(here > 0, everywhere, np.eye(len(here)))
    mass = counted.far + np.diag(agreed_far) + PSEUDO_VOXELS * everywhere
    mixing = mass / (counted.far_voxels + agreed_far + PSEUDO_VOXELS)
    return np.where(said, mixing, np.nan)


def unmixing_matrix(mixing: Floats) -> Floats:
    """(K, K) shares of true labels by shares of votes: the inverse of what mixes them."""
    taken = np.flatnonzero(~np.isnan(mixing[0]))
    # Raters who tell labels apart no better than chance leave nothing to invert.
    inverse = np.zeros_like(mixing)
    inverse[taken] = np.linalg.pinv(mixing[:, taken])
    inverse[np.abs(inverse) < NO_COEFFICIENT] = 0.0
    return inverse
