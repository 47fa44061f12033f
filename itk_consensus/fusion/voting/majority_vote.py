"""Voting: plurality, thresholds, weights, ties. No model, no start, nothing to go astray.

The vote fraction is the baseline every other fuser is measured against (paper, section 5.2, R1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.fusions import SHARES_AT_ONCE, PatternFusion, PatternShares
from itk_consensus.votes.ties import SAME_VOTES, TieRule, decide


@dataclass(frozen=True)
class VoteResult(PatternFusion):
    """The vote on patterns: shares of the (weighted) votes; frequencies where nobody annotated."""

    frequencies: Floats  #: (K,) overall frequency of each label among the votes


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
    weights : (J,) ndarray, optional
        Weight of each rater's vote.
    threshold : float, optional
        A label needs more than this share of the votes, not just the most of all.
    ties : TieRule
        What a tie, or a vote that no label wins, becomes.
    """
    weights = np.ones(patterns.number_of_raters) if weights is None else weights
    total = weight_of(patterns.present, weights)
    labels = patterns.number_of_labels
    frequencies = label_frequencies(patterns, weights)
    shares = vote_shares(patterns, weights, frequencies)
    decision = np.empty(len(total), np.int64)
    tolerance = SAME_VOTES * float(total.max(initial=0.0))
    for part in chunks(len(total), max(1, SHARES_AT_ONCE // labels)):
        whole = total[part, None]
        scores = np.where(whole > 0, patterns.votes(weights, part), -np.inf)
        decision[part] = decide_shares(
            scores, whole, patterns.labels, threshold, ties, frequencies, tolerance
        )
    few = len(total) * labels <= SHARES_AT_ONCE
    fractions = shares.rows(slice(None)) if few else shares
    return VoteResult(patterns, decision, fractions, frequencies)


def label_frequencies(patterns: DecisionPatterns, weights: Floats) -> Floats:
    """(K,) share of each label among all votes, weighted by rater."""
    labels = patterns.number_of_labels
    said = [np.bincount(votes, patterns.counts, labels + 1)[:-1] for votes in patterns.patterns.T]
    frequencies = weights @ np.array(said)
    return np.asarray(frequencies / frequencies.sum())


def weight_of(flags: NDArray[np.bool_], weights: Floats) -> Floats:
    """(P,) weight of the raters whom (P, J) flags name; a product would make them reals first."""
    total = np.zeros(len(flags))
    for named, weight in zip(flags.T, weights, strict=True):
        total += named * weight
    return total


def vote_shares(patterns: DecisionPatterns, weights: Floats, frequencies: Floats) -> PatternShares:
    """Shares of the votes by pattern and label; (K,) frequencies where nobody annotated."""

    def share(votes: Floats, part: slice, frequency: Any) -> Floats:
        total = weight_of(patterns.present[part], weights)
        nobody = np.broadcast_to(frequency, votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=nobody, where=total > 0))

    def rows(part: slice) -> Floats:
        return share(patterns.votes(weights, part).T, part, frequencies[:, None]).T

    def column(label: int) -> Floats:
        return share(
            weight_of(patterns.patterns == label, weights), slice(None), frequencies[label]
        )

    return PatternShares((len(patterns.counts), patterns.number_of_labels), rows, column)


def decide_shares(
    scores: Floats,
    total: Floats,
    labels: NDArray[Any],
    threshold: float | None,
    ties: TieRule,
    frequencies: Floats,
    tolerance: float,
) -> NDArray[np.int64]:
    """Decide by votes of (P, K), asking for more than `threshold` of (P, 1) `total`."""
    if threshold is not None:
        # Below the threshold nobody wins; equal -inf scores then fall under the tie rule.
        scores = np.where(scores > threshold * total + tolerance, scores, -np.inf)
    return decide(scores, labels, ties, tolerance=tolerance, prior=frequencies)
