"""Simulate raters with voxelwise label noise, given the true segmentation.

Every function returns a stack of shape (raters, \\*truth.shape). The order of random draws in
`paper_raters`, `spatial_raters` and `heterogeneous_raters` follows the paper's experiments and
must not change, since its tables are reproduced seed by seed. For raters with contour errors see
`contour_errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter, minimum_filter

from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import ParameterError

Quality = tuple[float, float]
"""Sensitivity and specificity."""
Seed = int | np.random.Generator
SpatialJitter = Literal["after", "none", "before"]

PAPER_SENSITIVITY = (0.75, 0.95)
PAPER_SPECIFICITY = (0.90, 0.99)
PAPER_MAXIMUM_JITTER = 3
SPATIAL_QUALITIES: tuple[Quality, Quality] = ((0.95, 0.98), (0.60, 0.80))
SPATIAL_MAXIMUM_JITTER = 2


def paper_raters(
    truth: Mask,
    number: int = 5,
    seed: int = 0,
    *,
    maximum_jitter: int = PAPER_MAXIMUM_JITTER,
    outlier: int | None = None,
) -> Mask:
    """Simulate the raters of section 3.2 as in the paper's notebook: boundary jitter, then noise.

    Noise depends on the *true* class of a voxel: true foreground is changed to background with
    probability 1 - sensitivity, true background is changed to foreground with probability
    1 - specificity, and every other voxel keeps the jittered value. `paper_qualities` returns the
    sensitivities and specificities that were drawn.

    Parameters
    ----------
    truth : ndarray of bool, any dimension
    maximum_jitter : int
        Largest half width in voxels of the dilating or eroding box; 0 for no jitter.
    outlier : int, optional
        Index of a rater replaced by a random one (the paper uses -1, the last).

    Returns
    -------
    ndarray of bool, shape (number, \\*truth.shape)
    """
    rng = np.random.default_rng(seed)
    qualities = _draw_qualities(rng, number)
    raters = np.empty((number, *truth.shape), bool)
    for rater, (s, t) in zip(raters, qualities.T, strict=True):
        contour = _jittered(truth, maximum_jitter, rng) if maximum_jitter > 0 else truth
        lost, added = rng.random(truth.shape) > s, rng.random(truth.shape) > t
        rater[...] = np.where(truth, contour & ~lost, contour | added)
    if outlier is not None:
        raters[outlier] = random_rater(truth, rng)
    return raters


def paper_qualities(
    number: int = 5, seed: int = 0, *, outlier: int | None = None
) -> NDArray[np.float64]:
    """Return the sensitivities (row 0) and specificities (row 1) that `paper_raters` draws."""
    qualities = _draw_qualities(np.random.default_rng(seed), number)
    if outlier is not None:
        qualities[:, outlier] = 0.5
    return qualities


def spatial_raters(
    truth: Mask, number: int = 6, seed: int = 0, jitter: SpatialJitter = "after"
) -> Mask:
    """Simulate raters who are better in one half of the last axis than in the other (Experiment 4).

    The first half of the raters is good on the left and poor on the right, the rest reversed.

    Parameters
    ----------
    jitter : {'after', 'none', 'before'}
        'after' is the order of the notebook: a random half of the raters dilates its *noisy* mask.
        'before' is the order of the text (section 3.2): dilate or erode the true mask, then add
        noise.

    Returns
    -------
    ndarray of bool, shape (number, \\*truth.shape)
    """
    if jitter not in get_args(SpatialJitter):
        raise ParameterError(
            f"spatial_raters: jitter must be 'after', 'none' or 'before', got {jitter!r}"
        )
    rng = np.random.default_rng(seed)
    middle = truth.shape[-1] // 2
    halves = np.s_[..., :middle], np.s_[..., middle:]
    raters = np.empty((number, *truth.shape), bool)
    for index, rater in enumerate(raters):
        rater[...] = _jittered(truth, SPATIAL_MAXIMUM_JITTER, rng) if jitter == "before" else truth
        qualities = SPATIAL_QUALITIES if index < number // 2 else SPATIAL_QUALITIES[::-1]
        for half, (s, t) in zip(halves, qualities, strict=True):
            _add_noise(rater[half], truth[half], s, t, rng)
        if jitter == "after":
            size = _draw_box_size(SPATIAL_MAXIMUM_JITTER, rng)
            if rng.random() > 0.5:
                rater[...] = _dilated(rater, size)
    return raters


def heterogeneous_raters(truth: Mask, seed: int, qualities: Sequence[Quality]) -> Mask:
    """Simulate raters with independent voxel noise only, each with its own performance.

    These raters satisfy the model of STAPLE exactly.
    """
    rng = np.random.default_rng(seed)
    draws = ((rng.random(truth.shape), s, t) for s, t in qualities)
    return np.array([np.where(truth, u < s, u > t) for u, s, t in draws])


def random_rater(truth: Mask, seed: Seed = 0) -> Mask:
    """Return the paper's outlier: the true mask with every voxel flipped with probability one
    half.
    """
    return np.where(np.random.default_rng(seed).random(truth.shape) < 0.5, truth, ~truth)


def confusion_raters(
    truth: NDArray[Any], confusions: ArrayLike, seed: Seed = 0, labels: ArrayLike | None = None
) -> NDArray[Any]:
    """Simulate multi-class raters whose voxelwise errors each follow a confusion matrix.

    Parameters
    ----------
    truth : ndarray of integer labels
    confusions : array_like, shape (raters, K, K)
        ``confusions[j, d, t]`` is the probability that rater j assigns label `d` if the true label
        is `t` (section 2.1.3); columns sum to 1.
    labels : array_like of K ints, ascending, optional
        Label values of the rows and columns; by default those present in `truth`.

    Returns
    -------
    ndarray of truth.dtype, shape (raters, \\*truth.shape)
    """
    values = np.unique(truth) if labels is None else np.asarray(labels, truth.dtype)
    thetas = _checked_confusions(np.asarray(confusions, float), values.size)
    column = _label_indices(truth, values)
    rng = np.random.default_rng(seed)
    raters = np.empty((len(thetas), *truth.shape), truth.dtype)
    for rater, theta in zip(raters, thetas, strict=True):
        u = rng.random(truth.shape)
        row = np.zeros(truth.shape, np.intp)
        for bound in np.cumsum(theta, axis=0)[:-1]:
            row += u >= bound[column]
        rater[...] = values[row]
    return raters


def multilabel_raters(
    truth: NDArray[Any],
    number: int = 5,
    seed: int = 0,
    *,
    outlier: int | None = None,
) -> NDArray[Any]:
    """Simulate multi-class raters with uniformly drawn accuracies and equally likely wrong labels.

    The rater with index `outlier` chooses labels at random.
    """
    rng = np.random.default_rng(seed)
    labels = np.unique(truth)
    accuracies = rng.uniform(*PAPER_SENSITIVITY, number)
    if outlier is not None:
        accuracies[outlier] = 1 / labels.size
    confusions = [uniform_confusion(labels.size, a) for a in accuracies]
    return confusion_raters(truth, confusions, rng, labels)


def uniform_confusion(number_of_labels: int, accuracy: float) -> NDArray[np.float64]:
    """Return the (K, K) confusion matrix with `accuracy` on its diagonal and equal errors
    elsewhere.
    """
    if number_of_labels == 1:
        return np.ones((1, 1))
    confusion = np.full((number_of_labels,) * 2, (1 - accuracy) / (number_of_labels - 1))
    np.fill_diagonal(confusion, accuracy)
    return confusion


def _draw_qualities(rng: np.random.Generator, number: int) -> NDArray[np.float64]:
    return np.array([rng.uniform(*of, number) for of in (PAPER_SENSITIVITY, PAPER_SPECIFICITY)])


def _draw_box_size(maximum_jitter: int, rng: np.random.Generator) -> int:
    return 2 * int(rng.integers(1, maximum_jitter + 1)) + 1


def _jittered(truth: Mask, maximum_jitter: int, rng: np.random.Generator) -> Mask:
    size = _draw_box_size(maximum_jitter, rng)
    change: Callable[[Mask, int], Mask] = _dilated if rng.random() > 0.5 else _eroded
    return change(truth, size)


# A box is separable, so unlike in binary_dilation the cost does not depend on its size.
def _dilated(mask: Mask, size: int) -> Mask:
    dilated: Mask = maximum_filter(mask, size, mode="constant", cval=0)
    return dilated


def _eroded(mask: Mask, size: int) -> Mask:
    eroded: Mask = minimum_filter(mask, size, mode="constant", cval=0)
    return eroded


def _add_noise(rater: Mask, truth: Mask, s: float, t: float, rng: np.random.Generator) -> None:
    """Flip voxels in place: first true foreground to 0, then true background to 1."""
    foreground, background = truth, ~truth
    rater[foreground] &= rng.random(np.count_nonzero(foreground)) <= s
    rater[background] |= rng.random(np.count_nonzero(background)) > t


def _label_indices(truth: NDArray[Any], values: NDArray[Any]) -> NDArray[np.intp]:
    indices = np.searchsorted(values, truth).clip(max=values.size - 1)
    if (values[indices] != truth).any():
        raise ParameterError(
            "confusion_raters: labels must be ascending and hold every label of truth, "
            f"got {values.tolist()} for {np.unique(truth).tolist()}"
        )
    return indices


def _checked_confusions(thetas: NDArray[np.float64], classes: int) -> NDArray[np.float64]:
    if thetas.ndim != 3 or thetas.shape[1:] != (classes, classes):
        raise ParameterError(
            f"confusion_raters: confusions must have shape (raters, {classes}, {classes}) for "
            f"{classes} labels, got {thetas.shape}"
        )
    if thetas.min() < 0 or not np.allclose(thetas.sum(axis=1), 1):
        raise ParameterError(
            "confusion_raters: confusions must be probabilities whose columns sum to 1, "
            f"got columns summing to {thetas.sum(axis=1).tolist()}"
        )
    return thetas
