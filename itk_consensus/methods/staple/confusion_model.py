"""Generative model of all STAPLE methods: confusion matrices, raters independent given the truth.

Warfield, Zou & Wells (2004); equation numbers are those of "When Does Consensus Beat Voting?",
sections 2.1 and 2.2. All computations use decision patterns weighted by their counts, in the log
domain, for many starts at once. Each iteration is one compiled pass; the posterior of the patterns
is computed only on demand.

Array layout: P patterns, J raters, S starts, K labels. ``theta[j, d, s, t]`` is the probability
that rater j votes d where the true label is t. Since the starts axis is next to the axis of true
labels, each step is a single sparse product.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import (
    UNDERFLOW,
    FirstTruth,
    VoteTable,
    mean_of_votes,
    shares_of_votes,
)
from itk_consensus.votes.fusions import PatternShares
from itk_consensus.votes.ties import decide


@dataclass(frozen=True)
class EstimatedTruth:
    """Posterior of the true label under S sets of parameters, computed lazily."""

    table: VoteTable
    theta: Floats  #: (J, K, S, K)
    prior: Floats  #: (S, K), (R, 1, K) or (R, S, K)

    def decisions(self, tolerance: float) -> Labels:
        """Return the (P, S) most probable labels; undecided where log posteriors tie."""
        return self.table.decisions(self.theta, self.prior, tolerance).astype(np.int64)

    def probabilities(
        self,
        wanted: Sequence[int] | None = None,
        start: int | None = None,
        part: slice | NDArray[np.intp] = slice(None),
    ) -> Floats:
        """Return (P, S, W) probabilities of `wanted` labels, optionally for one start and part."""
        table, theta, prior = self.table, self.theta, self.prior
        if start is not None:
            theta = theta[:, :, [start]]
            prior = prior if prior.shape[-2] == 1 else prior[..., [start], :]
        table = table if isinstance(part, slice) and part == slice(None) else table.part(part)
        return table.probabilities(theta, prior, wanted)


@dataclass(frozen=True)
class KnownTruth:
    """Posterior of the true label, computed in advance."""

    responsibilities: Floats  #: (P, S, K) the posterior
    scores: Floats  #: (P, S, K) log posterior, up to a constant for each pattern

    def decisions(self, tolerance: float) -> Labels:
        """Return the (P, S) labels with the highest score; undecided where scores tie."""
        every = np.arange(self.scores.shape[2])
        starts = self.scores.swapaxes(0, 1)
        return np.stack([decide(of, every, tolerance=tolerance) for of in starts], axis=1)

    def probabilities(
        self,
        wanted: Sequence[int] | None = None,
        start: int | None = None,
        part: slice | NDArray[np.intp] = slice(None),
    ) -> Floats:
        """Return (P, S, W) probabilities of `wanted` labels, optionally for one start and part."""
        shares = self.responsibilities[part]
        shares = shares if start is None else shares[:, [start]]
        return shares if wanted is None else shares[..., list(wanted)]


@dataclass(frozen=True)
class TruthOfStart(PatternShares):
    """Label probabilities of one start; patterns excluded from estimation keep their label.

    If every label is impossible given a pattern's votes (for each label, the confusion of some
    rater is zero), the posterior is undefined, and the vote shares are used instead.
    """

    truth: EstimatedTruth | KnownTruth
    start: int
    #: (P,) label index that a pattern keeps, or -1 if it is estimated; None: all are estimated.
    agreed: NDArray[np.int64] | None
    patterns: DecisionPatterns
    #: (n,) undecided patterns, including those without a posterior.
    undecided: NDArray[np.intp]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.patterns.counts), self.patterns.number_of_labels

    def of_label(self, label: int) -> Floats:
        shares = np.array(self.truth.probabilities([label], self.start)[:, 0, 0])
        rows, votes = self._unexplained
        shares[rows] = votes[:, label]
        agreed = self.agreed
        return shares if agreed is None else np.where(agreed < 0, shares, agreed == label)

    def rows(self, part: slice) -> Floats:
        shares = np.array(self.truth.probabilities(None, self.start, part)[:, 0])
        rows, votes = self._unexplained
        here = np.arange(len(self.patterns.counts))[part]
        inside = np.isin(here, rows)
        shares[inside] = votes[np.searchsorted(rows, here[inside])]
        if self.agreed is None:
            return shares
        kept = self.agreed[part, None]
        return np.where(kept < 0, shares, kept == np.arange(shares.shape[1]))

    @cached_property
    def _unexplained(self) -> tuple[NDArray[np.intp], Floats]:
        """Patterns without a posterior, and their (n, K) vote shares."""
        shares = self.truth.probabilities(None, self.start, self.undecided)[:, 0]
        rows, table = self.undecided[~shares.any(axis=1)], self.patterns
        votes = DecisionPatterns(table.patterns[rows], table.counts[rows], table.labels)
        return rows, mean_of_votes(votes)


class Expectation(NamedTuple):
    """Result of one E-step."""

    #: (P, S, K) posterior of the true label, W of eq. 7; zero if impossible
    responsibilities: Floats
    log_joint: Floats  #: (P, S, K) log of prior times likelihood
    log_likelihood: Floats  #: (S,) log likelihood of the weighted voxels


class Maximization(ABC):
    """Interface of the models fitted by EM, with the M-step they share.

    How the posterior is represented is left to each model.
    """

    pseudo_counts: Floats
    estimate_prior: bool
    prior_counts: Floats | float

    @abstractmethod
    def step(self, theta: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
        """Run one EM iteration; return theta, prior and the (S,) log likelihood of the inputs."""

    @abstractmethod
    def step_from_votes(
        self, shares: FirstTruth, frequencies: Floats, prior: Floats
    ) -> tuple[Floats, Floats]:
        """Run an M-step with the vote shares as posterior; return theta and prior of one start.

        At voxels that no rater annotated, the posterior is the (K,) or (R, K) `frequencies`.
        """

    @abstractmethod
    def truth(self, theta: Floats, prior: Floats) -> Any:
        """Return the posterior of the true label under these parameters."""

    @property
    @abstractmethod
    def _absent_raters(self) -> NDArray[np.int64]:
        """Indices of raters who gave no vote."""

    def _maximum(self, counts: Floats, mass: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Return theta from (J, K, S, K) expected votes, prior from (R, S, K) expected voxels."""
        theta = self.theta_of(counts)
        if self.estimate_prior:
            mass = (mass if prior.ndim == 3 else mass[0]) + self.prior_counts
            total = mass.sum(axis=-1, keepdims=True)
            # A row without voxels keeps its prior.
            prior = np.divide(mass, total, out=prior.copy(), where=total > 0)
        return theta, prior

    def theta_of(self, counts: Floats) -> Floats:
        """Return theta from (J, K, S, K) expected votes (eq. 13)."""
        counts = counts + self.pseudo_counts[:, None, :]
        with np.errstate(invalid="ignore"):
            theta = np.asarray(counts / counts.sum(axis=1, keepdims=True))
        # The performance of a rater without votes is undefined, even with pseudo-counts.
        theta[self._absent_raters] = np.nan
        return theta

    def log_posterior(self, log_likelihood: Floats, theta: Floats, prior: Floats) -> Floats:
        """Return (S,) log likelihood plus log prior of the parameters, up to a constant."""
        if self.pseudo_counts.any():
            penalty = scipy.special.xlogy(
                self.pseudo_counts[:, None, :], np.where(np.isnan(theta), 1.0, theta)
            )
            log_likelihood = log_likelihood + penalty.sum(axis=(0, 1, 3))
        if self.estimate_prior and np.any(self.prior_counts):
            every = prior if prior.ndim == 3 else prior[None]
            penalty = scipy.special.xlogy(self.prior_counts, every)
            log_likelihood = log_likelihood + penalty.sum(axis=(0, 2))
        return np.asarray(log_likelihood)


