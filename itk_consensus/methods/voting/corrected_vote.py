"""Smoothed vote, corrected for the raters' mean sensitivity and specificity.

The share of votes around a voxel is an estimate of the foreground prevalence, biased by the raters'
false negatives and false positives. Rogan & Gladen (American Journal of Epidemiology 107(1):71-76,
1978) correct it by ``(share - a) / (b - a)``, where b and a are the mean shares inside and outside
the structure. The contour then lies where the share is midway between a and b instead of at 1/2.
For several labels the mean shares form a matrix, whose inverse is applied (Forman, Data Mining and
Knowledge Discovery 17:164-206, 2008).

The mean shares are computed with the smoothed vote as reference, and only at voxels farther from
its contours than the reach of the Gaussian, where disagreement is noise. Near a contour raters also
disagree about its position, which requires no correction. The mean shares are computed only once:
repeating this with the corrected map as reference makes contours creep outwards.

Voxels on which all annotating raters agree keep their label; otherwise unanimous structures
thinner than the Gaussian would vanish.

Background is counted only within reach of other votes, so that padding an image with background
does not change the result.
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

#: Weight, in voxels, of the mean over all voxels; it stabilises the estimate if there are few
#: voxels far from contours.
PSEUDO_VOXELS = 10.0

#: Smaller coefficients of an inverse are attributed to rounding and set to 0.
NO_COEFFICIENT = 1e-13


@dataclass(frozen=True)
class CorrectedVote:
    """A smoothed vote and the mixing matrix of its shares."""

    tiles: VoteTiles  #: The smoothed shares
    #: Shares by label, which can be recomputed from stored votes.
    shares: TiledShares
    #: (K, K) ``mixing[d, t]`` is the mean share of votes for d where the smoothed vote is t, far
    #: from its contours; NaN in the column of a label that does not occur in the smoothed vote.
    mixing: Floats

    def fusion(self) -> TiledFusion:
        """Return the corrected vote as a fusion."""
        return TiledFusion(self.decision(), replace(self.shares, unmixing=self.inverse))

    def decision(self) -> NDArray[Any]:
        """Return the label index of each voxel, or a code of `votes.ties`."""
        return self.tiles.decision("prior", unmixing=self.inverse, tolerance=SAME_PROBABILITY)

    @cached_property
    def inverse(self) -> Floats:
        """(K, K) matrix that maps vote shares to shares of true labels."""
        return unmixing_matrix(self.mixing)


def corrected_vote(
    votes: LabelVotes,
    sigma: float,
    spacing: Sequence[float],
    *,
    weights: Floats | None = None,
) -> CorrectedVote:
    """Smooth a vote by `VoteTiles.make`, and estimate its mixing matrix."""
    tiles_of = partial(VoteTiles.make, sigma=sigma, spacing=spacing, weights=weights)
    tiles = tiles_of(votes)
    counted = tiles.mixed_votes(tiles.decision("prior"))
    shares = TiledShares.of(tiles, votes, tiles_of)
    return CorrectedVote(tiles, shares, mixing_matrix(counted))


def mixing_matrix(counted: MixedVotes) -> Floats:
    """Return the (K, K) mean vote share of each label (row) by the smoothed vote's label (column).

    Where all votes nearby are for one label, its share is 1. Such voxels are counted, except for
    the label with the most such voxels, which is the background.
    """
    is_background = counted.agreed == counted.agreed.max()
    agreed = np.where(is_background, 0, counted.agreed)
    agreed_far = np.where(is_background, 0, counted.agreed_far)
    here = counted.near_voxels + agreed
    occurs = counted.near_voxels + counted.agreed > 0
    everywhere = (counted.near + np.diag(agreed)) / np.maximum(here, 1)
    # A label that occurs only where all votes agree requires no correction.
    everywhere = np.where(here > 0, everywhere, np.eye(len(here)))
    mass = counted.far + np.diag(agreed_far) + PSEUDO_VOXELS * everywhere
    mixing = mass / (counted.far_voxels + agreed_far + PSEUDO_VOXELS)
    return np.where(occurs, mixing, np.nan)


def unmixing_matrix(mixing: Floats) -> Floats:
    """Return the (K, K) inverse of the mixing matrix, 0 in rows of labels that do not occur."""
    occurring = np.flatnonzero(~np.isnan(mixing[0]))
    # Use the pseudo-inverse, since the matrix is singular if raters are no better than chance.
    inverse = np.zeros_like(mixing)
    inverse[occurring] = np.linalg.pinv(mixing[:, occurring])
    inverse[np.abs(inverse) < NO_COEFFICIENT] = 0.0
    return inverse
