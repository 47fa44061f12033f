"""Overlap between all pairs of raters, label by label, from one pass over the patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice_of, share_of


@dataclass(frozen=True)
class PairCounts:
    """Intersections of pairs of raters; only voxels that both raters annotated are counted."""

    #: (K, J, J) ``marked[k, i, j]``: voxels to which rater i assigned label k and that j annotated,
    #: too.
    marked: NDArray[np.int64]
    shared: NDArray[np.int64]  #: (K, J, J) voxels to which both raters assigned label k

    @classmethod
    def of(cls, patterns: DecisionPatterns) -> PairCounts:
        """Count every pair of raters and every label."""
        shared = patterns.shared_votes
        if patterns.is_complete:
            own = np.einsum("kjj->kj", shared)
            return cls(np.broadcast_to(own[:, :, None], shared.shape), shared)
        annotated = patterns.tally(patterns.present * patterns.counts[:, None])
        return cls(np.rint(annotated).astype(np.int64).transpose(1, 0, 2), shared)

    def among(self, raters: Sequence[int]) -> PairCounts:
        """Return the counts of some raters only."""
        some = np.ix_(range(len(self.marked)), raters, raters)
        return PairCounts(self.marked[some], self.shared[some])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(K, J) voxels to which each rater assigned each label."""
        return np.asarray(np.einsum("kjj->kj", self.shared))

    @property
    def dice(self) -> Floats:
        """(K, J, J) ``2 |A and B| / (|A| + |B|)``; 1 where both are empty."""
        return dice_of(self.shared, self.marked + self.marked.transpose(0, 2, 1))

    @property
    def jaccard(self) -> Floats:
        """(K, J, J) ``|A and B| / |A or B|``; 1 where both are empty."""
        return share_of(self.shared, self._union)

    @property
    def conformity(self) -> Floats:
        """(K,) generalised conformity index: sum of intersections over sum of unions, of all pairs.

        Kouwenhoven, Giezen & Struikmans, Phys Med Biol 54:2897-2905, 2009.
        """
        return share_of(_over_pairs(self.shared), _over_pairs(self._union))

    @property
    def specific_agreement(self) -> Floats:
        """(K,) probability that a rater assigns label k given that another, random rater does.

        This equals the Dice pooled over all pairs; see Cicchetti & Feinstein 1990, and de Vet et
        al. 2017 for many raters.
        """
        either = self.marked + self.marked.transpose(0, 2, 1)
        return dice_of(_over_pairs(self.shared), _over_pairs(either))

    @property
    def _union(self) -> NDArray[np.int64]:
        return self.marked + self.marked.transpose(0, 2, 1) - self.shared


def _over_pairs(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (K,) sums over the pairs i < j."""
    return np.asarray(np.triu(table, 1).sum(axis=(1, 2)))