@dataclass(frozen=True)
class ConfusionModel(Maximization):
    """Confusion model of decision patterns, with their weights and the priors of section 2.1.5."""

    patterns: DecisionPatterns
    weights: Floats  #: (P,) number of voxels that each pattern represents; 0 excludes it
    pseudo_counts: Floats  #: (K, K) alpha[d, t], added to the counts of eq. 13
    estimate_prior: bool  #: Whether eq. 16 updates the label prior; otherwise it is fixed
    #: (P,) row of the prior for each pattern, e.g. its case in a cohort; None: one shared prior.
    prior_rows: NDArray[np.uint32] | None = None
    negligible: float = UNDERFLOW  #: See `VoteTable`
    prior_counts: Floats | float = 0.0  #: (K,) alpha[k] of eq. 16, or one value for all labels

    @cached_property
    def table(self) -> VoteTable:
        """The weighted patterns in the layout of the compiled kernels."""
        return VoteTable.of(self.patterns, self.weights, self.prior_rows, self.negligible)

    def truth(self, theta: Floats, prior: Floats) -> EstimatedTruth:
        return EstimatedTruth(self.table, theta, prior)

    def step(self, theta: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
        sums = self.table.expectation(theta, prior, mass_by_row=self._separate_masses)
        return *self._maximum(sums.counts, sums.mass, prior), sums.log_likelihood

    def step_from_votes(
        self, shares: FirstTruth, frequencies: Floats, prior: Floats
    ) -> tuple[Floats, Floats]:
        sums = self.table.expectation_of_votes(shares)
        if self._separate_masses:
            of_row = shares_of_votes(self.patterns, shares, self._of_patterns(frequencies))
            mass = self._mass(self.weights[:, None, None] * of_row[:, None])
        else:
            nobody = ~self.patterns.present.any(axis=1)
            mass = sums.mass + self.weights[nobody].sum() * frequencies
        return self._maximum(sums.counts, mass, prior)

    def e_step(self, theta: Floats, prior: Floats) -> Expectation:
        """Return the posterior of the true label given the parameters (eq. 7).

        NaN in theta (an undefined column) counts as probability 0: that label has no voxels.
        """
        prior = self._of_patterns(prior)
        raters, labels, starts, _ = theta.shape
        with np.errstate(divide="ignore"):
            log_theta = np.log(np.fmax(theta, 0.0))  # fmax turns NaN into 0
            log_prior = np.log(prior)
        votes = self.patterns.sum_over_raters(log_theta.reshape(raters * labels, starts * labels))
        log_joint = votes.reshape(-1, starts, labels) + log_prior
        peak = _over_labels(np.maximum, log_joint)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        joint = np.exp(log_joint - peak)
        total = _over_labels(np.add, joint)
        with np.errstate(divide="ignore"):
            log_evidence = np.log(total[..., 0]) + peak[..., 0]
        responsibilities = joint / np.where(total > 0, total, 1.0)
        log_likelihood = self.weights[self._counted] @ log_evidence[self._counted]
        return Expectation(responsibilities, log_joint, log_likelihood)

    @cached_property
    def _counted(self) -> NDArray[np.int64] | slice:
        """Patterns with positive weight; excluding the others avoids 0 * -inf = NaN."""
        return slice(None) if (self.weights > 0).all() else np.flatnonzero(self.weights > 0)

    @cached_property
    def _absent_raters(self) -> NDArray[np.int64]:
        return np.flatnonzero(~self.patterns.present.any(axis=0))

    def m_step(self, responsibilities: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Return parameters that maximise the expected log posterior, eqs. 13 and 16."""
        weighted = self.weights[:, None, None] * responsibilities
        return self._maximum(self.patterns.tally(weighted), self._mass(weighted), prior)

    @property
    def _separate_masses(self) -> bool:
        return self.estimate_prior and self.prior_rows is not None

    def _mass(self, weighted: Floats) -> Floats:
        """Sum (P, S, K) expected voxels over the patterns of each prior row, giving (R, S, K)."""
        if not self._separate_masses:
            return np.asarray(weighted.sum(axis=0, keepdims=True))
        rows = self.prior_rows
        assert rows is not None
        mass = np.zeros((int(rows.max()) + 1, *weighted.shape[1:]))
        np.add.at(mass, rows, weighted)
        return mass

    def _of_patterns(self, by_row: Floats) -> Floats:
        """Index rows of the prior by pattern; unchanged if all patterns share one prior."""
        return by_row if self.prior_rows is None else by_row[self.prior_rows]


def with_diagonal(labels: int, diagonal: float, other: float) -> Floats:
    """Return a (K, K) matrix with one value on the diagonal and another elsewhere."""
    return np.where(np.eye(labels, dtype=bool), diagonal, other)


def worse_than_chance(theta: Floats) -> NDArray[np.bool_]:
    """Return (S,) whether the raters' mean performance at each start is worse than chance.

    `theta` contains (J, K, S, K) confusions. Such a result indicates that labels are switched. For
    two labels the criterion is mean sensitivity + specificity < 1. An undefined performance (NaN,
    for a label without voxels) counts as perfect.
    """
    diagonal = np.einsum("jksk->sjk", theta)
    defined = ~np.isnan(diagonal)
    raters = defined.sum(axis=1)
    total = np.where(defined, diagonal, 0.0).sum(axis=1)
    mean = np.divide(total, raters, out=np.ones_like(total), where=raters > 0)
    return np.asarray(mean.sum(axis=1) < 1 - 1e-9)


def _over_labels(combine: np.ufunc, values: Floats) -> Floats:
    """Reduce (P, S, K) values over K to (P, S, 1); NumPy is slow along short axes."""
    labels = (values[..., label] for label in range(values.shape[2]))
    return np.asarray(reduce(combine, labels))[..., None]
