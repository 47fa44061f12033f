"""Contours that another reader might have drawn, sampled from a probability.

A complex Gaussian field, smooth in space, has a phase that is uniform at every voxel. A voxel is in
the sample where the phase, turned by an angle, lies within the share p of the circle: with
probability p, exactly. Forty angles that share the circle evenly use one field, so that of each
forty samples 40 p hold a voxel, give or take one: the mean of whole rounds is p to 1/40 everywhere,
where as many independent samples would miss it by three times as much.

How much two samples differ follows from the probability alone, since they share p² of a voxel on
average. A vote of J readers knows its probability from these J only, and samples of it are too
much alike; so it is first widened until two samples overlap as two readers do. How far a sample
strays in one direction follows from the length of the field: it is chosen such that differences of
volume explain as much of the samples' disagreement as of the readers', drawn towards all of it by
the weight of one reader.
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
from itk_consensus.core.work import checkpoint
from itk_consensus.space.boxes import Box, bounding_box
from itk_consensus.space.gaussian import smooth_volume
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.pair_counts import PairCounts

Singles = NDArray[np.float32]

ROUND = 40
"""Samples that share a field."""

_HALVINGS = 10
_LENGTHS = 2.0 ** np.arange(-3, 3)
"""Lengths that are tried, in radii of a ball of the structure's volume."""
_TRIED = 14
_MOST_VOXELS_TRIED = 100_000


class VolumeInterval(NamedTuple):
    """A volume with its interval, in ml (mm² in 2D, voxels of arrays)."""

    estimate: float
    low: float
    high: float


class ReaderDifferences(NamedTuple):
    """How readers differ about a structure."""

    number: int  #: Of readers
    dice: float  #: Mean over pairs
    #: Share of their disagreement (1 - Dice) that differences of volume explain; 1: they draw the
    #: same contour, wider or tighter. NaN if they agree.
    one_sided: float


def reader_differences(overlap: Floats, sizes: Sequence[float]) -> ReaderDifferences:
    """How readers differ, from the Dice (J, J) of their masks and the size of each."""
    pairs = np.triu_indices(len(sizes), 1)
    volumes = np.asarray(sizes, float)
    total = np.add.outer(volumes, volumes)[pairs]
    apart = np.abs(np.subtract.outer(volumes, volumes)[pairs]) / np.maximum(total, 1)
    disagreement = float((1 - overlap[pairs]).mean())
    one_sided = float(apart.mean()) / disagreement if disagreement else np.nan
    return ReaderDifferences(len(sizes), 1 - disagreement, one_sided)


def differences_of_label(counts: PairCounts, label: int) -> ReaderDifferences:
    """How raters differ about a label, given by its index."""
    return reader_differences(counts.dice[label], counts.sizes[label].tolist())


def differences_of_masks(masks: Sequence[Mask]) -> ReaderDifferences:
    """How some masks differ."""
    flat = np.stack([mask.ravel() for mask in masks]).astype(np.float32)
    shared = flat @ flat.T
    sizes = np.diag(shared)
    overlap = dice_of(shared, np.add.outer(sizes, sizes))
    return reader_differences(np.asarray(overlap, np.float64), sizes.tolist())


@dataclass(frozen=True)
class SampleModel:
    """What samples are drawn from."""

    probability: Singles  #: (\\*box)
    box: Box  #: The part of the volume that can be marked
    spacing: tuple[float, ...]  #: Voxel size in mm, by array axis
    length: float  #: Correlation length of the field in mm; infinite: samples are nested
    readers: int
    seed: int

    def round_of(self, number: int) -> SampleRound:
        """The samples of one field; another seed or number gives others."""
        rng = np.random.default_rng([self.seed, number])
        real, imaginary = (self._field(rng) for _ in range(2))
        # The cosine of the angle up to which a voxel is in; beyond any angle where p is 0 or 1.
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
        """(number,) of samples, in voxels."""
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
    """A field, and the angles by which it is turned."""

    real: Singles
    imaginary: Singles
    reach: Singles
    turns: Floats  #: (ROUND,) in fortieths of a circle, in no order

    def at(self, places: Mask) -> SampleRound:
        """The samples at some voxels only."""
        return SampleRound(
            self.real[places], self.imaginary[places], self.reach[places], self.turns
        )

    def mask(self, index: int) -> Mask:
        """One sample."""
        checkpoint()
        angle = 2 * np.pi * self.turns[index] / ROUND
        turned = self.real * np.float32(np.cos(angle))
        turned -= self.imaginary * np.float32(np.sin(angle))
        return np.asarray(turned >= self.reach)


