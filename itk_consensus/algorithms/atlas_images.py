"""Images of atlases beside the image they were warped to: made comparable, and compared.

Atlas and target are matched globally, by the line through their quantiles, and a smooth bias is
taken out of both. Patches are not normalised one by one: where tissue is flat that would compare
noise with noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.labels.box_sum import box_sum
from itk_consensus.labels.boxes import Box
from itk_consensus.labels.gaussian import smooth_volume

Singles = NDArray[np.float32]

#: Quantiles that intensities are matched by: outliers of either image do not count.
_QUANTILES = np.linspace(0.02, 0.98, 49)

#: Differences below this share of the target's spread are none.
SMALLEST_DIFFERENCE = 0.01


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
    *,
    threads: int | None = None,
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
    goal = np.quantile(target, _QUANTILES)
    spread = float(goal[-1] - goal[0]) or 1.0

    def flat(image: NDArray[Any], slope: float, offset: float) -> Singles:
        scaled = np.ascontiguousarray(image * (slope / spread) + offset / spread, np.float32)
        if bias_sigmas is None:
            return scaled
        smooth = smooth_volume(scaled.copy(), bias_sigmas, threads=threads)
        scaled -= smooth
        return scaled

    return ComparableImages(
        flat(target, 1.0, 0.0),
        [None if image is None else flat(image, *_line(image, goal)) for image in atlases],
    )


def _line(image: NDArray[Any], goal: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and offset that take the image's quantiles to the target's, least squares."""
    own = np.quantile(image, _QUANTILES)
    centred = own - own.mean()
    variance = float(centred @ centred)
    slope = float(centred @ goal) / variance if variance > 0 else 0.0
    return slope, float(goal.mean() - slope * own.mean())


def mean_squared_differences(
    images: ComparableImages, radii: Sequence[int], *, threads: int | None = None
) -> list[Singles | None]:
    """Of each atlas, in the box of these radii around every voxel, clipped at the border."""
    voxels = box_sum(np.ones(images.target.shape, np.float32), radii, threads=threads)

    def mean(atlas: Singles) -> Singles:
        squares = np.ascontiguousarray(np.square(atlas - images.target))
        box_sum(squares, radii, threads=threads)
        squares /= voxels
        return squares

    return [None if atlas is None else mean(atlas) for atlas in images.atlases]


def similarity_weights(differences: Sequence[Singles | None], power: float) -> list[Singles]:
    """(difference + smallest)^-power of each atlas; 0 for a missing one.

    Where images say nothing all differences are much the same, and atlases count alike.
    """
    shape = next(one.shape for one in differences if one is not None)
    return [
        np.zeros(shape, np.float32) if one is None else (one + SMALLEST_DIFFERENCE**2) ** -power
        for one in differences
    ]
