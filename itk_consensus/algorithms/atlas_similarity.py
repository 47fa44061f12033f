"""How much atlases look like the target: around every voxel, or in a whole region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.atlas_images import ComparableImages, Singles, each
from itk_consensus.array_types import Floats
from itk_consensus.labels.box_sum import box_sum

#: By what images are compared. A correlation forgives any local scale, but has noise to go by
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
    *,
    threads: int | None = None,
) -> list[Singles]:
    """Weight of each atlas at every voxel, by the box of these radii; 0 for a missing one.

    (mean squared difference + smallest)^-power, or (correlation + smallest)^power: where images say
    nothing all are much the same, and atlases count alike.
    """
    squared = similarity == "squared difference"
    compare = mean_squared_differences if squared else correlations

    def weight(one: Singles) -> Singles:
        if squared:
            return np.asarray(np.reciprocal((one + np.float32(SMALLEST_DIFFERENCE**2)) ** power))
        return np.asarray((np.maximum(one, 0) + np.float32(SMALLEST_CORRELATION)) ** power)

    found = each(compare(images, radii, threads=threads), weight, threads)
    return [np.zeros_like(images.target) if one is None else one for one in found]


def mean_squared_differences(
    images: ComparableImages, radii: Sequence[int], *, threads: int | None = None
) -> list[Singles | None]:
    """Of each atlas, in the box of these radii around every voxel, clipped at the border."""
    voxels = _voxels(images, radii, threads)

    def mean(atlas: Singles) -> Singles:
        squares = atlas - images.target
        np.square(squares, out=squares)
        return np.asarray(box_sum(squares, radii, threads=1) / voxels, np.float32)

    return each(images.atlases, mean, threads)


def correlations(
    images: ComparableImages, radii: Sequence[int], *, threads: int | None = None
) -> list[Singles | None]:
    """Normalised correlation of each atlas with the target, in the same boxes.

    Variances count as at least the square of the smallest difference, so that flat tissue does not
    correlate.
    """
    voxels = _voxels(images, radii, threads)
    floor = SMALLEST_DIFFERENCE**2
    target = images.target.astype(np.float64)

    def mean(values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(box_sum(values, radii, threads=1) / voxels)

    target_mean = mean(target.copy())
    target_variance = np.maximum(mean(target * target) - target_mean**2, 0) + floor

    def correlation(atlas: Singles) -> Singles:
        own = atlas.astype(np.float64)
        own_mean = mean(own.copy())
        variance = np.maximum(mean(own * own) - own_mean**2, 0) + floor
        covariance = mean(own * target) - own_mean * target_mean
        return np.asarray(covariance / np.sqrt(variance * target_variance), np.float32)

    return each(images.atlases, correlation, threads)


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


def _voxels(images: ComparableImages, radii: Sequence[int], threads: int | None) -> Singles:
    return box_sum(np.ones(images.target.shape, np.float32), radii, threads=threads)
