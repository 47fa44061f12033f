"""STAPLE: a confusion matrix of every rater, and the hidden truth, by EM.

Warfield, Zou & Wells, IEEE TMI 23(7):903-921, 2004, for two labels; Rohlfing, Russakoff & Maurer,
IEEE TMI 23(6):983-994, 2004, for any number; with the variants of Van Leemput & Sabuncu (MICCAI
2014) and the priors of Commowick & Warfield (MICCAI 2010). Equation numbers are those of "When
Does Consensus Beat Voting?".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.confusion_model import ConfusionModel
from itk_consensus.algorithms.expectation_maximization import Optima, VoxelBeliefs, maximize
from itk_consensus.algorithms.hidden_truth import TruthOfStart
from itk_consensus.algorithms.initialization import (
    StartSummary,
    best_start,
    label_switched,
    make_starts,
    pairwise_overlap,
)
from itk_consensus.algorithms.iteration import IterationObserver
from itk_consensus.algorithms.markov_field import MarkovField
from itk_consensus.algorithms.staple_settings import StapleSettings
from itk_consensus.algorithms.vote_shares import mean_of_votes, vote_frequencies
from itk_consensus.array_types import Floats, Labels
from itk_consensus.errors import ParameterError
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.expected_counts import UNDERFLOW
from itk_consensus.labels.fusions import PatternProbabilities
from itk_consensus.labels.ties import UNDECIDED

#: Log posteriors this close are a tie (ITK compares products exactly; logs round).
TIE_TOLERANCE = 1e-12


class BinaryPerformance:
    """Sensitivity and specificity as they stand in confusion matrices of two labels."""

    theta: Floats

    @property
    def sensitivity(self) -> Floats:
        """(J,) of two labels; NaN where undefined."""
        return self.theta[:, 1, 1]

    @property
    def specificity(self) -> Floats:
        """(J,) of two labels; NaN where undefined."""
        return self.theta[:, 0, 0]


@dataclass(frozen=True)
class StapleResult(BinaryPerformance):
    """STAPLE's answer on patterns.

    Attributes
    ----------
    patterns : DecisionPatterns
    shares : (P, K) ndarray or PatternProbabilities
        Probability of each label. Votes that no label explains, because some rater never said
        this where the truth was that, leave the model without an answer: such rows hold the shares
        of the votes, and their decision is undecided.
    decision : (P,) ndarray of int64
        Label index, or undecided on a tie.
    theta : (J, K, K) ndarray
        Confusion matrices [rater, observed, true]; NaN for a rater who gave no vote.
    prior : (K,) ndarray
        Label prior at the end; the mean of a spatial prior.
    log_likelihood, log_posterior : float
    iterations : int
    converged : bool
    starts : StartSummary
    settings : StapleSettings
    voxels : VoxelBeliefs or None
        With a Markov field: what differs from voxel to voxel. A pattern's posterior is their mean.
    """

    patterns: DecisionPatterns
    shares: Floats | PatternProbabilities
    decision: Labels
    theta: Floats
    prior: Floats
    log_likelihood: float
    log_posterior: float
    iterations: int
    converged: bool
    starts: StartSummary
    settings: StapleSettings
    voxels: VoxelBeliefs | None = None

    @cached_property
    def posterior(self) -> Floats:
        """(P, K) probabilities; where patterns and labels are many, look at `shares` instead."""
        return self.shares if isinstance(self.shares, np.ndarray) else self.shares.rows(slice(None))

    @property
    def foreground(self) -> Floats:
        """(P,) probability of label 1."""
        return self.posterior[:, 1]

    @cached_property
    def predictive_values(self) -> Floats:
        """(J, K) probability that a rater's vote for a label is right; NaN without such votes."""
        table = self.patterns.tally(self.posterior * self.patterns.counts[:, None])
        with np.errstate(invalid="ignore"):
            right = table / table.sum(axis=2, keepdims=True)
        return np.asarray(np.einsum("jkk->jk", right))


def staple(
    patterns: DecisionPatterns,
    settings: StapleSettings | None = None,
    *,
    field: MarkovField | None = None,
    observer: IterationObserver | None = None,
    owner: str = "staple",
) -> StapleResult:
    """Fuse patterns.

    Parameters
    ----------
    patterns : DecisionPatterns
        Of a binary stack, label 1 being the foreground, unless the settings say otherwise.
    settings : StapleSettings
        Default: SimpleITK's binary STAPLE.
    field : MarkovField
        Makes neighbouring voxels of these patterns tend to one label; the field then stands for
        the prior, unless `settings` give one.
    observer : callable
        Called after each iteration; returning False stops with the current estimate.
    owner : str
        Who is named in errors.
    """
    settings = settings or StapleSettings()
    if field is not None:
        settings = replace(settings, estimate_prior=False)
    weights = counted_voxels(patterns, settings)
    if settings.binary and one_class(patterns, weights):
        return nothing_to_estimate(patterns, weights, settings)
    frequencies = vote_frequencies(patterns, weights)
    even = np.full_like(frequencies, 1 / len(frequencies))
    prior = _label_prior(settings, frequencies if field is None else even, owner)
    optima = run_em(patterns, weights, settings, frequencies, prior, field=field, observer=observer)
    return staple_result(patterns, weights, optima, settings)


