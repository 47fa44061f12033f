"""Images of atlases beside the image they were warped to, made comparable; how alike they look.

Atlas and target are matched globally, by the line through their quantiles, and a smooth bias is
taken out of both. Patches are not normalised one by one: where tissue is flat that would compare
noise with noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.neighbourhood.box_sum import box_sum
from itk_consensus.neighbourhood.boxes import Box
from itk_consensus.neighbourhood.gaussian import smooth_volume
from itk_consensus.work import in_threads

Singles = NDArray[np.float32]
Image = TypeVar("Image")
Made = TypeVar("Made")

#: Quantiles that intensities are matched by: outliers of either image do not count.
_QUANTILES = np.linspace(0.02, 0.98, 49)

#: Quantiles are taken of about as many voxels, spread over the image.
_SAMPLE = 1 << 17

#: A bias is smoothed on blocks of so many standard deviations, and linear between them.
_BIAS_STEP = 0.5


class ComparableImages(NamedTuple):
    """A target and its atlases, in units of the target's spread; None for a missing atlas."""

    target: Singles
    atlases: list[Singles | None]

    def crop(self, box: Box) -> ComparableImages:
        """A part of all of them."""
        return ComparableImages(
            self.target[box], [None if atlas is None else atlas[box] for atlas in self.atlases]
        )


def comparable(
    target: NDArray[Any],
    atlases: Sequence[NDArray[Any] | None],
    bias_sigmas: Sequence[float] | None,
) -> ComparableImages:
    """Match intensities to the target's and take a smooth bias out of all.

    Parameters
    ----------
    target : ndarray of finite numbers
    atlases : sequence of ndarray or None
        Of the target's shape.
    bias_sigmas : sequence of float, or None
        Standard deviation, in voxels per axis, of the Gaussian that is subtracted; None: nothing.
    """
    goal = _quantiles(target)
    spread = float(goal[-1] - goal[0]) or 1.0

    def flat(image: NDArray[Any]) -> Singles:
        slope, offset = (1.0, 0.0) if image is target else _line(_quantiles(image), goal)
        scaled = np.ascontiguousarray(image, np.float32) * np.float32(slope / spread)
        scaled += np.float32(offset / spread)
        if bias_sigmas is not None:
            scaled -= smooth_part(scaled, bias_sigmas)
        return scaled

    first, *others = each([target, *atlases], flat)
    assert first is not None
    return ComparableImages(first, others)


def each(images: Sequence[Image | None], make: Callable[[Image], Made]) -> list[Made | None]:
    """What is made of each image, several at a time; None stays None."""
    return list(in_threads(lambda image: None if image is None else make(image), images))


