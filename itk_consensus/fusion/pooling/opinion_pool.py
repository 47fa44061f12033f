"""The logarithmic opinion pool: p(k) ~ prior(k) * prod_a p_a(k)^(w_a / T).

Genest & Zidek, Statistical Science 1(1):114-135, 1986. With weights that sum to one it is the
geometric mean of the opinions, and stays what it is when a rater is asked twice; with weights of
one it is Bayes' rule for independent raters. No opinion may be certain, or it would overrule all
others: a label stands for probability 1 - epsilon, and probabilities are kept inside
[epsilon, 1 - epsilon].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, logit

from itk_consensus.array_types import Floats
from itk_consensus.fusion.voting.majority_vote import SHARES_AT_ONCE, label_frequencies
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.fusions import PatternFusion
from itk_consensus.votes.ties import TieRule, decide

#: Log odds that sums in different order cannot tell apart.
TIE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PoolSettings:
    """Everything that a pool can be told."""

    exponents: Floats  #: (J,) w_a / T of each rater
    prior: Floats  #: (K,) probability of each label before anybody is asked
    error_rate: float = 0.05  #: Epsilon, inside (0, 1/2)
    tie_rule: TieRule = "undecided"


def pool_votes(patterns: DecisionPatterns, settings: PoolSettings) -> PatternFusion:
    """Pool raters who give labels; each wrong label is equally likely."""
    pooled = PooledVotes(patterns, settings)
    prior = label_frequencies(patterns, np.ones(patterns.number_of_raters))
    decision = np.empty(len(patterns.counts), np.int64)
    for part in chunks(len(decision), max(1, SHARES_AT_ONCE // patterns.number_of_labels)):
        decision[part] = decide(
            pooled.scores(part),
            patterns.labels,
            settings.tie_rule,
            tolerance=TIE_TOLERANCE,
            prior=prior,
        )
    return PatternFusion(patterns, decision, pooled)


@dataclass(frozen=True)
class PooledVotes:
    """Probabilities by pattern and label, made when asked for."""

    patterns: DecisionPatterns
    settings: PoolSettings

    @property
    def _strength(self) -> float:
        """Log odds that one vote gives its label against each other one."""
        others = max(self.patterns.number_of_labels - 1, 1)
        return float(logit(1 - self.settings.error_rate) + np.log(others))

    def scores(self, part: slice) -> Floats:
        """(n, K) log probabilities of some patterns, up to a constant for each."""
        votes = self.patterns.votes(self.settings.exponents, part)
        return np.asarray(np.log(self.settings.prior) + self._strength * votes)

    def rows(self, part: slice) -> Floats:
        """(n, K) probabilities of some patterns."""
        return np.asarray(np.exp(log_softmax(self.scores(part), axis=1)))

    def of_label(self, label: int) -> Floats:
        """(P,) probability of a label."""
        shares = np.empty(len(self.patterns.counts))
        for part in chunks(len(shares), max(1, SHARES_AT_ONCE // self.patterns.number_of_labels)):
            shares[part] = self.rows(part)[:, label]
        return shares
