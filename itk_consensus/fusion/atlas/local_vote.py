"""The vote in which raters count differently at each voxel, smoothed; disputed voxels only.

Voxels that no two raters dispute keep their label: weights and smoothing have nothing to say there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.neighbourhood.local_voting import LocalShares
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.votes.fusions import DisputedFusion, PatternFusion, PatternShares
from itk_consensus.votes.ties import UNDECIDED

Singles = NDArray[np.float32]


def local_vote(
    voxels: DisputedVoxels,
    digits: Sequence[NDArray[np.uint16]],
    weights: Sequence[Singles],
    sigmas: Sequence[float],
) -> DisputedFusion:
    """The label of largest smoothed share at disputed voxels, the lowest of equals.

    Parameters
    ----------
    voxels : DisputedVoxels
        Its region must reach as far around disputes as the Gaussian does.
    digits : sequence of ndarray, of the region's shape
        Label index of each rater, or the number of labels where it is missing.
    weights : sequence of ndarray of float32, of the region's shape
    sigmas : sequence of float
        Standard deviation of the smoothing in voxels per axis; 0: none.
    """
    labels = voxels.patterns.number_of_labels
    shares = LocalShares(digits, weights, voxels.mask, labels, sigmas)

    def positive(label: int) -> Floats:
        return np.maximum(voxels.take(shares.share(label)).astype(np.float64), 0.0)

    @cache
    def total() -> Floats:
        sums = np.sum([positive(label) for label in range(labels)], axis=0)
        return np.asarray(np.maximum(sums, 1.0))

    # Weights below 0 make shares below 0 and above 1, of which no probability can be.
    is_signed = any((weight < 0).any() for weight in weights)

    def probability(label: int) -> NDArray[Any]:
        return positive(label) / total() if is_signed else np.minimum(positive(label), 1.0)

    others = agreed_fusion(voxels.patterns)
    return DisputedFusion(voxels, others, voxels.take(shares.winners()), probability)


def agreed_fusion(patterns: DecisionPatterns) -> PatternFusion:
    """What unanimous patterns say; all others are undecided, and those of nobody go by frequency.

    With many atlases and labels a table of votes by pattern and label would fill the memory.
    """
    lowest, labels = patterns.lowest_vote, np.arange(patterns.number_of_labels)
    counted = sum(
        np.bincount(votes, patterns.counts, len(labels) + 1) for votes in patterns.patterns.T
    )
    votes = np.asarray(counted, dtype=np.float64)[: len(labels)]
    frequencies = votes / max(votes.sum(), 1.0)

    def rows(part: slice) -> Floats:
        agreed = patterns.unanimous[part, None] & (lowest[part, None] == labels)
        return np.asarray(np.where(lowest[part, None] == len(labels), frequencies, agreed))

    def column(label: int) -> Floats:
        agreed = (patterns.unanimous & (lowest == label)).astype(np.float64)
        return np.asarray(np.where(lowest == len(labels), frequencies[label], agreed))

    decision = np.where(patterns.unanimous, lowest.astype(np.int64), UNDECIDED)
    shares = PatternShares((len(lowest), len(labels)), rows, column)
    return PatternFusion(patterns, decision, shares)
