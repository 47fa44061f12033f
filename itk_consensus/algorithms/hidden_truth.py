"""What a model says of the hidden truth of each pattern: known, or made from parameters when asked.

Patterns by labels is too much to keep where both are many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats, Labels
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.expected_counts import VoteTable, mean_of_votes
from itk_consensus.labels.ties import decide


@dataclass(frozen=True)
class EstimatedTruth:
    """Posterior of the truth under S sets of parameters."""

    table: VoteTable
    theta: Floats  #: (J, K, S, K)
    prior: Floats  #: (S, K), (R, 1, K) or (R, S, K)

    @property
    def number_of_patterns(self) -> int:
        """P."""
        return len(self.table.weights)

    def decisions(self, tolerance: float) -> Labels:
        """(P, S) most probable label, or undecided where log posteriors tie."""
        return self.table.decisions(self.theta, self.prior, tolerance).astype(np.int64)

    def probabilities(
        self,
        wanted: Sequence[int] | None = None,
        start: int | None = None,
        part: slice | NDArray[np.intp] = slice(None),
    ) -> Floats:
        """(P, S, W) probabilities of the wanted labels, of one start and some patterns if given."""
        table, theta, prior = self.table, self.theta, self.prior
        if start is not None:
            theta = theta[:, :, [start]]
            prior = prior if prior.shape[-2] == 1 else prior[..., [start], :]
        if not isinstance(part, slice) or part != slice(None):
            rows = None if table.prior_rows is None else table.prior_rows[part]
            table = replace(
                table, digits=table.digits[part], weights=table.weights[part], prior_rows=rows
            )
        return table.probabilities(theta, prior, wanted)


@dataclass(frozen=True)
class KnownTruth:
    """The same, already made."""

    responsibilities: Floats  #: (P, S, K) the posterior
    scores: Floats  #: (P, S, K) what decides: its logarithm, up to a constant for each pattern

    @property
    def number_of_patterns(self) -> int:
        """P."""
        return len(self.responsibilities)

    def decisions(self, tolerance: float) -> Labels:
        """(P, S) label of highest score, or undecided where scores tie."""
        labels = np.arange(self.scores.shape[2])
        starts = range(self.scores.shape[1])
        decided = [decide(self.scores[:, s], labels, tolerance=tolerance) for s in starts]
        return np.stack(decided, axis=1)

    def probabilities(
        self,
        wanted: Sequence[int] | None = None,
        start: int | None = None,
        part: slice | NDArray[np.intp] = slice(None),
    ) -> Floats:
        """(P, S, W) probabilities of the wanted labels, of one start and some patterns if given."""
        shares = self.responsibilities[part]
        shares = shares if start is None else shares[:, [start]]
        return shares if wanted is None else shares[..., list(wanted)]


@dataclass(frozen=True)
class TruthOfStart:
    """Probabilities of one start; patterns left out of the estimation keep their label.

    Votes that no label explains, because some rater never said this where the truth was that,
    leave the model without an answer: such patterns hold the shares of their votes.
    """

    truth: EstimatedTruth | KnownTruth
    start: int
    agreed: NDArray[np.int64] | None  #: (P,) label index that a pattern keeps, or -1: estimated
    patterns: DecisionPatterns
    #: (n,) patterns without a decision; those that no label explains are among them.
    undecided: NDArray[np.intp]

    def of_label(self, label: int) -> Floats:
        """(P,) probability of one label."""
        shares = np.array(self.truth.probabilities([label], self.start)[:, 0, 0])
        rows, votes = self._unexplained
        shares[rows] = votes[:, label]
        if self.agreed is None:
            return shares
        return np.where(self.agreed < 0, shares, self.agreed == label)

    def rows(self, part: slice) -> Floats:
        """(n, K) probabilities of some patterns."""
        shares = np.array(self.truth.probabilities(None, self.start, part)[:, 0])
        rows, votes = self._unexplained
        here = np.arange(len(self.patterns.counts))[part]
        inside = np.isin(here, rows)
        shares[inside] = votes[np.searchsorted(rows, here[inside])]
        if self.agreed is None:
            return shares
        agreed = self.agreed[part, None]
        return np.where(agreed < 0, shares, agreed == np.arange(shares.shape[1]))

    @cached_property
    def _unexplained(self) -> tuple[NDArray[np.intp], Floats]:
        """Patterns that no label explains, and the (n, K) shares of their votes."""
        shares = self.truth.probabilities(None, self.start, self.undecided)[:, 0]
        rows = self.undecided[~shares.any(axis=1)]
        table = self.patterns
        votes = DecisionPatterns(table.patterns[rows], table.counts[rows], table.labels)
        return rows, mean_of_votes(votes)
