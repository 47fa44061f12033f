"""The logarithmic pool of opinion_pool.py, a geometric mean, of the probabilities of K classes.

The linear pool, their mean, is the vote of soft_vote.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.fusion.pooling.opinion_pool import TIE_TOLERANCE, PoolSettings
from itk_consensus.votes.class_probabilities import SoftVotes, weighted_sums
from itk_consensus.votes.disputed_voxels import decide_voxels
from itk_consensus.votes.fusions import VolumeFusion
from itk_consensus.votes.ties import BACKGROUND, TieRule


def pool_class_probabilities(votes: SoftVotes, settings: PoolSettings) -> VolumeFusion:
    """The logarithmic pool, p(k) ~ prior(k) * prod_a p_a(k)^(w_a / T_a), of K classes.

    Probabilities are kept inside [e / (K - 1), 1 - e], e the error rate: so a certain opinion
    counts as much as a label does in `pool_votes`.
    """
    others = max(len(settings.prior) - 1, 1)
    limits = settings.error_rate / others, 1 - settings.error_rate
    scores, _ = weighted_sums(
        votes, settings.exponents, lambda classes: np.log(np.clip(classes, *limits))
    )
    mask = votes.mask
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
