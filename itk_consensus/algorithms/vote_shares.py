"""What votes alone say of the truth: the share of each label, before any rater is judged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.expected_counts import VoteShares, VoteTable


def mean_of_votes(patterns: DecisionPatterns) -> Floats:
    """(P, K) share of the raters who voted for each label; NaN where nobody annotated."""
    votes = patterns.votes()
    with np.errstate(invalid="ignore"):
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def majority_of_votes(patterns: DecisionPatterns) -> Floats:
    """(P, K) one for the label with most votes; tied labels share it."""
    votes = patterns.votes()
    best = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    with np.errstate(invalid="ignore"):
        return np.asarray(best / best.sum(axis=1, keepdims=True))


#: By pattern, what `VoteTable.expectation_of_votes` sums up.
SHARES: dict[VoteShares, Callable[[DecisionPatterns], Floats]] = {
    "mean": mean_of_votes,
    "majority": majority_of_votes,
}


def shares_of_votes(patterns: DecisionPatterns, shares: VoteShares, frequencies: Floats) -> Floats:
    """(P, K) shares; patterns that nobody annotated take (K,) or (P, K) overall frequencies."""
    known = SHARES[shares](patterns)
    return np.where(np.isnan(known), frequencies, known)


def vote_frequencies(patterns: DecisionPatterns, weights: Floats) -> Floats:
    """(K,) share of each label among the mean votes of the weighted voxels."""
    mass = VoteTable.of(patterns, weights).expectation_of_votes("mean").mass[0, 0]
    return np.asarray(mass / mass.sum())


def label_voting_theta(patterns: DecisionPatterns, weights: Floats) -> Floats:
    """(J, K, K) ITK's seed: votes against the plurality, row-normalised.

    Undecided voxels are left out, as ITK does since its issue 6579: counted under a label of their
    own they corrupted the row of the largest label.
    """
    table = VoteTable.of(patterns, weights).expectation_of_votes("plurality").counts[:, :, 0]
    total = table.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(table, total, out=np.zeros_like(table), where=total > 0))