def run_em(
    patterns: DecisionPatterns,
    weights: Floats,
    settings: StapleSettings,
    frequencies: Floats,
    prior: Floats,
    *,
    prior_rows: NDArray[np.uint32] | None = None,
    negligible: float = UNDERFLOW,
    field: MarkovField | None = None,
    observer: IterationObserver | None = None,
) -> Optima:
    """Where EM ends from every start of the plan.

    Parameters
    ----------
    weights : (P,) ndarray
        Voxels that each pattern counts for.
    frequencies, prior : (K,) or (R, K) ndarray
        As of `make_starts`.
    prior_rows : (P,) ndarray of uint32
        As of `ConfusionModel`; without it the rows of a prior are those of the patterns.
    negligible : float
        As of `VoteTable`.
    """
    pseudo_counts = settings.pseudo_count_table(patterns.number_of_labels)
    if prior.ndim == 2 and prior_rows is None:
        prior_rows = np.arange(len(weights), dtype=np.uint32)
    model = ConfusionModel(
        patterns, weights, pseudo_counts, settings.estimate_prior, prior_rows, negligible
    )
    starts = make_starts(model, settings.plan, frequencies, prior)
    search = maximize if field is None else field.maximize
    return search(model, starts, settings.stop, damping=settings.damping, observer=observer)


def counted_voxels(patterns: DecisionPatterns, settings: StapleSettings) -> Floats:
    """(P,) voxels that each pattern counts for."""
    disputed = patterns.present.any(axis=1) & ~patterns.unanimous
    # Without any dispute the multi-label rules estimate from what is agreed.
    excludes = settings.exclude_consensus and (settings.binary or bool(disputed.any()))
    return np.where(excludes & patterns.unanimous, 0.0, patterns.counts)


def one_class(patterns: DecisionPatterns, weights: Floats) -> bool:
    """Whether no rater disputes that all that counts is background, or all of it foreground."""
    counted = patterns.present & (weights > 0)[:, None]
    votes = patterns.patterns[counted]
    return votes.size == 0 or bool((votes == votes[0]).all())


def _label_prior(settings: StapleSettings, frequencies: Floats, owner: str) -> Floats:
    """(K,) or (P, K)."""
    if settings.binary:
        return binary_prior(settings, frequencies, owner)
    return frequencies if settings.prior is None else np.asarray(settings.prior)


def binary_prior(settings: StapleSettings, frequencies: Floats, owner: str) -> Floats:
    """(2,) or (P, 2)."""
    if settings.prior is not None:
        return in_pairs(np.asarray(settings.prior, dtype=np.float64))
    foreground = frequencies[1] * settings.confidence_weight
    if not 0 < foreground < 1:
        raise ParameterError(
            f"{owner}: ConfidenceWeight must keep the prior g = mean * weight inside (0, 1), "
            f"got g = {frequencies[1]:.6g} * {settings.confidence_weight:g} = {foreground:.6g}"
        )
    return in_pairs(foreground)


def in_pairs(foreground: Any) -> Floats:
    """(..., 2) probabilities of background and foreground."""
    return np.stack([1 - foreground, foreground], axis=-1)


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
    summary = StartSummary(
        winner,
        optima.log_likelihood,
        optima.log_posterior,
        optima.iterations,
        label_switched(optima),
        pairwise_overlap(decisions, patterns.counts),
        optima.trace,
    )
    return StapleResult(
        patterns,
        shares,
        decisions[:, winner],
        np.where(annotated, theta, np.nan),
        prior,
        float(optima.log_likelihood[winner]),
        float(optima.log_posterior[winner]),
        int(optima.iterations[winner]),
        bool(optima.converged[winner]),
        summary,
        settings,
        optima.voxels,
    )


def prior_of_start(optima: Optima, start: int) -> Floats:
    """(K,), or (R, K) if it differs between patterns: the prior that a start ended with."""
    prior = optima.prior
    return np.asarray(prior[..., min(start, prior.shape[-2] - 1), :])


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
        patterns,
        posterior,
        (posterior[:, 1] >= 0.5).astype(np.int64),
        theta,
        in_pairs(np.average(posterior[:, 1], weights=patterns.counts)),
        0.0,
        0.0,
        0,
        True,
        summary,
        settings,
    )
