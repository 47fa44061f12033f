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
from itk_consensus.votes.fusions import SHARES_AT_ONCE, PatternFusion, PatternShares
from itk_consensus.votes.ties import TieRule
from itk_consensus.votes.voting import StackVote, VoteRules, rows_as_stack


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
    frequencies = label_frequencies(patterns, weights)
    shares = vote_shares(patterns, weights, frequencies)
    rules = VoteRules(weights, threshold, ties)
    decision = StackVote(rows_as_stack(patterns), rules, frequencies).decision()
    few = len(decision) * patterns.number_of_labels <= SHARES_AT_ONCE
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
        present = patterns.present[part]
        total = weight_of(present[:1] if patterns.is_complete else present, weights)
        nobody = np.broadcast_to(frequency, votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=nobody, where=total > 0))

    def rows(part: slice) -> Floats:
        return share(patterns.votes(weights, part).T, part, frequencies[:, None]).T

    def column(label: int) -> Floats:
        return share(
            weight_of(patterns.patterns == label, weights), slice(None), frequencies[label]
        )

    return PatternShares((len(patterns.counts), patterns.number_of_labels), rows, column)
