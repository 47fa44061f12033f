"""Cohorts for training image-aware consensus: random shapes, images, and raters with errors.

The easy cohort resembles that of "When Does Consensus Beat Voting?" (section 4.6), but all true
segmentations differ; thresholding the image is sufficient to find them. The hard cohort has two
nested structures, a distractor, texture, and raters with spatially correlated errors, so neither
the image nor the votes alone are sufficient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itk_consensus.core.array_types import Mask
from itk_consensus.core.errors import ParameterError

Shape = Sequence[int]
Field = NDArray[np.float32]

_ORGAN, _LESION = 1, 2
_SMALLEST_SIDE = 20
_NOWHERE = -9.0
"""Signed distance to an absent structure."""


class Cohort(NamedTuple):
    """Images, truths and raters' labels of several cases."""

    images: NDArray[np.float32]  #: (N, 1, ...)
    truths: NDArray[np.int64]  #: (N, ...)
    labels: NDArray[np.int64]  #: (N, A, ...) labels of each of the A raters


class RaterSkill(NamedTuple):
    """Errors of a rater of the hard cohort, as distances in voxels and probabilities."""

    bias: float
    wobble: float
    misses_lesion: float
    invents_blob: float
    voxel_noise: float


KNOWN_RATERS = (
    RaterSkill(0.0, 1.0, 0.02, 0.02, 0.002),
    RaterSkill(1.5, 1.5, 0.05, 0.10, 0.004),
    RaterSkill(-1.5, 1.5, 0.10, 0.05, 0.004),
    RaterSkill(0.5, 3.0, 0.15, 0.25, 0.01),
    RaterSkill(2.5, 4.0, 0.3, 0.4, 0.03),
)
UNSEEN_RATERS = (
    RaterSkill(-0.5, 1.2, 0.03, 0.05, 0.003),
    RaterSkill(2.0, 2.0, 0.05, 0.15, 0.004),
    RaterSkill(-2.5, 2.5, 0.2, 0.05, 0.01),
    RaterSkill(0.0, 4.0, 0.3, 0.4, 0.03),
    RaterSkill(0.8, 1.5, 0.05, 0.05, 0.004),
)


def easy_cohort(
    number: int,
    seed: int,
    shape: Shape = (64, 64),
    number_of_raters: int = 5,
    outlier_share: float = 0.2,
) -> Cohort:
    """Simulate bright ellipses of random size and position, with raters as in the paper.

    In a fraction `outlier_share` of the cases the last rater's labels are random.
    """
    _check("easy_cohort", number, shape, 2)
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(number):
        truth = _random_ellipse(rng, shape, 0.14, 0.3)
        image = 0.7 * truth + 0.08 * rng.standard_normal(shape)
        raters = [
            _easy_rater(rng, truth, outlier_share if rater == number_of_raters - 1 else None)
            for rater in range(number_of_raters)
        ]
        cases.append((image, truth, raters))
    return _cohort(cases)


def hard_cohort(
    number: int,
    seed: int,
    shape: Shape = (64, 64),
    number_of_classes: int = 3,
    raters: Sequence[RaterSkill] = KNOWN_RATERS,
    outlier_share: float = 0.2,
    contrast: float = 0.35,
) -> Cohort:
    """Simulate irregular organs with an inner lesion, texture and a distractor.

    Parameters
    ----------
    number_of_classes : int
        3 includes the lesion; 2 omits it.
    raters : sequence of RaterSkill
        The raters. In a fraction `outlier_share` of the cases, most voxels of the last rater are
        random.
    """
    _check("hard_cohort", number, shape, _SMALLEST_SIDE)
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(number):
        organ, lesion = _organ_and_lesion(rng, shape, number_of_classes)
        truth = _as_labels(lesion > 0, organ > 0)
        image = _textured_image(rng, truth, contrast)
        drawn = [
            _hard_rater(
                rng,
                (organ, lesion),
                skill,
                number_of_classes,
                outlier_share if position == len(raters) - 1 else None,
            )
            for position, skill in enumerate(raters)
        ]
        cases.append((image, truth, drawn))
    cohort = _cohort(cases)
    axes = tuple(range(1, cohort.images.ndim))
    images = cohort.images
    centred = images - images.mean(axes, keepdims=True)
    return cohort._replace(images=centred / images.std(axes, keepdims=True))


def _check(function: str, number: int, shape: Shape, smallest: int) -> None:
    if number < 1 or min(shape) < smallest:
        raise ParameterError(
            f"needs at least 1 case with sides of {smallest} voxels, "
            f"got {number} with {tuple(shape)}",
            owner=function,
        )


def _cohort(cases: Sequence[tuple[Any, Any, Any]]) -> Cohort:
    images, truths, labels = zip(*cases, strict=True)
    return Cohort(
        np.asarray(images, np.float32)[:, None],
        np.asarray(truths, np.int64),
        np.asarray(labels, np.int64),
    )


