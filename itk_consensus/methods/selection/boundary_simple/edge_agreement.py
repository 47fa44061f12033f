"""An edge gate: raters whose contour lies on edges of the image get more weight.

The gate of section 2.6 has one value per voxel for all raters and cancels in their weighted mean.
Here the gradient magnitude is correlated with each rater's own contour, so the gate differs
between raters and favours those who drew where the image changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import report
from itk_consensus.methods.selection.boundary_simple.local_correlation import (
    Patches,
    correlation,
    raters_by_gaps,
)
from itk_consensus.space.boxes import Box, grown, in_space, relative_to, space_axes
from itk_consensus.space.smoothing import mirrored_gaussian
from itk_consensus.votes.disputed_voxels import DisputedVoxels

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
    for raters in raters_by_gaps(patterns):
        patches = Patches(voxels, radii, raters)
        mean, variance = patches.mean_and_variance(edges)
        for rater in raters:
            report(0.0)
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
