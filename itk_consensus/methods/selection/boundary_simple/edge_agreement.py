"""Edge gate, which increases the weights of raters whose contours lie on edges of the image.

The gate of section 2.6 of "When Does Consensus Beat Voting?" has one value per voxel for all
raters, so it cancels in their weighted mean. Here the gradient magnitude is correlated with each
rater's own contour, so the gate differs between raters and favours those whose contours follow
edges.
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
from itk_consensus.space.boxes import Box, grow_box, in_space, relative_to, space_axes
from itk_consensus.space.smoothing import mirrored_gaussian
from itk_consensus.votes.disputed_voxels import DisputedVoxels

#: Number of standard deviations at which the Gaussian is truncated.
_TRUNCATE = 4.0


def edge_agreement(
    voxels: DisputedVoxels,
    image: NDArray[np.float64],
    radii: tuple[int, ...],
    spacing: Sequence[float],
    scale: float,
) -> Floats:
    """Correlate each rater's contour with the edges of an image, in a patch around each voxel.

    Parameters
    ----------
    voxels : DisputedVoxels
        Disputed voxels, whose box must have a margin of `radii`.
    image : ndarray of the whole volume's shape
    radii : tuple of int
        Half width of the patch in voxels per array axis.
    spacing : sequence of float
        Voxel size per array axis.
    scale : float
        Standard deviation, in mm, for smoothing before the gradient is computed.

    Returns
    -------
    (J, N) ndarray
        Correlation from 0 to 1; 0 if it is negative, or if the patch has no contour of the rater.
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
    """Return the gradient magnitude of the smoothed image in a box, divided by its standard
    deviation in that box.
    """
    sigmas = in_space([scale / size for size in spacing], 0.0)
    # Radius of the Gaussian, plus one voxel for the gradient.
    reach = [int(_TRUNCATE * sigma + 0.5) + int(sigma > 0) for sigma in sigmas]
    wide = grow_box(region, reach, image.shape)
    smooth = mirrored_gaussian(image[wide], sigmas, _TRUNCATE)
    squared = np.zeros(smooth.shape)
    for axis in space_axes(smooth.ndim):
        if smooth.shape[axis] > 1:
            squared += np.gradient(smooth, spacing[axis], axis=axis) ** 2
    strength = np.sqrt(squared[relative_to(region, wide)])
    spread = strength.std(dtype=np.float64) if strength.size else 0.0
    return np.asarray(strength / spread if spread > 0 else np.zeros_like(strength))


def _contour(labels: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return a mask of voxels with a face neighbour of another label, on both sides of contours."""
    contour = np.zeros(labels.shape, dtype=bool)
    for axis in space_axes(labels.ndim):
        along, marked = np.moveaxis(labels, axis, 0), np.moveaxis(contour, axis, 0)
        step = along[1:] != along[:-1]
        marked[1:] |= step
        marked[:-1] |= step
    return contour
