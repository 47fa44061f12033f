"""Voting: plurality, thresholds, weights, ties. No model, no start, nothing to go astray.

The vote fraction is the baseline every other fuser is measured against (paper, section 5.2, R1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import PatternFusion
from itk_consensus.labels.ties import TieRule, decide


@dataclass(frozen=True)
class VoteResult(PatternFusion):
    """The vote on patterns.

    Attributes
    ----------
    frequencies : (K,) ndarray
        Overall frequency of each label among the votes.
    """

    frequencies: Floats

    @property
    def fractions(self) -> Floats:
        """(P, K) share of the (weighted) votes; the label's frequency where nobody annotated."""
        return self.probabilities


def majority_vote(
    patterns: DecisionPatterns,
    *,
    weights: Floats | None = None,
    threshold: float | None = None,
    ties: TieRule = "undecided",
) -> VoteResult:
    """Label each pattern by its votes.

    Parameters
    ----------
    patterns : DecisionPatterns
    weights : (J,) ndarray, optional
        Weight of each rater's vote.
    threshold : float, optional
        A label needs more than this share of the votes, not just the most of all.
    ties : TieRule
        What a tie, or a vote that no label wins, becomes.
    """
    votes = patterns.votes(weights)
    total = votes.sum(axis=1, keepdims=True)
    frequencies = patterns.counts @ votes
    frequencies = frequencies / frequencies.sum()
    fractions = np.divide(votes, total, out=np.tile(frequencies, (len(votes), 1)), where=total > 0)
    scores = np.where(total > 0, votes, -np.inf)
    decision = decide_shares(scores, total, patterns.labels, threshold, ties, frequencies)
    return VoteResult(patterns, decision, fractions, frequencies)


def decide_shares(
    scores: Floats,
    total: Floats,
    labels: NDArray[Any],
    threshold: float | None,
    ties: TieRule,
    frequencies: Floats,
) -> NDArray[np.int64]:
    """Decide by votes of (P, K), asking for more than `threshold` of (P, 1) `total`."""
    # Weighted sums that are equal on paper differ by rounding: a tie is a tie up to 1e-12 of all.
    tolerance = 1e-12 * float(total.max(initial=0.0))
    if threshold is not None:
        # Below the threshold nobody wins; equal -inf scores then fall under the tie rule.
        scores = np.where(scores > threshold * total + tolerance, scores, -np.inf)
    return decide(scores, labels, ties, tolerance=tolerance, prior=frequencies)
