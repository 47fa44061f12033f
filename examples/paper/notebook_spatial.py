"""Spatial STAPLE as implemented in the paper's notebook, not in itk_consensus.

It differs from section 2.5: windows lie on a grid and later ones overwrite earlier ones, every
window is blended with the global estimate by its voxel count instead of eq. 2.5.4, the fields are
smoothed, and the prior stays at .5. The side of the notebook's windows is 20 % of the image's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from examples.paper.notebook_staple import POSTERIOR_RANGE, Votes, notebook_staple

Floats = NDArray[np.float64]

WINDOW = 0.2
KAPPA = 1.0
GLOBAL_ITERATIONS = 20
GLOBAL_DAMPING = 0.3
SMOOTHING = 2.0
FIELD_RANGE = (0.01, 0.99)
MAXIMUM_ITERATIONS = 30
TOLERANCE = 1e-5


def notebook_spatial_staple(raters: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Segment raters of shape (raters, rows, columns), starting from the mean of the masks."""
    overall = notebook_staple(
        Votes.of(raters), maximum_iterations=GLOBAL_ITERATIONS, damping=GLOBAL_DAMPING
    )
    votes_for, votes_against = raters.astype(float), (~raters).astype(float)
    posterior = votes_for.mean(axis=0)
    for _ in range(MAXIMUM_ITERATIONS):
        sensitivity = quality_field(votes_for, posterior, overall.sensitivity)
        specificity = quality_field(votes_against, 1 - posterior, overall.specificity)
        previous, posterior = posterior, e_step(votes_for, sensitivity, specificity)
        if np.abs(posterior - previous).mean() < TOLERANCE:
            break
    segmentation: NDArray[np.bool_] = posterior >= 0.5
    return segmentation


def quality_field(correct: Floats, weight: Floats, overall: Floats) -> Floats:
    """Return, window by window, the share of the (rows, columns) weights at which each rater is
    correct.
    """
    field = np.empty_like(correct)
    for window in windows(weight.shape):
        inside = weight[window]
        local = np.einsum("jyx,yx->j", correct[(..., *window)], inside) / inside.sum()
        blend = (KAPPA * overall + inside.size * local) / (KAPPA + inside.size)
        field[(..., *window)] = blend[:, np.newaxis, np.newaxis]
    return np.clip(gaussian_filter(field, (0, SMOOTHING, SMOOTHING)), *FIELD_RANGE)


def windows(shape: tuple[int, ...]) -> list[tuple[slice, slice]]:
    """Return half-overlapping windows from the top left, cropped at the far borders."""
    rows, columns = (
        [slice(start, start + size) for start in range(0, side, size // 2)]
        for side, size in ((side, int(WINDOW * side)) for side in shape)
    )
    return [(row, column) for row in rows for column in columns]


def e_step(votes_for: Floats, sensitivity: Floats, specificity: Floats) -> Floats:
    """Return the foreground posterior for a prior of .5."""
    foreground = np.where(votes_for, np.log(sensitivity), np.log1p(-sensitivity)).sum(axis=0)
    background = np.where(votes_for, np.log1p(-specificity), np.log(specificity)).sum(axis=0)
    posterior = np.exp(foreground - np.logaddexp(foreground, background))
    clipped: Floats = np.clip(posterior, *POSTERIOR_RANGE)
    return clipped
