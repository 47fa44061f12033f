"""What one more reading would change: which case of a running study to read again first.

Leaving each rater out shows what one reading moved. The next one moves less: what one more rater
moves falls as one over the root of k (k + 1), see `rater_number`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns


class NextReading(NamedTuple):
    """What one more reading is expected to change in the vote of all raters."""

    share: float  #: Of the voxels of both votes, before and after, that change
    voxels: float  #: That become or cease to be part of the structure


def next_reading(patterns: DecisionPatterns, label: int) -> NextReading | None:
    """The expected change of a label's vote, ties being half a voxel; None with one rater.

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
    """(P,) 1 where most say so, one half where they tie."""
    return np.asarray(np.clip(2 * votes - number + 1, 0, 2) / 2)
