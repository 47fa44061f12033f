"""Random segmentations that another rater might have drawn, sampled from a probability map.

A smooth complex Gaussian random field has a uniformly distributed phase at every voxel. A sample
contains a voxel if the phase, rotated by an angle, lies within a fraction p of the circle, which
has probability p exactly. Forty equidistant angles share one field, so 40 p of these forty samples,
give or take one, contain a voxel: the mean of complete rounds equals p to within 1/40, which is a
third of the error of as many independent samples.

How much two samples differ depends only on the probability, since both contain a voxel with
probability p² on average. The vote fractions of J raters reflect only these J raters, and samples
drawn from them are too similar; the fractions are therefore first widened until two samples overlap
as much as two raters do. The correlation length of the field determines how far a sample deviates
in one direction. It is chosen such that differences in volume explain the same fraction of the
disagreement between samples as between raters, where the latter is shrunk towards 1 with the weight
of one rater.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, isfinite, prod
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.calibration.probabilities import box_around
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.blas_threads import blas_threads
from itk_consensus.core.work import checkpoint
from itk_consensus.space.boxes import Box, bounding_box
from itk_consensus.space.gaussian import smooth_volume
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.pair_counts import PairCounts

Singles = NDArray[np.float32]

ROUND = 40
"""Number of samples that share a field."""

_HALVINGS = 10
_LENGTHS = 2.0 ** np.arange(-3, 3)
"""Candidate correlation lengths, in radii of a ball of the structure's volume."""
_TRIED = 14
_MOST_VOXELS_TRIED = 100_000


class VolumeInterval(NamedTuple):
    """A volume with its interval, in ml (2D: mm²; arrays: voxels)."""

    estimate: float
    low: float
    high: float


class ReaderDifferences(NamedTuple):
    """How the raters differ on a structure."""

    number: int  #: Number of raters
    dice: float  #: Mean Dice over pairs of raters
    #: Fraction of their disagreement (1 - Dice) explained by differences in volume; 1 if they draw
    #: the same contour, only larger or smaller. NaN if they agree.
    one_sided: float


def reader_differences(overlap: Floats, sizes: Sequence[float]) -> ReaderDifferences:
    """Compute how raters differ, from the (J, J) Dice of their masks and the mask sizes."""
    pairs = np.triu_indices(len(sizes), 1)
    volumes = np.asarray(sizes, float)
    total = np.add.outer(volumes, volumes)[pairs]
    apart = np.abs(np.subtract.outer(volumes, volumes)[pairs]) / np.maximum(total, 1)
    disagreement = float((1 - overlap[pairs]).mean())
    one_sided = float(apart.mean()) / disagreement if disagreement else np.nan
    return ReaderDifferences(len(sizes), 1 - disagreement, one_sided)


def differences_of_label(counts: PairCounts, label: int) -> ReaderDifferences:
    """Compute how raters differ on the label with the given index."""
    return reader_differences(counts.dice[label], counts.sizes[label].tolist())


def differences_of_masks(masks: Sequence[Mask]) -> ReaderDifferences:
    """Compute how masks differ."""
    flat = np.stack([mask.ravel() for mask in masks]).astype(np.float32)
    shared = flat @ flat.T
    sizes = np.diag(shared)
    overlap = dice_of(shared, np.add.outer(sizes, sizes))
    return reader_differences(np.asarray(overlap, np.float64), sizes.tolist())