def _quantiles(image: NDArray[Any]) -> NDArray[np.float64]:
    step = math.ceil((image.size / _SAMPLE) ** (1 / image.ndim))
    # Counted from the middle: a mirrored image has the same sample.
    from_middle = (np.abs(2 * np.arange(size) - (size - 1)) for size in image.shape)
    sample = image[np.ix_(*(steps // 2 % step == 0 for steps in from_middle))]
    return np.asarray(np.quantile(sample, _QUANTILES), dtype=np.float64)


def _line(own: NDArray[np.float64], goal: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and offset that take an image's quantiles to the target's, least squares."""
    centred = own - own.mean()
    variance = float(centred @ centred)
    slope = float(centred @ goal) / variance if variance > 0 else 0.0
    return slope, float(goal.mean() - slope * own.mean())


def smooth_part(image: Singles, sigmas: Sequence[float]) -> Singles:
    """What a wide Gaussian leaves of an image: of means over blocks, and linear between them.

    Beyond the border the last block goes on; a standard deviation of 0 leaves its axis alone.
    """
    edges = [_block_edges(size, sigma) for size, sigma in zip(image.shape, sigmas, strict=True)]
    smooth = image
    for axis, of_axis in enumerate(edges):
        smooth = np.add.reduceat(smooth, of_axis[:-1], axis=axis)
        smooth /= _along(np.diff(of_axis), axis, image.ndim)
    smooth = np.ascontiguousarray(smooth)
    sides = np.divide(image.shape, smooth.shape)  # of a block, in voxels
    smooth_volume(smooth, (np.asarray(sigmas) / sides).tolist())
    # Rows first: the largest copies are then those of whole planes.
    for axis in reversed(range(image.ndim)):
        smooth = _between_blocks(smooth, edges[axis], axis)
    return smooth


def _block_edges(size: int, sigma: float) -> NDArray[np.intp]:
    """Where blocks of an axis begin, and its end: the same from both ends of it."""
    number = -(-size // max(1, int(_BIAS_STEP * sigma)))
    # An odd number of voxels has no middle between two blocks.
    number += size % 2 and 1 - number % 2
    half = np.arange(number // 2 + 1) * size // number
    return np.union1d(half, size - half)


def _between_blocks(coarse: Singles, edges: NDArray[np.intp], axis: int) -> Singles:
    """Values of all voxels of an axis, linear between the centres of its blocks."""
    size = int(edges[-1])
    if len(edges) == size + 1:
        return coarse
    centres = (edges[:-1] + edges[1:] - 1) / 2
    places = np.interp(np.arange(size), centres, np.arange(len(centres)))
    before = places.astype(np.intp)
    after = np.minimum(before + 1, len(centres) - 1)
    share = _along(places - before, axis, coarse.ndim)
    fine = np.take(coarse, before, axis)
    step = np.take(coarse, after, axis)
    step -= fine
    step *= share
    fine += step
    return fine


def _along(values: NDArray[Any], axis: int, dimension: int) -> Singles:
    """Values along one axis of a volume, to be broadcast over the others."""
    shape = [1] * dimension
    shape[axis] = len(values)
    return values.astype(np.float32).reshape(shape)


#: How images are compared. A correlation forgives any local scale, but has noise to go by
#: where tissue is flat.
Similarity = Literal["squared difference", "normalised correlation"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)

#: Differences below this share of the target's spread are none.
SMALLEST_DIFFERENCE = 0.01

#: Correlations below this say nothing.
SMALLEST_CORRELATION = 0.05


def local_weights(
    images: ComparableImages,
    radii: Sequence[int],
    similarity: Similarity,
    power: float,
) -> list[Singles]:
    """Weight of each atlas at every voxel, by the box of these radii; 0 for a missing one.

    (mean squared difference + smallest)^-power, or (correlation + smallest)^power: where images say
    nothing all are much the same, and atlases count alike.
    """
    squared = similarity == "squared difference"
    compare = mean_squared_differences if squared else correlations

    def weight(one: Singles) -> Singles:
        if squared:
            # In units of the smallest, below which nothing tells atlases apart, and never zero.
            smallest = np.float32(SMALLEST_DIFFERENCE**2)
            weights = (1 + one / smallest) ** np.float32(-power)
            return np.asarray(np.maximum(weights, np.finfo(np.float32).tiny))
        return np.asarray((np.maximum(one, 0) + np.float32(SMALLEST_CORRELATION)) ** power)

    found = each(compare(images, radii), weight)
    return [np.zeros_like(images.target) if one is None else one for one in found]


def mean_squared_differences(
    images: ComparableImages, radii: Sequence[int]
) -> list[Singles | None]:
    """Of each atlas, in the box of these radii around every voxel, clipped at the border."""
    voxels = _voxels(images, radii)

    def mean(atlas: Singles) -> Singles:
        squares = atlas - images.target
        np.square(squares, out=squares)
        return np.asarray(box_sum(squares, radii) / voxels, np.float32)

    return each(images.atlases, mean)


def correlations(images: ComparableImages, radii: Sequence[int]) -> list[Singles | None]:
    """Normalised correlation of each atlas with the target, in the same boxes.

    Variances count as at least the square of the smallest difference, so that flat tissue does not
    correlate.
    """
    voxels = _voxels(images, radii)
    floor = SMALLEST_DIFFERENCE**2
    target = images.target.astype(np.float64)

    def mean(values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(box_sum(values, radii) / voxels)

    target_mean = mean(target.copy())
    target_variance = np.maximum(mean(target * target) - target_mean**2, 0) + floor

    def correlation(atlas: Singles) -> Singles:
        own = atlas.astype(np.float64)
        own_mean = mean(own.copy())
        variance = np.maximum(mean(own * own) - own_mean**2, 0) + floor
        covariance = mean(own * target) - own_mean * target_mean
        return np.asarray(covariance / np.sqrt(variance * target_variance), np.float32)

    return each(images.atlases, correlation)


def region_similarities(
    images: ComparableImages, region: NDArray[np.bool_] | None, similarity: Similarity
) -> Floats:
    """(J,) similarity of each atlas over a region, higher being more alike; NaN for a missing one.

    The mean squared difference counts negative.
    """
    where: Any = ... if region is None else region
    target = images.target[where].astype(np.float64).ravel()

    def one(atlas: Singles | None) -> float:
        if atlas is None:
            return float("nan")
        own = atlas[where].astype(np.float64).ravel()
        if similarity == "squared difference":
            return -float(np.mean(np.square(own - target)))
        spread = float(own.std() * target.std())
        return float(np.mean((own - own.mean()) * (target - target.mean())) / max(spread, 1e-300))

    return np.array([one(atlas) for atlas in images.atlases])


def most_similar(similarities: Floats, number: int) -> Floats:
    """(J,) weight 1 for the most similar atlases, the first of equals, and 0 for all others."""
    ranked = np.argsort(-np.nan_to_num(similarities, nan=-np.inf), kind="stable")
    weights = np.zeros(len(similarities))
    weights[ranked[:number]] = 1.0
    weights[np.isnan(similarities)] = 0.0
    return weights


def _voxels(images: ComparableImages, radii: Sequence[int]) -> Singles:
    return box_sum(np.ones(images.target.shape, np.float32), radii)
