"""Voting: plurality, thresholds, weights, ties. No model, no start, nothing to go astray.

The vote fraction is the baseline every other fuser is measured against (paper, section 5.2, R1).
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
    shares = VoteShares(patterns, weights, frequencies)
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


@dataclass(frozen=True)
class VoteShares(PatternShares):
    """Shares of the votes."""

    patterns: DecisionPatterns
    weights: Floats  #: (J,)
    frequencies: Floats  #: (K,) the shares where nobody annotated

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
        """What share of all votes of some patterns these are."""
        present = self.patterns.present[part]
        total = weight_of(present[:1] if self.patterns.is_complete else present, self.weights)
        nobody = np.broadcast_to(frequency, votes.shape).copy()
        return np.asarray(np.divide(votes, total, out=nobody, where=total > 0))
