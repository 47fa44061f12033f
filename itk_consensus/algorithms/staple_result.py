"""STAPLE's answer, by pattern or by voxel: each rater's performance, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.confusion_model import EstimatedTruth, KnownTruth
from itk_consensus.algorithms.expectation_maximization import Optima, VoxelBeliefs
from itk_consensus.algorithms.initialization import StartSummary, best_start, pairwise_overlap
from itk_consensus.array_types import Floats, Labels
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.expected_counts import mean_of_votes
from itk_consensus.labels.fusions import PatternFusion, PatternProbabilities
from itk_consensus.labels.ties import UNDECIDED

if TYPE_CHECKING:
    from itk_consensus.algorithms.staple import StapleSettings

#: Log posteriors this close are a tie (ITK compares products exactly; logs round).
TIE_TOLERANCE = 1e-12


@dataclass(frozen=True, kw_only=True)
class StapleEstimate:
    """What STAPLE says of the raters."""

    #: (J, K, K) confusion matrices [rater, observed, true]; NaN for a rater who gave no vote.
    theta: Floats
    prior: Floats  #: (K,) label prior at the end; the mean of a spatial prior
    log_likelihood: float
    log_posterior: float
    iterations: int
    converged: bool
    starts: StartSummary
    settings: StapleSettings
    #: With a Markov field: what differs from voxel to voxel. A pattern's posterior is their mean.
    voxels: VoxelBeliefs | None = None

    @property
    def sensitivity(self) -> Floats:
        """(J,) of two labels; NaN where undefined."""
        return self.theta[:, 1, 1]

    @property
    def specificity(self) -> Floats:
        """(J,) of two labels; NaN where undefined."""
        return self.theta[:, 0, 0]

    @cached_property
    def predictive_values(self) -> Floats:
        """(J, K) probability that a rater's vote for a label is right; NaN without such votes."""
        table = self._expected_votes()
        with np.errstate(invalid="ignore"):
            right = table / table.sum(axis=2, keepdims=True)
        return np.asarray(np.einsum("jkk->jk", right))

    def _expected_votes(self) -> Floats:
        """(J, K, K) voxels by rater, observed and true label."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class StapleResult(StapleEstimate):
    """STAPLE's answer on patterns, beside what it says of the raters."""

    patterns: DecisionPatterns
    #: (P, K) probability of each label. Votes that no label explains, because some rater never said
    #: this where the truth was that, leave the model without an answer: such rows hold the shares
    #: of the votes, and their decision is undecided.
    shares: Floats | PatternProbabilities
    decision: Labels  #: (P,) label index, or undecided on a tie

    @cached_property
    def posterior(self) -> Floats:
        """(P, K) probabilities; where patterns and labels are many, look at `shares` instead."""
        return self.shares if isinstance(self.shares, np.ndarray) else self.shares.rows(slice(None))

    @property
    def foreground(self) -> Floats:
        """(P,) probability of label 1."""
        return self.posterior[:, 1]

    def fusion(self) -> PatternFusion:
        """The result by pattern."""
        return PatternFusion(self.patterns, self.decision, self.shares)

    def _expected_votes(self) -> Floats:
        return self.patterns.tally(self.posterior * self.patterns.counts[:, None])


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


def scores_of_start(optima: Optima, start: int) -> dict[str, Any]:
    """How a start ended, by the names of `StapleEstimate`."""
    return {
        "log_likelihood": float(optima.log_likelihood[start]),
        "log_posterior": float(optima.log_posterior[start]),
        "iterations": int(optima.iterations[start]),
        "converged": bool(optima.converged[start]),
    }


def prior_of_start(optima: Optima, start: int) -> Floats:
    """(K,), or (R, K) if it differs between patterns: the prior that a start ended with."""
    prior = optima.prior
    return np.asarray(prior[..., min(start, prior.shape[-2] - 1), :])


def staple_result(
    patterns: DecisionPatterns,
    weights: Floats,
    optima: Optima,
    settings: StapleSettings,
    prior_rows: NDArray[np.uint32] | None = None,
) -> StapleResult:
    """The best start's answer, and what the others found."""
    winner = best_start(optima)
    shares, decisions = _answers(patterns, optima, settings, winner)
    theta = optima.theta[:, :, winner]
    if not settings.binary:
        # A label that no truth explains has no column to normalise; ITK reports zeros there.
        theta = np.nan_to_num(theta, nan=0.0)
    annotated = np.asarray(patterns.present.any(axis=0))[:, None, None]
    prior = prior_of_start(optima, winner)
    if prior.ndim == 2:
        of_patterns = prior if prior_rows is None else prior[prior_rows]
        prior = np.average(of_patterns, axis=0, weights=weights)
    return StapleResult(
        patterns=patterns,
        shares=shares,
        decision=decisions[:, winner],
        theta=np.where(annotated, theta, np.nan),
        prior=prior,
        **scores_of_start(optima, winner),
        starts=StartSummary.of(optima, winner, pairwise_overlap(decisions, patterns.counts)),
        settings=settings,
        voxels=optima.voxels,
    )


def _answers(
    patterns: DecisionPatterns, optima: Optima, settings: StapleSettings, winner: int
) -> tuple[Floats | PatternProbabilities, Labels]:
    """The winner's probabilities and (P, S) decisions; voxels left out keep their label."""
    agreed = None
    if settings.exclude_consensus:
        agreed = np.where(patterns.unanimous, patterns.lowest_vote.astype(np.int64), -1)
    if settings.binary:
        # Whatever is not foreground is background, even where neither explains the votes.
        foreground = optima.truth.probabilities([1])[..., 0]
        if agreed is not None:
            foreground = np.where(agreed[:, None] < 0, foreground, agreed[:, None] == 1)
        return in_pairs(foreground[:, winner]), (foreground >= 1 - foreground).astype(np.int64)
    decisions = optima.truth.decisions(TIE_TOLERANCE)
    if agreed is not None:
        decisions = np.where(agreed[:, None] < 0, decisions, agreed[:, None])
    undecided = np.flatnonzero(decisions[:, winner] == UNDECIDED)
    return TruthOfStart(optima.truth, winner, agreed, patterns, undecided), decisions


def nothing_to_estimate(
    patterns: DecisionPatterns, weights: Floats, settings: StapleSettings
) -> StapleResult:
    """Every counted vote is the same: the answer is that class, and its opposite is undefined."""
    shares = mean_of_votes(patterns)[:, 1]
    counted = shares[(weights > 0) & ~np.isnan(shares)]
    fallback = float(counted[0]) if counted.size else 0.0
    posterior = in_pairs(np.where(np.isnan(shares), fallback, shares))
    table = patterns.tally(posterior * patterns.counts[:, None])
    with np.errstate(invalid="ignore"):
        theta = table / table.sum(axis=1, keepdims=True)
    only = np.zeros(1)
    summary = StartSummary(
        0, only, only, np.zeros(1, np.int64), np.zeros(1, bool), np.ones((1, 1)), np.zeros((0, 1))
    )
    return StapleResult(
        patterns=patterns,
        shares=posterior,
        decision=(posterior[:, 1] >= 0.5).astype(np.int64),
        theta=theta,
        prior=in_pairs(np.average(posterior[:, 1], weights=patterns.counts)),
        log_likelihood=0.0,
        log_posterior=0.0,
        iterations=0,
        converged=True,
        starts=summary,
        settings=settings,
    )


def in_pairs(foreground: Any) -> Floats:
    """(..., 2) probabilities of background and foreground."""
    return np.stack([1 - foreground, foreground], axis=-1)
