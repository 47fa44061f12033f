"""The logarithmic opinion pool: p(k) ~ prior(k) * prod_a p_a(k)^(w_a / T).

Genest & Zidek, Statistical Science 1(1):114-135, 1986. With weights that sum to one it is the
geometric mean of the opinions, and stays what it is when a rater is asked twice; with weights of
one it is Bayes' rule for independent raters. No opinion may be certain, or it would overrule all
others: a label stands for probability 1 - epsilon, and probabilities are kept inside
[epsilon, 1 - epsilon].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logit

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import PatternFusion, VolumeFusion
from itk_consensus.labels.ties import BACKGROUND, TieRule, decide

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
    decision = decide(
        scores,
        patterns.labels,
        settings.tie_rule,
        tolerance=TIE_TOLERANCE,
        prior=_frequencies(patterns),
    )
    return PatternFusion(patterns, decision, np.exp(log_softmax(scores, axis=1)))


def pool_probabilities(
    opinions: Sequence[NDArray[Any] | None],
    annotated: Sequence[NDArray[Any] | None],
    settings: PoolSettings,
) -> Floats:
    """Pool raters who give foreground probabilities.

    Parameters
    ----------
    opinions : sequence of ndarray or None, all of one shape
        Probabilities of each rater; None for a missing one.
    annotated : sequence of ndarray or None
        Non-zero where the rater gave an opinion; None: everywhere.
    settings : PoolSettings
        Of two labels.

    Returns
    -------
    ndarray of the opinions' shape
        Log odds of the foreground; `foreground_probability` turns them into probabilities.
    """
    shape = next(opinion.shape for opinion in opinions if opinion is not None)
    background, foreground = np.log(settings.prior)
    log_odds = np.full(shape, foreground - background)
    raters = zip(opinions, annotated, settings.exponents, strict=True)
    for opinion, mask, exponent in raters:
        if opinion is None or exponent == 0:
            continue
        odds = logit(np.clip(opinion.astype(np.float64), *_limits(settings)))
        odds *= exponent
        if mask is not None:
            odds[mask == 0] = 0.0
        log_odds += odds
    return log_odds


def fuse_probabilities(
    opinions: Sequence[NDArray[Any] | None],
    annotated: Sequence[NDArray[Any] | None] | None,
    mask: NDArray[Any] | None,
    patterns: DecisionPatterns,
    settings: PoolSettings,
) -> VolumeFusion:
    """Pool foreground probabilities and decide.

    Parameters
    ----------
    opinions, annotated, settings
        As in `pool_probabilities`; `annotated` None: everybody everywhere.
    mask : ndarray or None
        Zero at voxels to leave out.
    patterns : DecisionPatterns
        Of the thresholded opinions, whose frequencies break ties.
    """
    log_odds = pool_probabilities(opinions, annotated or (None,) * len(opinions), settings)
    decision = decide_log_odds(log_odds, patterns, settings.tie_rule)
    if mask is not None:
        decision[mask == 0] = BACKGROUND

    def probability(label: int) -> Floats:
        whole = foreground_probability(log_odds if label == 1 else -log_odds)
        return whole if mask is None else np.where(mask != 0, whole, 0.0)

    return VolumeFusion(decision, probability)


def foreground_probability(log_odds: Floats) -> Floats:
    """Probability that belongs to log odds."""
    return np.asarray(expit(log_odds))


def decide_log_odds(
    log_odds: Floats, patterns: DecisionPatterns, ties: TieRule
) -> NDArray[np.int32]:
    """Label index of each voxel, or a code of `labels.ties`."""
    decision = (log_odds > 0).astype(np.int32)
    tied = np.abs(log_odds) <= TIE_TOLERANCE
    scores = np.zeros((np.count_nonzero(tied), 2))
    decision[tied] = decide(scores, patterns.labels, ties, prior=_frequencies(patterns))
    return decision


def _limits(settings: PoolSettings) -> tuple[float, float]:
    return settings.error_rate, 1 - settings.error_rate


def _frequencies(patterns: DecisionPatterns) -> Floats:
    """(K,) share of each label among all votes."""
    votes = patterns.counts @ patterns.votes()
    return np.asarray(votes / votes.sum())
