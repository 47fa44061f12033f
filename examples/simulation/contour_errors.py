"""Simulate raters with smooth contour errors like those of clinicians, without voxel noise.

Each label has a signed distance. A rater adds to each distance a constant bias and a smooth random
field, and assigns a voxel to the label with the largest result. Thus contours move smoothly,
touching structures remain in contact, and no label appears far from its structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt, find_objects, gaussian_filter, map_coordinates

from itk_consensus.core.errors import ParameterError
from itk_consensus.space.boxes import Box, grow_box

NODES_PER_LENGTH = 2
"""Coarse nodes per correlation length: interpolating between them loses < 4 % of the spread."""

REACH = 5.0
"""Standard deviations a contour may move; voxels farther from every contour are left alone."""


class _LabelDistance(NamedTuple):
    """Signed distance (positive inside) to a label, at the points that may be assigned to it."""

    value: Any
    points: NDArray[np.intp]
    distance: NDArray[np.float32]


class _ContourBand(NamedTuple):
    """The voxels near a contour, the only ones whose label a rater can change."""

    box: Box
    where: tuple[NDArray[np.intp], ...]
    position: NDArray[np.float64]
    labels: list[_LabelDistance]


def contour_error_raters(
    truth: NDArray[Any],
    number: int = 5,
    seed: int = 0,
    *,
    displacement: float | Sequence[float] = 1.5,
    bias: float | Sequence[float] = 0.7,
    smoothness: float = 12.0,
    spacing: Sequence[float] | None = None,
) -> NDArray[Any]:
    """Simulate raters with smoothly displaced contours, for binary or multi-label segmentations.

    Parameters
    ----------
    truth : ndarray of bool or integer labels, any dimension
    displacement : float or one per rater
        Standard deviation of the contour's displacement along its normal, in units of `spacing`.
        Give one rater a large value to make it an outlier.
    bias : float or one per rater
        Standard deviation of each rater's constant displacement of a label's contour (over- or
        under-segmentation).
    smoothness : float
        Correlation length of the displacement. It should be well above `displacement`, since a
        steep field tears contours apart.
    spacing : sequence of float, optional
        Voxel sides in array axis order; 1 by default.

    Returns
    -------
    ndarray of truth.dtype, shape (number, \\*truth.shape)
        With scalar parameters, increasing `number` does not change the first raters.
    """
    sides = np.ones(truth.ndim) if spacing is None else np.asarray(spacing, float)
    if sides.shape != (truth.ndim,) or (sides <= 0).any():
        raise ParameterError(
            f"contour_error_raters: spacing must be {truth.ndim} positive numbers, got {spacing}"
        )
    if smoothness <= 0:
        raise ParameterError(f"contour_error_raters: smoothness must be > 0, got {smoothness}")
    spreads = np.stack(
        [_per_rater("displacement", displacement, number), _per_rater("bias", bias, number)], axis=1
    )
    raters = np.repeat(truth[np.newaxis], number, axis=0)
    if (truth == truth.flat[0]).all():
        return raters
    band = _contour_band(truth, sides, REACH * float(np.hypot(*spreads.T).max(initial=0)))
    extent = sides * truth.shape
    rng = np.random.default_rng(seed)
    for rater, (local, constant) in zip(raters, spreads, strict=True):
        errors = (
            constant * rng.standard_normal()
            + local * smooth_field(band.position[:, label.points], extent, smoothness, rng)
            for label in band.labels
        )
        rater[band.box][band.where] = _largest_distance(band, errors, truth.dtype)
    return raters


def smooth_field(
    position: NDArray[np.float64],
    extent: NDArray[np.float64],
    smoothness: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Sample a stationary Gaussian random field of unit variance at the given points.

    White noise is smoothed on a coarse grid over the whole extent, so the cost is one linear
    interpolation per point, and the field does not depend on the requested points.

    Parameters
    ----------
    position : ndarray, shape (dimensions, points)
        Coordinates between 0 and `extent`, in the unit of `smoothness`.
    extent : ndarray, shape (dimensions,)
    smoothness : float
        Sigma of the smoothing kernel.

    Returns
    -------
    ndarray, shape (points,)
    """
    step = smoothness / NODES_PER_LENGTH
    margin = 4 * NODES_PER_LENGTH  # keeps opposite sides of the periodic grid independent
    nodes = np.ceil(extent / step).astype(int) + margin
    noise = gaussian_filter(rng.standard_normal(nodes), NODES_PER_LENGTH, mode="wrap")
    # A Gaussian kernel of sigma s leaves white noise with variance 1 / (2 s sqrt(pi)) per axis.
    noise *= (2 * NODES_PER_LENGTH * np.sqrt(np.pi)) ** (extent.size / 2)
    field: NDArray[np.float64] = map_coordinates(noise, position / step, order=1)
    return field


def _largest_distance(
    band: _ContourBand, errors: Iterable[NDArray[np.float64]], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return the label of every band voxel, given one array of distance errors per label."""
    best = np.full(band.position.shape[1], -np.inf)
    winner = np.empty(best.shape, dtype)
    for (value, points, distance), error in zip(band.labels, errors, strict=True):
        # A contour lies where two perturbed distances are equal, hence moves by half the
        # difference of their errors: independent errors with standard deviation sqrt(2) displace
        # it with standard deviation 1.
        score = distance + np.sqrt(2) * error
        better = score > best[points]
        winner[points[better]] = value
        best[points[better]] = score[better]
    return winner


def _per_rater(parameter: str, value: float | Sequence[float], number: int) -> NDArray[np.float64]:
    values = np.asarray(value, float)
    if values.shape not in ((), (number,)) or (values < 0).any():
        raise ParameterError(
            f"contour_error_raters: {parameter} must be a number >= 0 or {number} of them, "
            f"got {value}"
        )
    return np.broadcast_to(values, number)


def _contour_band(truth: NDArray[Any], sides: NDArray[np.float64], reach: float) -> _ContourBand:
    margin = np.ceil(reach / sides).astype(int) + 1
    box = _padded_box(truth != truth.flat[0], margin)
    region = truth[box]
    # Use twice the reach: where a nearer label recedes, one behind it may take its place.
    outside = [_distance_outside(region, value, 2 * margin, sides) for value in np.unique(region)]
    inside = np.full(region.shape, np.inf, np.float32)
    for _, part, distance in outside:
        np.minimum(inside[part], distance, out=inside[part], where=distance > 0)
    where = np.nonzero(inside <= reach + sides.max())
    position = (np.array(where) + [[part.start] for part in box]) * sides[:, np.newaxis]
    half_voxel = sides.min() / 2
    labels = []
    for value, part, distance in outside:
        signed = np.full(region.shape, -np.inf, np.float32)
        signed[part] = np.where(distance > 0, half_voxel - distance, inside[part] - half_voxel)
        at_band = signed[where]
        points = np.flatnonzero(at_band > -np.inf)
        labels.append(_LabelDistance(value, points, at_band[points]))
    return _ContourBand(box, where, position, labels)


def _distance_outside(
    region: NDArray[Any], value: Any, margin: NDArray[np.int_], sides: NDArray[np.float64]
) -> tuple[Any, Box, NDArray[np.float32]]:
    """Return the distance to the nearest voxel of a label (0 inside) within a margin around it."""
    mask = region == value
    box = _padded_box(mask, margin)
    return value, box, distance_transform_edt(~mask[box], sampling=sides).astype(np.float32)


def _padded_box(mask: NDArray[np.bool_], margin: NDArray[np.int_]) -> Box:
    return grow_box(find_objects(mask.view(np.uint8))[0], margin.tolist(), mask.shape)
