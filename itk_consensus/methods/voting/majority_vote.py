"""Majority vote of patterns: plurality, thresholds, weights and tie rules.

The majority vote is the baseline with which all other fusers are compared ("When Does Consensus
Beat Voting?", section 5.2, R1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import SHARES_AT_ONCE, PatternFusion, PatternShares
from itk_consensus.votes.ties import TieRule
from itk_consensus.votes.voting import StackVote, VoteRules, rows_as_stack


@dataclass(frozen=True)
class VoteResult(PatternFusion):
    """Vote on patterns: (weighted) vote shares, or `frequencies` where no rater annotated."""

    frequencies: Floats  #: (K,) overall frequency of each label among the votes


def majority_vote(
    patterns: DecisionPatterns,
    *,
    weights: Floats | None = None,
    threshold: float | None = None,
    ties: TieRule = "undecided",
) -> VoteResult:
    """Assign a label to each pattern by majority vote.

    Parameters
    ----------
    weights : (J,) ndarray, optional
        Weight of each rater's vote.
    threshold : float, optional
        Share of the votes that a label must exceed; by default it only needs more votes than any
        other.
    ties : TieRule
        Rule for ties, and for patterns in which no label exceeds the threshold.
    """
    weights = np.ones(patterns.number_of_raters) if weights is None else weights
    frequencies = label_frequencies(patterns, weights)
    shares = VoteShares(patterns, weights, frequencies)
    rules = VoteRules(weights, threshold, ties)
    decision = StackVote(rows_as_stack(patterns), rules, frequencies).decision()
    few = len(decision) * patterns.number_of_labels <= SHARES_AT_ONCE
    fractions = shares.rows(slice(None)) if few else shares
    return VoteResult(patterns, decision, fractions, frequencies)


def label_frequencies(patterns: DecisionPatterns, weights: Floats) -> Floats:
    """Return the (K,) proportion of each label among all votes, weighted by rater."""
    labels = patterns.number_of_labels
    counts = [np.bincount(votes, patterns.counts, labels + 1)[:-1] for votes in patterns.patterns.T]
    frequencies = weights @ np.array(counts)
    return np.asarray(frequencies / frequencies.sum())


def weight_of(flags: NDArray[np.bool_], weights: Floats) -> Floats:
    """Return the (P,) sum of flagged raters' weights; matmul would cast the flags to float64."""
    total = np.zeros(len(flags))
    for flag, weight in zip(flags.T, weights, strict=True):
        total += flag * weight
    return total


@dataclass(frozen=True)
class VoteShares(PatternShares):
    """Vote shares of patterns, computed lazily."""

    patterns: DecisionPatterns
    weights: Floats  #: (J,) weight of each rater
    frequencies: Floats  #: (K,) the shares where no rater annotated

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.patterns.counts), self.patterns.number_of_labels

    def rows(self, part: slice) -> Floats:
        votes = self.patterns.votes(self.weights, part)
        return self._of_all(votes.T, part, self.frequencies[:, None]).T

    def of_label(self, label: int) -> Floats:
        votes = weight_of(self.patterns.patterns == label, self.weights)
        return self._of_all(votes, slice(None), self.frequencies[label])

    def _of_all(self, votes: Floats, part: slice, frequency: Any) -> Floats:
        """Divide votes by the total votes of some patterns; `frequency` where none was cast."""
        present = self.patterns.present[part]
        total = weight_of(present[:1] if self.patterns.is_complete else present, self.weights)
        nobody = np.broadcast_to(frequency, votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=nobody, where=total > 0))
