"""Expected effect of one more reading, to decide which case of a running study to read next.

Leave-one-out shows how much each reading changed the vote. The next reading is expected to change
it less: the change due to one more rater is proportional to 1 / sqrt(k (k + 1)); see
`rater_number`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns


class NextReading(NamedTuple):
    """Expected change in the vote due to one more reading."""

    share: float  #: Number of voxels that change, as a share of the sum of both votes' volumes
    voxels: float  #: Number of voxels that enter or leave the structure


def next_reading(patterns: DecisionPatterns, label: int) -> NextReading | None:
    """Return the expected change in a label's vote due to one more reading; None with one rater.

    Ties count as half a voxel.

    Parameters
    ----------
    label : int
        Index of the label.
    """
    marked = (patterns.patterns == label) & patterns.present
    raters = int(np.count_nonzero(patterns.present.any(axis=0)))
    if raters < 2:
        return None
    counts, number = patterns.counts.astype(np.float64), patterns.present.sum(axis=1)
    votes = marked.sum(axis=1)
    vote = _majority(votes, number)
    moved, shares = [], []
    for rater in np.flatnonzero(patterns.present.any(axis=0)):
        was = _majority(votes - marked[:, rater], number - patterns.present[:, rater])
        total = float((vote + was) @ counts)
        moved.append(float(np.abs(vote - was) @ counts))
        shares.append(moved[-1] / total if total else 0.0)
    shrink = math.sqrt((raters - 1) / (raters + 1))
    return NextReading(shrink * float(np.mean(shares)), shrink * float(np.mean(moved)))


def _majority(votes: NDArray[np.int64], number: NDArray[np.int64]) -> Floats:
    """Return (P,) the majority vote: 1 if most raters marked the label, 0.5 at ties, else 0."""
    return np.asarray(np.clip(2 * votes - number + 1, 0, 2) / 2)
