"""How badly each label fits each voxel, and where that has to be known.

A label is in a voxel's prediction set if its score does not exceed the threshold. The scores of
background and foreground are each other's negative, so a positive threshold gives a band around
the consensus contour and a negative one leaves some sets empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.calibration.log_odds import log_odds
from itk_consensus.calibration.score_distribution import ScoreDistribution
from itk_consensus.labels.distance import signed_distance

Box = tuple[slice, ...]

TIE_DECIMALS = 9
"""Log-odds are rounded to this, so that .2 and .8 tie although 1 - .8 is not exactly .2."""


@dataclass(frozen=True)
class ScoreMaps:
    """Scores inside a box; outside it only the background fits.

    Attributes
    ----------
    box : tuple of slice
        The part of the volume that the arrays cover.
    scores : tuple of K ndarray of float64
        One map per label, background first.
    region : ndarray of bool
        Voxels no farther than the margin from the consensus.
    """

    box: Box
    scores: tuple[NDArray[np.float64], ...]
    region: NDArray[np.bool_]

    def distributions(self, reference: NDArray[Any]) -> tuple[ScoreDistribution, ...]:
        """Scores of each label at the voxels to which a reference gives it.

        Parameters
        ----------
        reference : ndarray of int
            Label of each voxel of the whole volume; the box must hold its foreground. Of its
            background only the region counts.
        """
        inside = reference[self.box]
        return tuple(
            ScoreDistribution.of(scores[(inside == label) & (self.region | (label > 0))])
            for label, scores in enumerate(self.scores)
        )


def consensus_labels(probabilities: Sequence[NDArray[Any]]) -> NDArray[np.uint16]:
    """The most probable label of each voxel, the higher label if two are equally probable.

    Parameters
    ----------
    probabilities : sequence of ndarray
        The foreground's alone, or one array per label.
    """
    if len(probabilities) == 1:
        return np.asarray(probabilities[0] >= 0.5).astype(np.uint16)
    labels = np.zeros(probabilities[0].shape, dtype=np.uint16)
    highest = probabilities[0]
    for label, probability in enumerate(probabilities[1:], start=1):
        labels[probability >= highest] = label
        highest = np.maximum(highest, probability)
    return labels


def box_around(mask: NDArray[np.bool_], margin: float, spacing: Sequence[float]) -> Box:
    """Bounding box of a mask that is not empty, widened by a margin in mm, at least one voxel."""
    box = []
    for axis, step in enumerate(spacing):
        others = tuple(other for other in range(mask.ndim) if other != axis)
        occupied = np.flatnonzero(mask.any(axis=others))
        # A margin far beyond the volume must not overflow when it is counted in voxels.
        pad = max(1, ceil(min(margin / step, mask.shape[axis])))
        first, last = int(occupied[0]) - pad, int(occupied[-1]) + 1 + pad
        box.append(slice(max(first, 0), min(last, mask.shape[axis])))
    return tuple(box)


def distance_scores(
    consensus: NDArray[Any],
    box: Box,
    spacing: Sequence[float],
    margin: float,
    spreads: Sequence[float],
    threads: int | None = None,
) -> ScoreMaps:
    """Signed distance to each label of the consensus, over that label's spread.

    The background's is the distance to the whole foreground with its sign changed.

    Parameters
    ----------
    consensus : ndarray of int
        Label of each voxel of the whole volume.
    margin : float
        Width of the region around the consensus, in mm.
    spreads : sequence of K float
        One per label, in mm; 1 to score in mm. Of two labels both have the same.
    """
    labels = consensus[box]
    distance = signed_distance(labels != 0, spacing, threads=threads)
    region = distance <= margin
    foreground = distance / spreads[0]
    if len(spreads) == 2:
        return ScoreMaps(box, (-foreground, foreground), region)
    others = [
        signed_distance(labels == label, spacing, threads=threads) / spread
        for label, spread in enumerate(spreads[1:], start=1)
    ]
    return ScoreMaps(box, (-foreground, *others), region)


def probability_scores(
    probabilities: Sequence[NDArray[Any]],
    consensus: NDArray[Any],
    box: Box,
    spacing: Sequence[float],
    margin: float,
    threads: int | None = None,
) -> ScoreMaps:
    """Minus the log-odds of each label; beyond the region only the background fits."""
    region = signed_distance(consensus[box] != 0, spacing, threads=threads) <= margin
    scores = [_misfit(p[box]) for p in probabilities]
    if len(scores) == 1:
        scores.insert(0, -scores[0])
    for label, score in enumerate(scores):
        score[~region] = np.inf if label else -np.inf
    return ScoreMaps(box, tuple(scores), region)


def _misfit(probability: NDArray[Any]) -> NDArray[np.float64]:
    odds = log_odds(probability)
    np.round(odds, TIE_DECIMALS, out=odds)
    return np.negative(odds, out=odds)
