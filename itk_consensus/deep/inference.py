"""Sliding-window inference on windows with requested voxels, blended where they overlap.

The windows lie on a fixed grid over the whole volume. All windows that cover a requested voxel are
computed, so the result at a voxel does not depend on which others are requested.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from itk_consensus.core.errors import TrainingError
from itk_consensus.deep.cases import Case, as_batch, crop
from itk_consensus.deep.model import ConsensusModel, on_device
from itk_consensus.deep.network import one_hot, round_up
from itk_consensus.space.boxes import Box, relative_to
from itk_consensus.votes.disputed_voxels import chunks

#: Lower bound of blending weights, since some voxels are covered only by corners of windows.
_SMALLEST_WEIGHT = np.float32(1e-3)
#: Batch size on a GPU. On a CPU it is 1, which is as fast and makes results reproducible.
_WINDOWS_AT_ONCE = 4


@dataclass(frozen=True)
class Prediction:
    """The network's prediction inside a box; it is valid at the requested voxels."""

    box: Box  #: Position in the volume
    probability: NDArray[np.float32]  #: (K, *B)
    evidence: NDArray[np.float32]  #: (*B)


def predict(
    model: ConsensusModel,
    case: Case,
    asked: NDArray[np.bool_],
    *,
    window: Sequence[int],
    overlap: float,
    rater_weight: float,
    mixed_precision: bool,
    progress: Callable[[float], None],
) -> Prediction:
    """Predict class probabilities and evidence at the requested voxels.

    Parameters
    ----------
    asked : ndarray of bool
        The requested voxels.
    window : sequence of int
        Size of a window in array axis order.
    overlap : float
        Overlap of neighbouring windows, as a fraction of the window.
    progress : callable
        Called with the fraction done; may raise to abort.
    """
    windows = [box for box in window_grid(asked.shape, window, overlap) if asked[box].any()]
    box = _hull(windows, asked.ndim)
    shape = [side.stop - side.start for side in box]
    total = np.zeros((len(model.labels) + 1, *shape), np.float32)
    weight = np.zeros(shape, np.float32)
    at_once = 1 if model.device.type == "cpu" else _WINDOWS_AT_ONCE
    for part in chunks(len(windows), at_once):
        places = windows[part]
        answers = _predict_windows(model, case, places, rater_weight, mixed_precision)
        for place, answer in zip(places, answers, strict=True):
            inside = relative_to(place, box)
            bell = _bell(tuple(answer.shape[1:]))
            total[(slice(None), *inside)] += bell * answer
            weight[inside] += bell
        progress(part.stop / len(windows))
    np.divide(total, weight, out=total, where=weight > 0)
    return Prediction(box, total[:-1], total[-1])


def requested_voxels(
    disputed: NDArray[np.bool_], spacing: Sequence[float], margin: float | None
) -> NDArray[np.bool_]:
    """Return the disputed voxels and those within a margin in mm of them; all voxels if
    margin is None.
    """
    if margin is None:
        return np.ones_like(disputed)
    if margin == 0 or not disputed.any():
        return disputed
    return np.asarray(distance_transform_edt(~disputed, sampling=spacing) <= margin)


def window_grid(shape: Sequence[int], window: Sequence[int], overlap: float) -> Iterator[Box]:
    """Yield windows that cover a volume; the last one of each axis ends at the border."""
    axes = []
    for side, wanted in zip(shape, window, strict=True):
        extent = min(side, wanted)
        step = max(1, round(extent * (1 - overlap)))
        starts = sorted({*range(0, side - extent, step), side - extent})
        axes.append([slice(start, start + extent) for start in starts])
    return itertools.product(*axes)


def _predict_windows(
    model: ConsensusModel,
    case: Case,
    places: Sequence[Box],
    rater_weight: float,
    mixed_precision: bool,
) -> NDArray[np.float32]:
    """Return (N, K + 1, \\*W) arrays for windows of one size: probabilities, then evidence."""
    sides = [side.stop - side.start for side in places[0]]
    padded = [round_up(side, model.network.sides) for side in sides]
    batch = as_batch([_padded_window(case, place, padded) for place in places])
    device = model.device
    with torch.no_grad():
        probability, evidence = model.posterior(
            on_device(batch.images, device),
            one_hot(on_device(batch.labels, device), len(model.labels)),
            on_device(batch.raters, device),
            rater_weight,
            mixed_precision,
            None if batch.priors is None else on_device(batch.priors, device),
        )
    answer = torch.cat([probability, evidence.unsqueeze(1)], 1).cpu().numpy()
    if not np.isfinite(answer).all():
        raise TrainingError(
            "the network's output is not finite: its weights overflow on this image; call "
            "Fit again, or Load another model"
        )
    inside = (slice(None), slice(None), *(slice(side) for side in sides))
    inner: NDArray[np.float32] = answer[inside]
    return inner


def _padded_window(case: Case, place: Box, padded: Sequence[int]) -> Case:
    inside = (slice(None), *place)
    prior = None if case.prior is None else case.prior[inside]
    within = Case(case.image[inside], case.labels[inside], case.raters, prior=prior)
    return crop(within, [0] * len(place), padded)


def _hull(windows: Sequence[Box], dimension: int) -> Box:
    if not windows:
        return (slice(0, 0),) * dimension
    return tuple(
        slice(min(w[axis].start for w in windows), max(w[axis].stop for w in windows))
        for axis in range(dimension)
    )


def _bell(shape: tuple[int, ...]) -> NDArray[Any]:
    """Return Gaussian weights (sigma: side / 8), since predictions are worst at the borders."""
    axes = []
    for axis, side in enumerate(shape):
        offset = (np.arange(side) - (side - 1) / 2) / max(1.0, side / 8)
        profile = np.exp(-0.5 * offset**2).astype(np.float32)
        axes.append(profile.reshape([-1 if a == axis else 1 for a in range(len(shape))]))
    return np.asarray(reduce(np.multiply, axes)).clip(_SMALLEST_WEIGHT)
