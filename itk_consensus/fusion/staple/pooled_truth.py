"""What voxels with beliefs of their own say of the patterns they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Floats, Labels
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.ties import decide


@dataclass(frozen=True)
class PooledTruth:
    """What the voxels of each pattern believe on average, as `KnownTruth` of one start."""

    shares: scipy.sparse.csr_matrix  #: (P, K)

    @property
    def number_of_patterns(self) -> int:
        """P."""
        return int(self.shares.shape[0])

    def decisions(self, tolerance: float) -> Labels:
        """(P, 1) label of the highest share, or undecided where their logarithms tie."""
        labels = np.arange(self.shares.shape[1])
        decided = np.empty((self.number_of_patterns, 1), np.int64)
        for part in blocks_of(*self.shares.shape):
            with np.errstate(divide="ignore"):
                scores = np.log(self.shares[part].toarray())
            decided[part, 0] = decide(scores, labels, tolerance=tolerance)
        return decided

    def probabilities(
        self,
        wanted: Sequence[int] | None = None,
        start: int | None = None,
        part: slice | NDArray[np.intp] = slice(None),
    ) -> Floats:
        """(P, 1, W) mean beliefs in the wanted labels, of some patterns if given."""
        rows = self.shares[part]
        rows = rows if wanted is None else rows[:, list(wanted)]
        return np.asarray(rows.toarray()[:, None])


def blocks_of(patterns: int, labels: int) -> Iterator[slice]:
    """Patterns of which a table with all labels is no great thing."""
    return chunks(patterns, max(1, 4 * CHUNK // labels))