def gaussian_field(
    shape: Sequence[int], spacing: Sequence[float], length: float, rng: np.random.Generator
) -> Singles:
    """A stationary Gaussian field with the correlation exp(-d² / 2 length²), of any variance.

    White noise on nodes half a length apart, spread by a Gaussian along each axis.
    """
    spread = [_spreading(*axis, length) for axis in zip(shape, spacing, strict=True)]
    field = rng.standard_normal([matrix.shape[1] for matrix in spread], dtype=np.float32)
    for matrix in reversed(spread):
        # The axis that is spread comes first, so that in the end all are in their order.
        field = np.tensordot(matrix, field, (1, field.ndim - 1))
    return field


def _spreading(extent: int, step: float, length: float) -> Singles:
    """(extent, nodes) what each node adds to each voxel along an axis."""
    places = np.arange(extent) * step
    nodes = np.arange(-3 * length, places[-1] + 3 * length + length / 2, length / 2)
    away = (places[:, None] - nodes) / length
    return np.asarray(np.exp(-(away**2)), np.float32)


# -- fitting to readers ------------------------------------------------------------------------


def fit_samples(
    probability: NDArray[Any],
    spacing: Sequence[float],
    readers: ReaderDifferences,
    seed: int,
    *,
    widen: bool = True,
) -> SampleModel:
    """What samples are drawn from, such that they differ as readers do.

    Parameters
    ----------
    probability : ndarray
        Of the structure, anywhere above 0.
    widen : bool
        Whether the probability may be widened; otherwise samples return it as it is.
    """
    voxel, axes = prod(spacing), len(spacing)
    # Of a ball, or in two dimensions of a disc.
    unit_ball = 2 * np.pi * (axes - 1) / axes
    radius = float((probability.sum(dtype=np.float64) * voxel / unit_ball) ** (1 / axes))
    box = box_around(probability > 0, radius if widen else 0.0, spacing)
    inside = np.ascontiguousarray(probability[box], np.float32)
    if widen:
        # Samples of a round share a little less than independent ones.
        target = readers.dice + (1 - readers.dice) / ROUND
        inside = _widened(inside, spacing, target, radius)
    model = SampleModel(inside, box, tuple(spacing), inf, readers.number, seed)
    # As if one reader more differed from the others in volume alone: few readers see little.
    one_sided = (readers.one_sided * (readers.number - 1) + 1) / readers.number
    return _with_length(model, one_sided, radius)


def pooled(probability: NDArray[Any], most: int) -> tuple[NDArray[Any], int]:
    """Mean probability of cubes, and how many voxels long these are.

    They are as small as leaves so many, at most, in the box around the structure; those at the end
    of an axis reach beyond the volume.
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
    """The Dice that two samples have."""
    total = probability.sum(dtype=np.float64)
    return float((probability.astype(np.float64) ** 2).sum() / total)


def _widened(inside: Singles, spacing: Sequence[float], target: float, radius: float) -> Singles:
    """The probability, smoothed as little as makes samples of it overlap no more than wanted."""

    def smoothed(sigma: float) -> Singles:
        return np.asarray(
            smooth_volume(inside.copy(), [sigma / side for side in spacing], border="zero")
        )

    if _overlap(inside) <= target:
        return inside
    low, high = 0.0, radius / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _overlap(smoothed(middle)) > target else (low, middle)
    # Smoothing in single precision may leave what was 1 a little above it.
    return np.clip(smoothed(high), 0, 1)


def _with_length(model: SampleModel, one_sided: float, radius: float) -> SampleModel:
    """The same with the length at which samples differ in volume as much as readers."""
    if not one_sided < 1:
        return model
    coarse = _coarser(model)
    found = []
    for length in _LENGTHS * radius:
        tried = SampleModel(*coarse, length, model.readers, 0).round_of(0)
        found.append(differences_of_masks([tried.mask(k) for k in range(_TRIED)]).one_sided)
    rising = np.maximum.accumulate(np.nan_to_num(found, nan=1.0))
    if one_sided >= rising[-1]:
        return model
    length = float(np.exp(np.interp(one_sided, rising, np.log(_LENGTHS * radius))))
    return replace(model, length=length)


def _coarser(model: SampleModel) -> tuple[Singles, Box, tuple[float, ...]]:
    """Every so many-th voxel, which is enough to see what differs over a length."""
    voxels, axes = model.probability.size, model.probability.ndim
    stride = max(1, round((voxels / _MOST_VOXELS_TRIED) ** (1 / axes)))
    few = np.ascontiguousarray(model.probability[(slice(None, None, stride),) * axes])
    return few, model.box, tuple(side * stride for side in model.spacing)


# -- volumes -----------------------------------------------------------------------------------


def volume_interval(volumes: Floats, level: float, readers: int) -> VolumeInterval:
    """The interval in which another reader's volume is to be expected.

    Samples spread as the readers did; that these were few widens the interval as Student's
    prediction interval is wider than the normal one, on the logarithm of the volume.

    Parameters
    ----------
    volumes : ndarray
        Of samples.
    readers : int
        At least two.
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
