"""EM on a table of votes: the sums required by the M-step, and the posterior.

Responsibilities are never stored: a step takes one compiled pass, and only needs memory for its
counts. Array layout as in methods/staple/confusion_model.py: P patterns, J raters, S starts, K
labels; ``theta[j, d, s, t]`` is the probability that rater j votes d where the true label is t.
There may be more true classes than labels, for example each label at several levels of difficulty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.votes.decision_patterns import DecisionPatterns

#: How votes determine the initial posterior of a voxel: "mean", in proportion to the votes;
#: "majority", entirely to the label with the most votes, or equally to tied labels; "plurality",
#: the same without ties.
FirstTruth = Literal["mean", "majority", "plurality"]
FIRST_TRUTHS: tuple[str, ...] = get_args(FirstTruth)


#: In nats: exp(-UNDERFLOW) is zero in float64.
UNDERFLOW = 745.2
#: In nats: exp(-ROUNDING) is 5e-18, below the rounding error of a sum of shares.
ROUNDING = 40.0


class ExpectedCounts(NamedTuple):
    """Sums over all weighted voxels."""

    counts: Floats  #: (J, K, S, K) expected voxels [rater, observed, start, true]
    #: (R, S, K) expected voxels of each label, per row of the prior; R is 1 for the total
    mass: Floats
    log_likelihood: Floats  #: (S,) log likelihood; 0 for starts derived from votes


@dataclass(frozen=True)
class VoteTable:
    """Weighted patterns on which EM operates."""

    #: (P, J) uint8 or uint16: label index voted by each rater; `labels` if the rater is missing.
    digits: NDArray[Any]
    weights: Floats  #: (P,) number of voxels that each pattern represents; 0 excludes it
    labels: int  #: Number of labels, K
    #: (P,) row of the prior for each pattern; None: the first row for all.
    prior_rows: NDArray[np.uint32] | None = None
    #: Labels are skipped if their log posterior is more than this many nats below that of the
    #: pattern's best label; by default, only labels that underflow are skipped. With `ROUNDING`,
    #: the remaining shares do not change, but confusion matrices become sparse and steps faster; an
    #: entry that has been skipped in every pattern stays 0.
    negligible: float = UNDERFLOW

    def __post_init__(self) -> None:
        rows = self.digits.shape[0] if self.digits.ndim == 2 else -1
        if self.digits.dtype not in (np.uint8, np.uint16) or self.weights.shape != (rows,):
            raise InputError(
                "VoteTable: must have (P, J) digits of uint8 or uint16 and (P,) weights, got "
                f"{self.digits.dtype} {self.digits.shape} and {self.weights.shape}"
            )

    def part(self, chosen: slice | NDArray[np.intp]) -> VoteTable:
        """Return the table restricted to some of the patterns."""
        rows = None if self.prior_rows is None else self.prior_rows[chosen]
        digits, weights = self.digits[chosen], self.weights[chosen]
        return replace(self, digits=digits, weights=weights, prior_rows=rows)

    @classmethod
    def of(
        cls,
        patterns: DecisionPatterns,
        weights: Floats,
        prior_rows: NDArray[np.uint32] | None = None,
        negligible: float = UNDERFLOW,
    ) -> VoteTable:
        """Build a table of weighted patterns."""
        digits = np.ascontiguousarray(patterns.patterns)
        weights = np.asarray(weights, float)
        labels = patterns.number_of_labels
        return cls(digits, weights, labels, prior_rows, negligible)

    def expectation(
        self, theta: Floats, prior: Floats, *, mass_by_row: bool = False
    ) -> ExpectedCounts:
        """Run the E-step with these parameters and return the sums required by the M-step.

        Parameters
        ----------
        theta : (J, K, S, K) ndarray
            NaN (an undefined column) counts as probability 0.
        prior : (R, S, K) or (R, 1, K) ndarray; (S, K) if all patterns share one
        mass_by_row : bool
            Whether to return the mass separately for each row of the prior.
        """
        logs = self._logs(theta, prior)
        return ExpectedCounts(
            *_kernels.expected_counts(
                self.digits, self.weights, *logs, mass_by_row, self.negligible, current().threads
            )
        )

    def expectation_of_votes(self, shares: FirstTruth) -> ExpectedCounts:
        """Return the sums for an M-step whose responsibilities are the vote shares; S is 1.

        Patterns that no rater annotated contribute nothing, not even mass.
        """
        kind = FIRST_TRUTHS.index(shares)
        return ExpectedCounts(
            *_kernels.vote_expectation(
                self.digits, self.weights, self.labels, kind, current().threads
            )
        )

    def decisions(self, theta: Floats, prior: Floats, tolerance: float) -> NDArray[np.int32]:
        """Return (P, S) the most probable label index; `UNDECIDED` on ties or if none is possible.

        Labels whose log posterior is within `tolerance` of the highest are tied.
        """
        logs = self._logs(theta, prior)
        return _kernels.posterior_decision(self.digits, *logs, tolerance, current().threads)

    def probabilities(
        self, theta: Floats, prior: Floats, wanted: Sequence[int] | None = None
    ) -> Floats:
        """Return the (P, S, W) posterior of the requested labels, by default all K.

        The posterior is 0 if no label is possible. Request only the labels you need, since the
        table is large if there are many patterns and labels.
        """
        labels = list(range(theta.shape[3]) if wanted is None else wanted)
        logs = self._logs(theta, prior)
        return _kernels.posterior_shares(self.digits, *logs, labels, current().threads)

    def _logs(
        self, theta: Floats, prior: Floats
    ) -> tuple[Floats, Floats, NDArray[np.uint32] | None]:
        with np.errstate(divide="ignore"):
            log_theta = np.log(np.fmax(theta, 0.0))  # fmax turns NaN into 0
            log_prior = np.log(prior if prior.ndim == 3 else prior[None])
        return np.ascontiguousarray(log_theta), np.ascontiguousarray(log_prior), self.prior_rows


def mean_of_votes(patterns: DecisionPatterns) -> Floats:
    """Return the (P, K) share of raters who voted for each label; NaN where no rater annotated."""
    votes = patterns.votes()
    with np.errstate(invalid="ignore"):
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))


def majority_of_votes(patterns: DecisionPatterns) -> Floats:
    """Return (P, K) shares: 1 for the label with most votes, divided equally among tied labels."""
    votes = patterns.votes()
    best = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    with np.errstate(invalid="ignore"):
        return np.asarray(best / best.sum(axis=1, keepdims=True))


#: Functions that compute the shares per pattern for `VoteTable.expectation_of_votes`.
SHARES: dict[FirstTruth, Callable[[DecisionPatterns], Floats]] = {
    "mean": mean_of_votes,
    "majority": majority_of_votes,
}


def shares_of_votes(patterns: DecisionPatterns, shares: FirstTruth, frequencies: Floats) -> Floats:
    """Return (P, K) vote shares; patterns that no rater annotated have the `frequencies`."""
    known = SHARES[shares](patterns)
    return np.where(np.isnan(known), frequencies, known)


def vote_frequencies(patterns: DecisionPatterns, weights: Floats) -> Floats:
    """Return the (K,) share of each label in the mean votes of the weighted voxels."""
    mass = VoteTable.of(patterns, weights).expectation_of_votes("mean").mass[0, 0]
    return np.asarray(mass / mass.sum())


def label_voting_theta(
    patterns: DecisionPatterns, weights: Floats, *, with_fault: bool = False
) -> Floats:
    """Return ITK's (J, K, K) initial confusion matrices, which are row-normalised.

    The matrices compare votes with the plurality vote. Undecided voxels are left out, as in ITK
    since its pull request 6579. `with_fault` reproduces ITK 5.4, which counts them under an extra
    label: its column is outside the matrix, so the count is added to the first cell of the next
    row, and label v at a tied voxel counts as a vote for v + 1 where the true label is 0.
    """
    table = VoteTable.of(patterns, weights).expectation_of_votes("plurality").counts[:, :, 0]
    if with_fault and patterns.labels[0] == 0:
        votes = patterns.votes()
        tied = np.count_nonzero(votes == votes.max(axis=1, keepdims=True), axis=1) > 1
        tied &= patterns.present.any(axis=1)
        for observed in np.flatnonzero(np.isin(patterns.labels, patterns.labels + 1)):
            before = int(np.searchsorted(patterns.labels, patterns.labels[observed] - 1))
            said = patterns.present[tied] & (patterns.patterns[tied] == before)
            table[:, observed, 0] += weights[tied] @ said
    total = table.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(table, total, out=np.zeros_like(table), where=total > 0))
