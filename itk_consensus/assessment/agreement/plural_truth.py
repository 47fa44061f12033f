"""Scores of a probability, or of samples, against several readers, none of whom is the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.errors import InputError
from itk_consensus.votes.overlap import dice

#: Thresholds of QUBIQ (Menze et al., 2020), at which probability and share of readers are cut.
THRESHOLDS = tuple(number / 10 for number in range(1, 10))
BINS = 10
# A share of 7 in 10 readers is not to fall below .7 by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class PluralTruth:
    """How well a probability tells what several readers draw."""

    threshold_dice: float  #: Dice with the share of readers, averaged over thresholds (QUBIQ)
    calibration_error: float  #: Expected calibration error against the share of readers
    #: Generalised energy distance between samples and readers, by 1 - IoU; NaN without samples.
    energy_distance: float
    #: Continuous ranked probability score of the volume, mean over readers, in voxels' units.
    volume_crps: float


def threshold_averaged_dice(probability: NDArray[Any], share: NDArray[Any]) -> float:
    """Mean Dice of a probability and the share of readers, both cut at .1, .2, ... .9."""
    return float(
        np.mean([dice(*(m >= cut - _ROUNDING for m in (probability, share))) for cut in THRESHOLDS])
    )


def plural_calibration_error(probability: NDArray[Any], share: NDArray[Any]) -> float:
    """Mean difference of probability and share of readers over bins of ten percent.

    Where neither a reader nor the probability marks anything is left out.
    """
    where = (probability > 0) | (share > 0)
    p, said = probability[where].astype(np.float64), share[where].astype(np.float64)
    if not p.size:
        return 0.0
    bins = np.minimum((p * BINS + _ROUNDING).astype(int), BINS - 1)
    differences = np.bincount(bins, p - said, BINS)
    return float(np.abs(differences).sum() / p.size)


def energy_distance(samples: Sequence[Mask], readers: Sequence[Mask]) -> float:
    """Generalised energy distance ``2 E d(s, r) - E d(s, s') - E d(r, r')``, d being 1 - IoU.

    Over all pairs, also of a mask with itself (Kohl et al., NeurIPS 2018); 0: the same masks.
    """
    between, among, apart = (
        float((1 - _overlaps(one, other)).mean())
        for one, other in ((samples, readers), (samples, samples), (readers, readers))
    )
    return 2 * between - among - apart


def _overlaps(ones: Sequence[Mask], others: Sequence[Mask]) -> Floats:
    """(N, M) intersection over union; 1 where both are empty."""
    first, second = (
        np.stack([np.asarray(mask).ravel() for mask in masks]).astype(np.float64)
        for masks in (ones, others)
    )
    shared = first @ second.T
    union = np.add.outer(first.sum(axis=1), second.sum(axis=1)) - shared
    return np.asarray(np.divide(shared, union, out=np.ones_like(shared), where=union > 0))


def crps(samples: ArrayLike, observed: float) -> float:
    """Continuous ranked probability score of samples of a number.

    ``E|X - y| - E|X - X'| / 2``: 0 is perfect, of one sample it is the absolute error. CURVAS
    scores volumes so.
    """
    values = np.sort(np.asarray(samples, np.float64).ravel())
    if not values.size:
        raise InputError("crps: samples must be at least one number, got none")
    number = values.size
    # Of sorted values the sum of all differences is a weighted sum.
    weights = 2 * np.arange(number) - number + 1
    spread = 2 * float(weights @ values) / number**2
    return float(np.abs(values - observed).mean()) - spread / 2


def plural_truth(
    probability: NDArray[Any], readers: Sequence[Mask], samples: Sequence[Mask] = ()
) -> PluralTruth:
    """Every score; those that need samples are NaN without them.

    Parameters
    ----------
    probability : ndarray
        Of the structure at each voxel.
    readers, samples : sequences of bool ndarrays
        On the same grid.
    """
    share = np.mean(np.stack(readers), axis=0)
    volumes = [np.count_nonzero(sample) for sample in samples]
    nothing = not len(samples)
    return PluralTruth(
        threshold_averaged_dice(probability, share),
        plural_calibration_error(probability, share),
        np.nan if nothing else energy_distance(samples, readers),
        np.nan
        if nothing
        else float(np.mean([crps(volumes, float(np.count_nonzero(reader))) for reader in readers])),
    )
