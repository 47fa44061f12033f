"""Rules that score a segmentation, a probability or samples against several readers.

Every rule is implemented from its definition. Voxels may have weights, so that a table of vote
patterns with counts can be scored in the same way as images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.errors import InputError
from itk_consensus.votes.overlap import dice_of, share_of

#: Thresholds of QUBIQ (Menze et al., 2020) for the probability and the share of readers.
THRESHOLDS = tuple(number / 10 for number in range(1, 10))
BINS = 10
#: Probabilities below this count as 0, since those of networks are never exactly 0.
SEEN = 0.01
#: Number of bins of the calibration error of CURVAS 2024.
CURVAS_BINS = 50
#: Limit of the integration of CURVAS 2024, in standard deviations of the readers' volumes.
CURVAS_REACH = 3.0
# Prevents a share of 7 in 10 readers from falling below 0.7 by rounding.
_ROUNDING = 1e-9


def soft_dice(
    probability: NDArray[Any], share: NDArray[Any], weights: NDArray[Any] | None = None
) -> float:
    """Return ``2 sum(p s) / (sum(p) + sum(s))`` of probability p and reader share s; 1 if empty."""
    both, total = _sum(probability * share, weights), _sum(probability + share, weights)
    return float(dice_of(both, total))


def threshold_averaged_dice(
    probability: NDArray[Any], share: NDArray[Any], weights: NDArray[Any] | None = None
) -> float:
    """Return the Dice of probability and reader share, averaged over thresholds (QUBIQ)."""
    levels = np.array(THRESHOLDS)[:, None] - _ROUNDING
    one, other = (np.ravel(values) >= levels for values in (probability, share))
    number = np.ones(one.shape[1]) if weights is None else np.asarray(weights, np.float64)
    both, total = (one & other) @ number, one @ number + other @ number
    return float(np.divide(2 * both, total, out=np.ones(len(levels)), where=total > 0).mean())


def plural_calibration_error(
    probability: NDArray[Any], share: NDArray[Any], weights: NDArray[Any] | None = None
) -> float:
    """Return the expected calibration error against the share of readers, in ten bins.

    Voxels that no reader marks and whose probability is below 1 % are ignored; otherwise background
    would mask every error.
    """
    where = (probability >= SEEN) | (share > 0)
    p, said = probability[where].astype(np.float64), share[where].astype(np.float64)
    if not p.size:
        return 0.0
    number = np.ones(p.shape) if weights is None else weights[where].astype(np.float64)
    bins = np.minimum((p * BINS + _ROUNDING).astype(int), BINS - 1)
    differences = np.bincount(bins, (p - said) * number, BINS)
    return float(np.abs(differences).sum() / number.sum())


def consensus_dice(
    mask: Mask, readers: Sequence[Mask], weights: NDArray[Any] | None = None
) -> float:
    """Return the Dice computed over the voxels on which all readers agree (CURVAS 2024).

    NaN if no voxel is marked by all readers; the challenge omits such cases.
    """
    inside = np.logical_and.reduce(readers)
    agreed = inside | ~np.logical_or.reduce(readers)
    if not inside.any():
        return math.nan
    return _dice(mask & agreed, inside, weights)


def consensus_confidence(
    probability: NDArray[Any], readers: Sequence[Mask], weights: NDArray[Any] | None = None
) -> float:
    """Return the mean confidence at voxels on which all readers agree (CURVAS 2024).

    This is the mean of two means: the probability where all readers mark the structure, and 1 minus
    the probability where none does. NaN if either region is empty.
    """
    inside, outside = np.logical_and.reduce(readers), ~np.logical_or.reduce(readers)
    number = np.ones(inside.shape) if weights is None else weights
    if not (number[inside].sum() and number[outside].sum()):
        return math.nan
    yes = float(np.average(probability[inside], weights=number[inside]))
    no = float(np.average(1 - probability[outside], weights=number[outside]))
    return (yes + no) / 2


def multiclass_calibration_error(
    probabilities: NDArray[Any], label: NDArray[Any], weights: NDArray[Any] | None = None
) -> float:
    """Return the calibration error of the most probable class against one reader (CURVAS 2024).

    This is the mean absolute difference between confidence and accuracy over 50 bins of confidence,
    weighted by voxels (Guo et al., ICML 2017). A confidence of 1 has its own bin, as in the library
    used by the challenge.

    Parameters
    ----------
    probabilities : (K, N) ndarray
        Probability of each class, background first.
    label : (N,) ndarray of int
        Index of the reader's class at each voxel.
    """
    confidence = probabilities.max(axis=0).astype(np.float64)
    right = (probabilities.argmax(axis=0) == label).astype(np.float64)
    number = np.ones(confidence.shape) if weights is None else weights.astype(np.float64)
    bins = (confidence * CURVAS_BINS + _ROUNDING).astype(int)
    differences = np.bincount(bins, (confidence - right) * number)
    return float(np.abs(differences).sum() / number.sum())


def volume_score(volume: float, readers: ArrayLike) -> float:
    """Return the continuous ranked probability score of a volume (CURVAS 2024).

    ``integral of (F(v) - [v >= volume])^2`` over the mean of the readers' volumes +- 3 population
    standard deviations, where F is the normal distribution with this mean and standard deviation.
    The score has the unit of the volumes; 0 is best. NaN if all readers' volumes are equal, since F
    is then undefined.

    Parameters
    ----------
    volume : float
        Volume; for a probability map, its sum over the voxels.
    readers : (J,) array_like
        Volumes of the readers.
    """
    volumes = np.asarray(readers, np.float64)
    mean, deviation = float(volumes.mean()), float(volumes.std())
    if not deviation > 0:
        return math.nan
    at = min(max((volume - mean) / deviation, -CURVAS_REACH), CURVAS_REACH)
    # By symmetry, the integral above the volume equals one below it with the sign reversed.
    below = _squared_normal(at) - _squared_normal(-CURVAS_REACH)
    above = _squared_normal(-at) - _squared_normal(-CURVAS_REACH)
    return deviation * (below + above)


def _squared_normal(z: float) -> float:
    """Return the antiderivative of the squared standard normal distribution function."""
    share = float(scipy.special.ndtr(z))
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    tail = float(scipy.special.ndtr(math.sqrt(2) * z)) / math.sqrt(math.pi)
    return z * share**2 + 2 * density * share - tail


def energy_distance(
    samples: Sequence[Mask], readers: Sequence[Mask], weights: NDArray[Any] | None = None
) -> float:
    """Return the generalised energy distance ``2 E d(s, r) - E d(s, s') - E d(r, r')``.

    Here d is 1 - IoU, over all pairs including a mask with itself (Kohl et al., NeurIPS 2018); 0
    for equal sets.
    """
    between, among, apart = (
        float((1 - overlaps(one, other, weights)).mean())
        for one, other in ((samples, readers), (samples, samples), (readers, readers))
    )
    return 2 * between - among - apart


def dice_max(
    samples: Sequence[Mask], readers: Sequence[Mask], weights: NDArray[Any] | None = None
) -> float:
    """Return the Dice of each reader with the most similar sample, averaged over readers
    (D_max).
    """
    return float(_dices(samples, readers, weights).max(axis=0).mean())


def dice_match(
    samples: Sequence[Mask], readers: Sequence[Mask], weights: NDArray[Any] | None = None
) -> float:
    """Return the mean Dice of samples and readers under the best one-to-one matching (D_match).

    See Wu et al., CVPR 2024. If the numbers of samples and readers differ, both sets are repeated
    to the least common multiple.
    """
    return _best_pairing(_dices(samples, readers, weights))


def matched_iou(
    samples: Sequence[Mask], readers: Sequence[Mask], weights: NDArray[Any] | None = None
) -> float:
    """Return the mean IoU of samples and readers under the best one-to-one matching.

    This is the Hungarian-matched IoU (Kohl et al., arXiv:1905.13077, 2019). If the numbers of
    samples and readers differ, both sets are repeated to the least common multiple.
    """
    return _best_pairing(overlaps(samples, readers, weights))


def _best_pairing(likeness: Floats) -> float:
    ones, others = likeness.shape
    number = math.lcm(ones, others)
    repeated = likeness.repeat(number // ones, axis=0).repeat(number // others, axis=1)
    rows, columns = scipy.optimize.linear_sum_assignment(repeated, maximize=True)
    return float(repeated[rows, columns].mean())


def overlaps(
    ones: Sequence[Mask], others: Sequence[Mask], weights: NDArray[Any] | None = None
) -> Floats:
    """Return the (N, M) intersection over union; 1 if both masks are empty."""
    shared, sizes = _shared(ones, others, weights)
    return share_of(shared, sizes - shared)


def _dices(
    ones: Sequence[Mask], others: Sequence[Mask], weights: NDArray[Any] | None = None
) -> Floats:
    """Return the (N, M) Dice; 1 if both masks are empty."""
    shared, sizes = _shared(ones, others, weights)
    return dice_of(shared, sizes)


def _shared(
    ones: Sequence[Mask], others: Sequence[Mask], weights: NDArray[Any] | None
) -> tuple[Floats, Floats]:
    """Return (N, M) intersections of all pairs of masks in voxels, and sums of their sizes."""
    first, second = (
        np.stack([np.asarray(mask).ravel() for mask in masks]).astype(np.float64)
        for masks in (ones, others)
    )
    number = np.ones(first.shape[1]) if weights is None else weights.astype(np.float64)
    shared = (first * number) @ second.T
    return shared, np.add.outer(first @ number, second @ number)


def crps(samples: ArrayLike, observed: float) -> float:
    """Return the continuous ranked probability score of samples against an observed value.

    ``E|X - y| - E|X - X'| / 2``: 0 is perfect; for a single sample this is the absolute error.
    """
    values = np.sort(np.asarray(samples, np.float64).ravel())
    if not values.size:
        raise InputError("crps: samples must be at least one number, got none")
    number = values.size
    # The sum of all absolute differences equals a weighted sum of the sorted values.
    weights = 2 * np.arange(number) - number + 1
    spread = 2 * float(weights @ values) / number**2
    return float(np.abs(values - observed).mean()) - spread / 2


def _dice(one: Mask, other: Mask, weights: NDArray[Any] | None) -> float:
    total = _sum(one, weights) + _sum(other, weights)
    return float(dice_of(_sum(one & other, weights), total))


def _sum(values: NDArray[Any], weights: NDArray[Any] | None) -> float:
    if weights is None:
        return float(values.sum(dtype=np.float64))
    return float(values.ravel().astype(np.float64, copy=False) @ weights)
