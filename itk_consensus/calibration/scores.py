"""Nonconformity scores of each label at each voxel.

A label is in a voxel's prediction set if its score does not exceed the threshold. The background's
score is the negative of the foreground's, so a positive threshold gives a band around the consensus
contour and a negative one leaves some prediction sets empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.probabilities import log_odds
from itk_consensus.space.boxes import Box
from itk_consensus.space.distance import signed_distance

BACKGROUND, FOREGROUND, AMBIGUOUS, EMPTY = 0, 1, 2, 3
_BAND_OF_BITS = np.array([EMPTY, BACKGROUND, FOREGROUND, AMBIGUOUS], dtype=np.uint8)

#: Maximum numbers of labels whose bits fit in an 8-bit and a 16-bit label map.
MOST_LABELS_IN_BITS = 16

TIE_DECIMALS = 9
"""Log-odds are rounded to this many decimals, so that .2 and 1 - .8 tie despite rounding errors."""


def exact_decimal(number: float) -> Fraction:
    """Return the decimal value of a number exactly: 0.1 of 30 is then 3, although binary
    0.1 is slightly more.
    """
    return Fraction(str(number))


@dataclass(frozen=True)
class ScoreDistribution:
    """Distinct scores in increasing order, and the number of voxels with at most each score."""

    values: NDArray[np.float64]  #: (M,)
    cumulative: NDArray[np.int64]  #: (M,)

    @classmethod
    def of(cls, scores: NDArray[Any]) -> ScoreDistribution:
        """Create the distribution of scores given in any order."""
        values, counts = np.unique(scores, return_counts=True)
        return cls(values.astype(np.float64), np.cumsum(counts, dtype=np.int64))

    @classmethod
    def pool(cls, parts: Sequence[ScoreDistribution]) -> ScoreDistribution:
        """Merge distributions into that of all their voxels."""
        values = np.concatenate([part.values for part in parts])
        counts = np.concatenate([np.diff(part.cumulative, prepend=0) for part in parts])
        distinct, index = np.unique(values, return_inverse=True)
        summed = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(summed, index, counts)
        return cls(distinct, np.cumsum(summed))

    @property
    def total(self) -> int:
        """Number of voxels."""
        return int(self.cumulative[-1]) if len(self.cumulative) else 0

    def smallest(self, rank: int) -> float:
        """Return the rank-th smallest score, counted from 1; minus infinity for rank 0."""
        if rank == 0:
            return -np.inf
        return float(self.values[np.searchsorted(self.cumulative, rank)])

    def threshold_for(self, tolerance: float) -> float:
        """Return the smallest threshold that at most a share `tolerance` of the voxels exceed."""
        return self.smallest(self.total - int(exact_decimal(tolerance) * self.total))

    def missed_share(self, threshold: float) -> float:
        """Return the share of voxels that score above a threshold; 0 if there are no voxels."""
        if self.total == 0:
            return 0.0
        steps = int(np.searchsorted(self.values, threshold, side="right"))
        within = int(self.cumulative[steps - 1]) if steps else 0
        return (self.total - within) / self.total


@dataclass(frozen=True)
class ScoreMaps:
    """Scores inside a box, outside which only the background is possible."""

    box: Box  #: The part of the volume that the arrays cover
    scores: tuple[NDArray[np.float64], ...]  #: One map per label, background first
    region: NDArray[np.bool_]  #: Voxels within the margin around the consensus

    def distributions(self, reference: NDArray[Any]) -> tuple[ScoreDistribution, ...]:
        """Return the distribution of each label's scores over the reference voxels of that label.

        Parameters
        ----------
        reference : ndarray of int
            Label of each voxel of the whole volume; the box must contain its foreground. Its
            background counts only inside the region.
        """
        inside = reference[self.box]
        return tuple(
            ScoreDistribution.of(scores[(inside == label) & (self.region | (label > 0))])
            for label, scores in enumerate(self.scores)
        )


def distance_scores(
    consensus: NDArray[Any],
    box: Box,
    spacing: Sequence[float],
    margin: float,
    spreads: Sequence[float],
) -> ScoreMaps:
    """Compute the signed distance to each label of the consensus, divided by the label's spread.

    The background's score is the negative distance to the whole foreground.

    Parameters
    ----------
    consensus : ndarray of int
        Label of each voxel of the whole volume.
    margin : float
        Width of the region around the consensus, in mm.
    spreads : sequence of K float
        One per label, in mm; 1 for scores in mm. With two labels, both are equal.
    """
    labels = consensus[box]
    distance = signed_distance(labels != 0, spacing)
    region = distance <= margin
    foreground = distance / spreads[0]
    if len(spreads) == 2:
        return ScoreMaps(box, (-foreground, foreground), region)
    others = [
        signed_distance(labels == label, spacing) / spread
        for label, spread in enumerate(spreads[1:], start=1)
    ]
    return ScoreMaps(box, (-foreground, *others), region)


def probability_scores(
    probabilities: Sequence[NDArray[Any]],
    consensus: NDArray[Any],
    box: Box,
    spacing: Sequence[float],
    margin: float,
) -> ScoreMaps:
    """Compute each label's negative log-odds; outside the region, only the background is
    possible.
    """
    region = signed_distance(consensus[box] != 0, spacing) <= margin
    scores = [_negative_log_odds(p[box]) for p in probabilities]
    if len(scores) == 1:
        scores.insert(0, -scores[0])
    for label, score in enumerate(scores):
        score[~region] = np.inf if label else -np.inf
    return ScoreMaps(box, tuple(scores), region)


def _negative_log_odds(probability: NDArray[Any]) -> NDArray[np.float64]:
    odds = log_odds(probability)
    np.round(odds, TIE_DECIMALS, out=odds)
    return np.negative(odds, out=odds)


def prediction_sets(
    scores: Sequence[NDArray[np.float64]], thresholds: Sequence[float]
) -> NDArray[np.bool_]:
    """Return a (K, \\*shape) mask of labels whose scores do not exceed their own or a
    common threshold.
    """
    each = list(thresholds) * (len(scores) if len(thresholds) == 1 else 1)
    return np.stack([score <= tau for score, tau in zip(scores, each, strict=True)])


def band_codes(sets: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Encode sets of two labels: 0 background, 1 foreground, 2 ambiguous, 3 empty."""
    codes: NDArray[np.uint8] = _BAND_OF_BITS[label_bits(sets)]
    return codes


def label_bits(sets: NDArray[np.bool_]) -> NDArray[np.unsignedinteger]:
    """Set bit k if label k is in the set; uint8 for up to 8 labels, uint16 for up to 16."""
    bits = np.zeros(sets.shape[1:], dtype=np.uint8 if len(sets) <= 8 else np.uint16)
    for label, member in enumerate(sets):
        bits |= member.astype(bits.dtype) << label
    return bits