@dataclass(frozen=True)
class SampleModel:
    """The random model of samples: a probability, and the correlation length of a field."""

    probability: Singles  #: (\\*box) probability of the structure
    box: Box  #: Bounding box of the voxels with a probability above 0
    spacing: tuple[float, ...]  #: Voxel size in mm, by array axis
    length: float  #: Correlation length of the field in mm; if infinite, samples are nested
    readers: int
    seed: int

    def round_of(self, number: int) -> SampleRound:
        """Return the samples that share one random field, which depends on the seed and on
        `number`.
        """
        rng = np.random.default_rng([self.seed, number])
        real, imaginary = (self._field(rng) for _ in range(2))
        # Cosine of the angle up to which a voxel is inside; beyond [-1, 1] where p is 0 or 1.
        reach = np.cos(np.pi * self.probability)
        reach[self.probability <= 0] = 2
        reach[self.probability >= 1] = -2
        reach *= np.hypot(real, imaginary)
        turns: Floats = rng.permutation(ROUND) + rng.random(1)
        return SampleRound(real, imaginary, reach, turns)

    def _field(self, rng: np.random.Generator) -> Singles:
        if not isfinite(self.length):
            return np.full(self.probability.shape, rng.standard_normal(), np.float32)
        return gaussian_field(self.probability.shape, self.spacing, self.length, rng)

    def volumes(self, number: int) -> Floats:
        """Return the (number,) volumes of the samples, in voxels."""
        found = []
        doubtful = (self.probability > 0) & (self.probability < 1)
        certain = np.count_nonzero(self.probability >= 1)
        for index in range(number):
            if index % ROUND == 0:
                current = self.round_of(index // ROUND).at(doubtful)
            found.append(certain + np.count_nonzero(current.mask(index % ROUND)))
        return np.array(found, float)


@dataclass(frozen=True)
class SampleRound:
    """A random field, and the angles by which it is rotated."""

    real: Singles
    imaginary: Singles
    reach: Singles
    turns: Floats  #: (ROUND,) angles in fortieths of a turn, in random order

    def at(self, places: Mask) -> SampleRound:
        """Restrict the samples to the given voxels."""
        return SampleRound(
            self.real[places], self.imaginary[places], self.reach[places], self.turns
        )

    def mask(self, index: int) -> Mask:
        """Return the mask of one sample."""
        checkpoint()
        angle = 2 * np.pi * self.turns[index] / ROUND
        turned = self.real * np.float32(np.cos(angle))
        turned -= self.imaginary * np.float32(np.sin(angle))
        return np.asarray(turned >= self.reach)


def gaussian_field(
    shape: Sequence[int], spacing: Sequence[float], length: float, rng: np.random.Generator
) -> Singles:
    """Return a stationary Gaussian field with correlation exp(-d² / 2 length²).

    White noise on nodes spaced half a correlation length apart is convolved with a Gaussian along
    each axis. The variance is arbitrary.
    """
    spread = [_gaussian_weights(*axis, length) for axis in zip(shape, spacing, strict=True)]
    field = rng.standard_normal([matrix.shape[1] for matrix in spread], dtype=np.float32)
    with blas_threads(1):  # with more threads, more time would be spent waiting than working
        for matrix in reversed(spread):
            # The contracted axis becomes the first one, so after all contractions the order is
            # restored.
            field = np.tensordot(matrix, field, (1, field.ndim - 1))
    return field


def _gaussian_weights(extent: int, step: float, length: float) -> Singles:
    """Return the (extent, nodes) weights of the nodes at each voxel along an axis."""
    places = np.arange(extent) * step
    nodes = np.arange(-3 * length, places[-1] + 3 * length + length / 2, length / 2)
    away = (places[:, None] - nodes) / length
    return np.asarray(np.exp(-(away**2)), np.float32)


# -- fitting to raters -------------------------------------------------------------------------


def fit_samples(
    probability: NDArray[Any],
    spacing: Sequence[float],
    readers: ReaderDifferences,
    seed: int,
    *,
    widen: bool = True,
) -> SampleModel:
    """Fit a model whose samples differ as much as raters do.

    Parameters
    ----------
    probability : ndarray
        Probability of the structure, above 0 somewhere.
    widen : bool
        Whether the probability may be widened; otherwise it is the mean of the samples.
    """
    voxel, axes = prod(spacing), len(spacing)
    # Volume of the unit ball, or area of the unit disc in 2D.
    unit_ball = 2 * np.pi * (axes - 1) / axes
    radius = float((probability.sum(dtype=np.float64) * voxel / unit_ball) ** (1 / axes))
    box = box_around(probability > 0, radius if widen else 0.0, spacing)
    inside = np.ascontiguousarray(probability[box], np.float32)
    if widen:
        # Samples of one round overlap slightly less than independent ones.
        target = readers.dice + (1 - readers.dice) / ROUND
        inside = _widen(inside, spacing, target, radius)
    model = SampleModel(inside, box, tuple(spacing), inf, readers.number, seed)
    # Shrinkage is equivalent to adding one rater who differs from the others only in volume.
    one_sided = (readers.one_sided * (readers.number - 1) + 1) / readers.number
    return _fit_length(model, one_sided, radius)


def pool_blocks(probability: NDArray[Any], most: int) -> tuple[NDArray[Any], int]:
    """Average a probability over cubic blocks; return it and the side of a block in voxels.

    Blocks are as small as possible such that the box around the structure contains at most `most`
    of them; the last block along an axis is padded with 0.
    """
    box = bounding_box(probability > 0)
    extent = 0 if box is None else prod(side.stop - side.start for side in box)
    side = ceil(max(1.0, extent / most) ** (1 / probability.ndim))
    if side > 1:
        for axis, size in enumerate(probability.shape):
            starts = np.arange(0, size, side)
            probability = np.add.reduceat(probability, starts, axis) / side
    return probability, side


def _overlap(probability: Singles) -> float:
    """Return the expected Dice of two samples."""
    total = probability.sum(dtype=np.float64)
    return float((probability.astype(np.float64) ** 2).sum() / total)


def _widen(inside: Singles, spacing: Sequence[float], target: float, radius: float) -> Singles:
    """Smooth a probability just enough to reduce the overlap of two samples to the target."""

    def smooth(sigma: float) -> Singles:
        return np.asarray(
            smooth_volume(inside.copy(), [sigma / side for side in spacing], border="zero")
        )

    if _overlap(inside) <= target:
        return inside
    low, high = 0.0, radius / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _overlap(smooth(middle)) > target else (low, middle)
    # Smoothing in single precision may exceed 1 slightly.
    return np.clip(smooth(high), 0, 1)


def _fit_length(model: SampleModel, one_sided: float, radius: float) -> SampleModel:
    """Set the correlation length at which samples differ in volume as much as raters do."""
    if not one_sided < 1:
        return model
    coarse = _downsample(model)
    found = []
    for length in _LENGTHS * radius:
        tried = SampleModel(*coarse, length, model.readers, 0).round_of(0)
        found.append(differences_of_masks([tried.mask(k) for k in range(_TRIED)]).one_sided)
    rising = np.maximum.accumulate(np.nan_to_num(found, nan=1.0))
    if one_sided >= rising[-1]:
        return model
    length = float(np.exp(np.interp(one_sided, rising, np.log(_LENGTHS * radius))))
    return replace(model, length=length)


def _downsample(model: SampleModel) -> tuple[Singles, Box, tuple[float, ...]]:
    """Subsample the probability, which is accurate enough to compare correlation lengths."""
    voxels, axes = model.probability.size, model.probability.ndim
    stride = max(1, round((voxels / _MOST_VOXELS_TRIED) ** (1 / axes)))
    few = np.ascontiguousarray(model.probability[(slice(None, None, stride),) * axes])
    return few, model.box, tuple(side * stride for side in model.spacing)


# -- volumes -----------------------------------------------------------------------------------


def volume_interval(volumes: Floats, level: float, readers: int) -> VolumeInterval:
    """Return a prediction interval for another rater's volume.

    Samples vary as the raters did; to account for the small number of raters, the interval of their
    log volumes is widened by the ratio of Student's prediction interval to the normal one.

    Parameters
    ----------
    volumes : ndarray
        Volumes of the samples.
    readers : int
        Number of raters, at least two.
    """
    tail = (1 - level) / 2
    student = scipy.special.stdtrit(readers - 1, 1 - tail)
    few = student / scipy.special.ndtri(1 - tail) * np.sqrt(1 + 1 / readers)
    low, middle, high = np.quantile(volumes, [tail, 0.5, 1 - tail])
    if middle <= 0:
        return VolumeInterval(float(volumes.mean()), 0.0, float(high))
    return VolumeInterval(
        float(volumes.mean()),
        float(middle * (low / middle) ** few),
        float(middle * (high / middle) ** few),
    )
