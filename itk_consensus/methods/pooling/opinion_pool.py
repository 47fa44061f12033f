"""Logarithmic opinion pool: p(k) ~ prior(k) * prod_a p_a(k)^(w_a / T).

Genest & Zidek, Statistical Science 1(1):114-135, 1986. If the weights sum to one, the pool is the
geometric mean of the opinions, which does not change if all raters are duplicated; if all weights
are one, it is Bayes' rule for independent raters. A probability of 0 or 1 would overrule all other
opinions, so a label counts as probability 1 - epsilon, and probabilities are clipped to [epsilon, 1
- epsilon].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from itk_consensus.core.array_types import Floats
from itk_consensus.methods.voting.majority_vote import label_frequencies
from itk_consensus.votes.class_probabilities import SoftVotes, weighted_sums
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import chunks, decide_voxels
from itk_consensus.votes.fusions import (
    SHARES_AT_ONCE,
    PatternFusion,
    PatternShares,
    StoredShares,
    VolumeFusion,
)
from itk_consensus.votes.ties import BACKGROUND, SAME_PROBABILITY, TieRule, decide


@dataclass(frozen=True)
class PoolSettings:
    """Settings of an opinion pool."""

    exponents: Floats  #: (J,) exponent w_a / T of each rater
    prior: Floats  #: (K,) prior probability of each label
    error_rate: float = 0.05  #: Epsilon, inside (0, 1/2)
    tie_rule: TieRule = "undecided"


@dataclass(frozen=True)
class PooledShares(PatternShares):
    """Pooled probabilities of raters who give labels."""

    patterns: DecisionPatterns
    settings: PoolSettings

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.patterns.counts), self.patterns.number_of_labels

    def scores(self, part: slice) -> Floats:
        """Return the (n, K) log probabilities of some patterns, up to a constant for each."""
        settings, others = self.settings, max(self.patterns.number_of_labels - 1, 1)
        # Log odds that one vote adds to its label relative to each other label.
        strength = float(scipy.special.logit(1 - settings.error_rate) + np.log(others))
        votes = self.patterns.votes(settings.exponents, part)
        return np.asarray(np.log(settings.prior) + strength * votes)

    def rows(self, part: slice) -> Floats:
        return np.asarray(np.exp(scipy.special.log_softmax(self.scores(part), axis=1)))


def pool_votes(patterns: DecisionPatterns, settings: PoolSettings) -> PatternFusion:
    """Pool the votes of raters who give labels; all wrong labels are equally likely."""
    shares = PooledShares(patterns, settings)
    prior = label_frequencies(patterns, np.ones(patterns.number_of_raters))
    decision = np.empty(len(patterns.counts), np.int64)
    for part in chunks(len(decision), max(1, SHARES_AT_ONCE // patterns.number_of_labels)):
        decision[part] = decide(
            shares.scores(part),
            patterns.labels,
            settings.tie_rule,
            tolerance=SAME_PROBABILITY,
            prior=prior,
        )
    return PatternFusion(patterns, decision, shares)


def pool_probabilities(votes: SoftVotes, settings: PoolSettings) -> VolumeFusion:
    """Pool the opinions of raters who give probabilities of K classes.

    Probabilities are clipped to [e / (K - 1), 1 - e], where e is the error rate, so that a
    probability of 1 counts as much as a label in `pool_votes`. The linear pool, the mean, is in
    soft_vote.py.
    """
    others = max(len(settings.prior) - 1, 1)
    limits = settings.error_rate / others, 1 - settings.error_rate
    scores, _ = weighted_sums(
        votes, settings.exponents, lambda classes: np.log(np.clip(classes, *limits))
    )
    for score, prior in zip(scores, settings.prior, strict=True):
        score += np.log(prior)
    highest = np.maximum.reduce(scores)
    shares = [np.exp(score - highest) for score in scores]
    total = np.sum(shares, axis=0)
    shares = [share / total for share in shares]
    inside = slice(None) if votes.mask is None else votes.mask != 0
    decision = decide_voxels(
        np.stack([score.reshape(-1) for score in scores]),
        np.arange(len(shares)),
        settings.tie_rule,
        tolerance=SAME_PROBABILITY,
        prior=np.array([share[inside].sum() for share in shares]),
    ).reshape(total.shape)
    if votes.mask is not None:
        outside = votes.mask == 0
        decision[outside] = BACKGROUND
        for share in shares:
            share[outside] = 0.0
    return VolumeFusion(decision, StoredShares(shares))
