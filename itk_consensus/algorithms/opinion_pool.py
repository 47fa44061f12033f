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
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import PatternFusion
from itk_consensus.labels.ties import TieRule, decide

#: Log odds that sums in different order cannot tell apart.
TIE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class PoolSettings:
    """Everything that a pool can be told.

    Attributes
    ----------
    exponents : (J,) ndarray
        w_a / T of each rater.
    prior : (K,) ndarray
        Probability of each label before anybody is asked.
    error_rate : float
        Epsilon, inside (0, 1/2).
    tie_rule : TieRule
    """

    exponents: Floats
    prior: Floats
    error_rate: float = 0.05
    tie_rule: TieRule = "undecided"


def pool_votes(patterns: DecisionPatterns, settings: PoolSettings) -> PatternFusion:
    """Pool raters who give labels; each wrong label is equally likely."""
    others = max(patterns.number_of_labels - 1, 1)
    strength = logit(1 - settings.error_rate) + np.log(others)
    scores = np.log(settings.prior) + strength * patterns.votes(settings.exponents)
    frequencies = patterns.counts @ patterns.votes()
    decision = decide(
        scores,
        patterns.labels,
        settings.tie_rule,
        tolerance=TIE_TOLERANCE,
        prior=frequencies / frequencies.sum(),
    )
    return PatternFusion(patterns, decision, np.exp(log_softmax(scores, axis=1)))