def _easy_rater(rng: np.random.Generator, truth: Mask, outlier_share: float | None) -> Mask:
    sensitivity, specificity = rng.uniform(0.75, 0.95), rng.uniform(0.85, 0.98)
    if outlier_share is not None and rng.random() < outlier_share:
        sensitivity = specificity = 0.5
    side = 2 * int(rng.integers(1, 3)) + 1
    box = np.ones((side,) * truth.ndim, bool)
    change = ndimage.binary_dilation if rng.random() < 0.5 else ndimage.binary_erosion
    moved = change(truth, box)
    draw = rng.random(truth.shape)
    return np.where(moved, draw < sensitivity, draw < 1 - specificity)


def _organ_and_lesion(
    rng: np.random.Generator, shape: Shape, number_of_classes: int
) -> tuple[Field, Field]:
    """Return the signed distances (positive inside) of organ and lesion."""
    organ = _inside_distance(_random_ellipse(rng, shape, 0.18, 0.3)) + 2.0 * _random_field(
        rng, shape, 5
    )
    if number_of_classes <= 2:
        return organ, np.full(shape, _NOWHERE, np.float32)
    core = np.argwhere(organ > np.percentile(organ[organ > 0], 50))
    center = core[rng.integers(len(core))]
    radius = shape[0] * rng.uniform(0.06, 0.13)
    lesion = radius - np.sqrt(_squared_distance(shape, center)) + _random_field(rng, shape, 3)
    return organ, np.minimum(lesion, organ)


def _textured_image(
    rng: np.random.Generator, truth: NDArray[Any], contrast: float
) -> NDArray[np.float64]:
    levels = np.array([0.0, contrast, 2 * contrast], np.float32)
    base = levels[truth]
    blob = _inside_distance(_random_ellipse(rng, truth.shape, 0.05, 0.1))
    shift = [int(side * rng.choice([-0.33, 0.33])) for side in truth.shape]
    blob = np.roll(blob, shift, tuple(range(truth.ndim)))
    base = np.where((blob > 0) & (truth == 0), contrast * rng.uniform(0.6, 1.2), base)
    image = (
        ndimage.gaussian_filter(base, 1.5)
        + 0.12 * _random_field(rng, truth.shape, 1.5)
        + 0.12 * _random_field(rng, truth.shape, 6)
        + 0.08 * rng.standard_normal(truth.shape)
    )
    gain = rng.uniform(0.8, 1.2)
    scaled: NDArray[np.float64] = image * gain + rng.uniform(-0.1, 0.1)
    return scaled


def _hard_rater(
    rng: np.random.Generator,
    distances: tuple[Field, Field],
    skill: RaterSkill,
    number_of_classes: int,
    outlier_share: float | None,
) -> NDArray[Any]:
    organ, lesion = distances
    shape = organ.shape
    drawn = organ + skill.bias + skill.wobble * _random_field(rng, shape, 4) > 0
    if rng.random() < skill.invents_blob:
        center = [rng.integers(6, side - 6) for side in shape]
        radius = shape[0] * rng.uniform(0.05, 0.1)
        drawn = drawn | (_squared_distance(shape, center) < radius**2)
    inner = np.zeros(shape, bool)
    if number_of_classes > 2 and rng.random() > skill.misses_lesion:
        inner = lesion + 0.6 * skill.bias + 0.6 * skill.wobble * _random_field(rng, shape, 3) > 0
    noise = skill.voxel_noise
    if outlier_share is not None and rng.random() < outlier_share:
        noise = 1.0 if number_of_classes == 2 else 0.6
    random_voxels = rng.random(shape) < noise
    anything = rng.integers(0, number_of_classes, shape)
    return np.where(random_voxels, anything, _as_labels(inner, drawn))


def _as_labels(lesion: Mask, organ: Mask) -> NDArray[Any]:
    return np.where(lesion, _LESION, np.where(organ, _ORGAN, 0))


def _random_ellipse(rng: np.random.Generator, shape: Shape, low: float, high: float) -> Mask:
    """Return an ellipsoid near the centre with semi-axes of `low` to `high` times the sides."""
    squared_radius = np.zeros(())
    for x, side in zip(np.indices(shape), shape, strict=True):
        center = side * rng.uniform(0.4, 0.6)
        squared_radius = squared_radius + ((x - center) / (side * rng.uniform(low, high))) ** 2
    return squared_radius <= 1


def _random_field(rng: np.random.Generator, shape: Shape, smoothness: float) -> Field:
    """Return smooth noise of unit variance with periodic borders."""
    field = ndimage.gaussian_filter(rng.standard_normal(shape), smoothness, mode="wrap")
    return np.asarray(field / field.std(), np.float32)


def _inside_distance(mask: Mask) -> Field:
    inside = ndimage.distance_transform_edt(mask) - ndimage.distance_transform_edt(~mask)
    return np.asarray(inside, np.float32)


def _squared_distance(shape: Shape, center: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    squares = [(x - c) ** 2 for x, c in zip(np.indices(shape), center, strict=True)]
    return np.asarray(np.sum(squares, axis=0))
