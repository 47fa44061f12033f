"""The logarithmic opinion pool: p(k) ~ prior(k) * prod_a p_a(k)^(w_a / T).

Genest & Zidek, Statistical Science 1(1):114-135, 1986. With weights that sum to one it is the
geometric mean of the opinions, and stays what it is when a rater is asked twice; with weights of
one it is Bayes' rule for independent raters. No opinion may be certain, or it would overrule all
others: a label stands for probability 1 - epsilon, and probabilities are kept inside
[epsilon, 1 - epsilon]. The linear pool, the mean of opinions, is the vote of soft_vote.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logit

from itk_consensus.array_types import Floats
from itk_consensus.labels.class_probabilities import Masks, Opinions, weighted_sums
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import decide_voxels
from itk_consensus.labels.fusions import PatternFusion, VolumeFusion
from itk_consensus.labels.ties import BACKGROUND, TieRule, decide

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


def pool_class_probabilities(
    opinions: Opinions, annotated: Masks, mask: NDArray[Any] | None, settings: PoolSettings
) -> VolumeFusion:
    """The logarithmic pool, p(k) ~ prior(k) * prod_a p_a(k)^(w_a / T_a), of K classes.

    Probabilities are kept inside [e / (K - 1), 1 - e], e the error rate: so a certain opinion
    counts as much as a label does in `pool_votes`.
    """
    others = max(len(settings.prior) - 1, 1)
    limits = settings.error_rate / others, 1 - settings.error_rate
    scores, _ = weighted_sums(
        opinions, annotated, settings.exponents, lambda classes: np.log(np.clip(classes, *limits))
    )
    for score, prior in zip(scores, settings.prior, strict=True):
        score += np.log(prior)
    highest = np.maximum.reduce(scores)
    shares = [np.exp(score - highest) for score in scores]
    total = np.sum(shares, axis=0)
    shares = [share / total for share in shares]
    inside = slice(None) if mask is None else mask != 0
    frequencies = np.array([share[inside].sum() for share in shares])
    flat = np.stack([score.reshape(-1) for score in scores])
    return _fusion(shares, flat, mask, settings.tie_rule, TIE_TOLERANCE, frequencies)


def _fusion(
    probabilities: list[Floats],
    scores: Floats,
    mask: NDArray[Any] | None,
    ties: TieRule,
    tolerance: float,
    frequencies: Floats,
) -> VolumeFusion:
    labels = np.arange(len(probabilities))
    shape = probabilities[0].shape
    decision = decide_voxels(scores, labels, ties, tolerance=tolerance, prior=frequencies)
    decision = decision.reshape(shape)
    if mask is not None:
        outside = mask == 0
        decision[outside] = BACKGROUND
        for probability in probabilities:
            probability[outside] = 0.0
    return VolumeFusion(decision, lambda label: probabilities[label])
