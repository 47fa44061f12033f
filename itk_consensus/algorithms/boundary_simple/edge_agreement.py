"""An edge gate that acts: raters whose contour lies on edges of the image count more.

The gate of section 2.6 has one value per voxel for all raters and cancels in their weighted mean.
Here the gradient magnitude is correlated with each rater's own contour, so the gate differs
between raters and favours those who drew where the image changes. Correlations are by running
sums in a patch around each disputed voxel, which ends at the border, at the mask and where a rater
did not annotate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.labels.box_sum import box_sum
from itk_consensus.labels.boxes import Box, grown, in_space, relative_to, space_axes
from itk_consensus.labels.disputed_voxels import DisputedVoxels
from itk_consensus.labels.tiles import TRUNCATE, half_gaussian

#: Products of standard deviations below this are rounding errors of constant patches.
_CONSTANT = 1e-9


class Patches:
    """Means over what some raters annotated of the patch around each disputed voxel.

    Attributes
    ----------
    raters : list of int
        The raters, all of whom annotated the same voxels.
    """

    def __init__(self, voxels: DisputedVoxels, radii: tuple[int, ...], raters: list[int]) -> None:
        self.raters = raters
        self._voxels, self._radii = voxels, radii
        annotated = voxels.patterns.present[:, raters[0]]
        # Outside the mask volumes are zero already.
        self._annotated = None if annotated.all() else voxels.expand(annotated)
        self._count = np.maximum(self._sum(voxels.expand(annotated.astype(np.float64))), 1.0)

    def mean(self, volume: Floats) -> Floats:
        """(N,) means of a volume of the box's shape, zero outside the mask; overwrites it."""
        if self._annotated is not None:
            volume *= self._annotated
        return self._sum(volume) / self._count

    def mean_and_variance(self, volume: Floats) -> tuple[Floats, Floats]:
        """(N,) means and variances of a volume, which is kept."""
        mean = self.mean(volume.copy())
        return mean, np.maximum(self.mean(volume**2) - mean**2, 0.0)

    def _sum(self, volume: Floats) -> Floats:
        threads = self._voxels.patterns.threads
        return self._voxels.take(box_sum(volume, self._radii, threads=threads))


def patches_of_raters(voxels: DisputedVoxels, radii: tuple[int, ...]) -> list[Patches]:
    """One member per group of raters who annotated the same voxels, since they share means."""
    groups: dict[bytes, list[int]] = {}
    present = voxels.patterns.present
    for rater in range(present.shape[1]):
        groups.setdefault(present[:, rater].tobytes(), []).append(rater)
    return [Patches(voxels, radii, raters) for raters in groups.values()]


def correlation(covariance: Floats, variance: Floats, other_variance: Floats) -> Floats:
    """Covariance over standard deviations, from -1 to 1; 0 where either patch is constant."""
    norm = np.sqrt(variance * other_variance)
    ratio = np.divide(covariance, norm, out=np.zeros_like(norm), where=norm > _CONSTANT)
    return np.clip(ratio, -1.0, 1.0)


#: Standard deviations after which the Gaussian is cut off.
_TRUNCATE = 4.0


def edge_agreement(
    voxels: DisputedVoxels,
    image: NDArray[np.float64],
    radii: tuple[int, ...],
    spacing: Sequence[float],
    scale: float,
) -> Floats:
    """Correlation, in a patch, of each rater's contour with the edges of an image.

    Parameters
    ----------
    voxels : DisputedVoxels
        In a box with a margin of `radii`.
    image : ndarray of the whole volume's shape
    radii : tuple of int
        Half width of the patch in voxels per array axis.
    spacing : sequence of float
        Voxel size per array axis.
    scale : float
        Standard deviation, in mm, of the smoothing before the gradient is taken.

    Returns
    -------
    (J, N) ndarray
        From 0, where a rater's contour has nothing to do with the edges around a disputed voxel
        or is not there at all, to 1.
    """
    patterns = voxels.patterns
    edges = edge_strength(image, voxels.region, spacing, scale)
    agreement = np.zeros((patterns.number_of_raters, len(voxels.places)))
    for patches in patches_of_raters(voxels, radii):
        mean, variance = patches.mean_and_variance(edges)
        for rater in patches.raters:
            contour = _contour(voxels.expand(patterns.patterns[:, rater]))
            own = patches.mean(contour.astype(np.float64))
            covariance = patches.mean(contour * edges) - own * mean
            agreement[rater] = correlation(covariance, own - own**2, variance)
    return np.maximum(agreement, 0.0)


def edge_strength(
    image: NDArray[np.float64], region: Box, spacing: Sequence[float], scale: float
) -> Floats:
    """Gradient magnitude of the smoothed image in a box, in units of its own spread there."""
    sigmas = in_space([scale / size for size in spacing], 0.0)
    # One voxel more than the Gaussian reaches, for the difference between neighbours.
    reach = [int(_TRUNCATE * sigma + 0.5) + int(sigma > 0) for sigma in sigmas]
    wide = grown(region, reach, image.shape)
    smooth = mirrored_gaussian(image[wide], sigmas, _TRUNCATE)
    squared = np.zeros(smooth.shape)
    for axis in space_axes(smooth.ndim):
        if smooth.shape[axis] > 1:
            squared += np.gradient(smooth, spacing[axis], axis=axis) ** 2
    strength = np.sqrt(squared[relative_to(region, wide)])
    spread = strength.std(dtype=np.float64) if strength.size else 0.0
    return np.asarray(strength / spread if spread > 0 else np.zeros_like(strength))


def _contour(labels: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Voxels with a face neighbour of another label, on both sides of every contour."""
    contour = np.zeros(labels.shape, dtype=bool)
    for axis in space_axes(labels.ndim):
        along, marked = np.moveaxis(labels, axis, 0), np.moveaxis(contour, axis, 0)
        step = along[1:] != along[:-1]
        marked[1:] |= step
        marked[:-1] |= step
    return contour


def mirrored_gaussian(
    volume: NDArray[Any], sigmas: Sequence[float], truncate: float = TRUNCATE
) -> Floats:
    """Smooth along every axis, as scipy's `gaussian_filter` does by default.

    Parameters
    ----------
    volume : ndarray
    sigmas : sequence of float
        Standard deviation per axis, in voxels; 0: not smoothed.
    truncate : float
        Standard deviations after which the Gaussian is cut off.
    """
    smooth = np.array(volume, dtype=np.float64)
    for axis, sigma in enumerate(sigmas):
        if sigma > 0 and smooth.shape[axis] > 0:
            weights = folded_weights(sigma, truncate, smooth.shape[axis])
            smooth = scipy.ndimage.correlate1d(smooth, weights, axis, mode="reflect")
    return smooth


def folded_weights(sigma: float, truncate: float, extent: int) -> Floats:
    """(2 r + 1,) weights of a Gaussian, r <= extent; those that reach farther are folded back.

    A voxel that lies farther away than the image is wide shows what another, nearer one shows,
    since a mirrored image repeats itself.
    """
    half = half_gaussian(sigma, truncate)
    weights = np.concatenate([half[:0:-1], half])
    reach = len(half) - 1
    if reach <= extent:
        return weights
    places = (np.arange(-reach, reach + 1) + extent) % (2 * extent)
    return np.asarray(np.bincount(places, weights, 2 * extent + 1), dtype=np.float64)
