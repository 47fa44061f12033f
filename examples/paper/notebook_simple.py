"""SIMPLE and the hybrid as implemented in the paper's notebook, not in itk_consensus.

The edge gate of section 2.6 multiplies the weights of all raters at a voxel by the same factor,
which cancels out in the weighted mean: the image has no effect, so it is not a parameter here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, binary_erosion, uniform_filter

from examples.paper.notebook_staple import Votes, majority_vote, notebook_staple_d

Floats = NDArray[np.float64]

PATCH = 7
LOCAL_SHARE = 0.8
GLOBAL_SHARE = 0.2
ITERATIONS = 10
TOLERANCE = 1e-5
BAND = 3
TINY = 1e-8


def notebook_simple(raters: NDArray[np.bool_], iterations: int = ITERATIONS) -> NDArray[np.bool_]:
    """Segment raters of shape (raters, \\*shape) as in section 2.6, starting from their mean."""
    masks = raters.astype(float)
    consensus = masks.mean(axis=0)
    for _ in range(iterations):
        local = np.array([(local_correlation(mask, consensus) + 1) / 2 for mask in masks])
        overall = local.mean(axis=tuple(range(1, local.ndim)), keepdims=True)
        weights = LOCAL_SHARE * local + GLOBAL_SHARE * overall / overall.sum()
        previous, consensus = consensus, (weights * masks).sum(axis=0) / weights.sum(axis=0)
        if np.abs(consensus - previous).mean() < TOLERANCE:
            break
    segmentation: NDArray[np.bool_] = consensus >= 0.5
    return segmentation


def local_correlation(first: Floats, second: Floats) -> Floats:
    """Return the normalised cross-correlation in a patch around each voxel; 0 if either is
    constant.
    """
    means = mean_in_patch(first), mean_in_patch(second)
    covariance = mean_in_patch(first * second) - means[0] * means[1]
    deviations = (
        np.sqrt(np.maximum(mean_in_patch(values**2) - mean**2, 0))
        for values, mean in zip((first, second), means, strict=True)
    )
    correlation: Floats = np.clip(covariance / (np.prod(list(deviations), axis=0) + TINY), -1, 1)
    return correlation


def mean_in_patch(values: Floats) -> Floats:
    """Return the mean over the patch around each voxel, with mirrored borders."""
    mean: Floats = uniform_filter(values, PATCH)
    return mean


def notebook_hybrid(raters: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Run STAPLE-D, with SIMPLE between the vote's three-fold dilation and erosion."""
    vote = majority_vote(raters)
    band = binary_dilation(vote, iterations=BAND) & ~binary_erosion(vote, iterations=BAND)
    interior = notebook_staple_d(Votes.of(raters)).segmentation
    return np.where(band, notebook_simple(raters), interior)
