"""Averages and pools of class probabilities, voxel by voxel.

The linear pool is the weighted mean of the opinions: what an ensemble of networks votes by, and
the share of the votes if opinions are 0 or 1. The logarithmic pool of opinion_pool.py is their
geometric mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.opinion_pool import TIE_TOLERANCE, PoolSettings
from itk_consensus.array_types import Floats
from itk_consensus.labels.class_probabilities import Opinion
from itk_consensus.labels.disputed_voxels import decide_voxels
from itk_consensus.labels.fusions import VolumeFusion
from itk_consensus.labels.ties import BACKGROUND, TieRule

Opinions = Sequence[Opinion | None]
Masks = Sequence[NDArray[Any] | None] | None

#: Means that are equal on paper differ by rounding.
MEAN_ROUNDING = 1e-12


def average_probabilities(
    opinions: Opinions,
    annotated: Masks,
    mask: NDArray[Any] | None,
    weights: Floats | None,
    ties: TieRule,
) -> VolumeFusion:
    """The weighted mean of what raters believe.

    Parameters
    ----------
    opinions : sequence of (sequence of K ndarray) or None
        Class probabilities of each rater; None for a missing one. A single array is the
        foreground's, of two classes.
    annotated : sequence of ndarray or None
        Non-zero where the rater gave an opinion; None: everywhere.
    mask : ndarray or None
        Zero at voxels to leave out.
    weights : (J,) ndarray or None
        None: all equal.
    ties : TieRule
        Where nobody gave an opinion a voxel is undecided, and has the classes' mean probability.
    """
    shares = np.ones(len(opinions)) if weights is None else weights
    means, total = _weighted_sums(opinions, annotated, shares, lambda classes: classes)
    asked = total > 0
    counted = asked if mask is None else asked & (mask != 0)
    for mean in means:
        np.divide(mean, total, out=mean, where=asked)
    frequencies = np.array([mean[counted].sum() for mean in means])
    frequencies /= frequencies.sum()
    scores = np.stack([mean.reshape(-1) for mean in means])
    scores[:, ~asked.reshape(-1)] = -np.inf
    for mean, frequency in zip(means, frequencies, strict=True):
        mean[~asked] = frequency
    return _fusion(means, scores, mask, ties, MEAN_ROUNDING, frequencies)


def pool_class_probabilities(
    opinions: Opinions, annotated: Masks, mask: NDArray[Any] | None, settings: PoolSettings
) -> VolumeFusion:
    """The logarithmic pool, p(k) ~ prior(k) * prod_a p_a(k)^(w_a / T_a), of K classes.

    Probabilities are kept inside [e / (K - 1), 1 - e], e the error rate: so a certain opinion
    counts as much as a label does in `pool_votes`.
    """
    others = max(len(settings.prior) - 1, 1)
    limits = settings.error_rate / others, 1 - settings.error_rate
    scores, _ = _weighted_sums(
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


def _weighted_sums(
    opinions: Opinions, annotated: Masks, weights: Floats, of: Any
) -> tuple[list[Floats], Floats]:
    """Sum over raters of weight * of(probability) per class, and of the weights."""
    first = next(opinion for opinion in opinions if opinion is not None)
    sums = [np.zeros(first[0].shape) for _ in range(max(len(first), 2))]
    total = np.zeros(first[0].shape)
    given = annotated or (None,) * len(opinions)
    for opinion, where, weight in zip(opinions, given, weights, strict=True):
        if opinion is None or weight == 0:
            continue
        here: Any = weight if where is None else weight * (where != 0)
        total += here
        if len(opinion) == 1:
            opinion = (1.0 - opinion[0].astype(np.float64), opinion[0])
        for added, classes in zip(sums, opinion, strict=True):
            values = of(classes.astype(np.float64))
            # What lies where nothing was said may be no number at all.
            added += weight * values if where is None else np.where(where != 0, weight * values, 0)
    return sums, total


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
