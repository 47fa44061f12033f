"""The smoothed vote with raters weighed by how much they tell about a first consensus.

Votes are weighed by informedness, sensitivity + specificity - 1 (Youden, 1950; for several labels
Powers, 2011), counted against a vote that was smoothed more strongly, so that no rater is judged
by the very map the weights will make. Weights are counted once: iterating them ran away from the
smoothed vote on small structures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.majority_vote import VoteResult, majority_vote
from itk_consensus.algorithms.smoothed_vote import smoothed_vote
from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.ties import TieRule

#: The first consensus is smoothed this much more than the answer.
REFERENCE_SMOOTHING = 1.5

#: Counts added on the diagonal of each rater's confusion: Beta(3, 1), as Advanced STAPLE.
PSEUDO_COUNT = 2.0


@dataclass(frozen=True)
class ReliabilityVote:
    """A weighted vote, before any smoothing of the answer.

    Attributes
    ----------
    vote : VoteResult
        The vote with the raters weighed.
    weights : (J,) ndarray
        Weight of each rater; they sum to the number of raters.
    informedness : (J,) ndarray
        0 for a rater who tells nothing, 1 for one who always agrees with the first consensus.
    """

    vote: VoteResult
    weights: Floats
    informedness: Floats


def reliability_vote(
    patterns: DecisionPatterns,
    sigma: float,
    spacing: tuple[float, ...],
    ties: TieRule = "prior",
) -> ReliabilityVote:
    """Weigh the raters against the smoothed vote of all.

    Parameters
    ----------
    patterns : DecisionPatterns
    sigma : float
        Smoothing, in mm, that the answer will have; 0 judges raters against the plain vote.
    spacing : tuple of float
        Voxel size per array axis.
    """
    first = majority_vote(patterns, ties=ties)
    if sigma > 0:
        wide = smoothed_vote(patterns, REFERENCE_SMOOTHING * sigma, spacing, ties=ties)
        table, _, decision = patterns.split_by(wide.decision())
    else:
        table, decision = patterns, first.decision
    known = informedness(table, decision)
    total = known.sum()
    weights = known * (len(known) / total) if total > 0 else np.ones(len(known))
    return ReliabilityVote(majority_vote(patterns, weights=weights, ties=ties), weights, known)


def informedness(patterns: DecisionPatterns, decision: NDArray[np.int64]) -> Floats:
    """(J,) how much each rater tells about a decision per pattern: (sum of diagonal - 1) / (K - 1).

    Undecided patterns are left out; labels that the decision never takes do not count.
    """
    labels = patterns.number_of_labels
    truth = (decision[:, None] == np.arange(labels)) * patterns.counts[:, None].astype(float)
    taken = np.flatnonzero(truth.sum(axis=0) > 0)
    if len(taken) < 2:
        return np.ones(patterns.number_of_raters)
    confusion = patterns.tally(truth[:, taken])  # (J, observed, true)
    right = confusion[:, taken, np.arange(len(taken))] + PSEUDO_COUNT
    rates = right / (confusion.sum(axis=1) + PSEUDO_COUNT)
    annotated = patterns.present.any(axis=0)
    score = (rates.sum(axis=1) - 1) / (len(taken) - 1)
    return np.where(annotated, np.clip(score, 0.0, 1.0), 0.0)
