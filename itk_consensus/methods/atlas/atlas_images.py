"""Match the intensities of atlases to their target, and measure their similarity.

Intensities are matched globally, by a linear fit between quantiles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import in_threads
from itk_consensus.votes.fields.patches import ScaledImage

#: Quantiles used for matching intensities; the tails are ignored, since they may be outliers.
_QUANTILES = np.linspace(0.02, 0.98, 49)

#: Approximate number of voxels, distributed over the image, from which quantiles are computed.
_SAMPLE = 1 << 17


def match_intensities(
    target: NDArray[Any], atlases: Sequence[NDArray[Any]]
) -> tuple[ScaledImage, list[ScaledImage]]:
    """Scale the target by the spread of its intensities, and match the atlases' intensities to it.

    Parameters
    ----------
    target, atlases : ndarray of finite values
    """
    goal = _quantiles(target)
    spread = float(goal[-1] - goal[0]) or float(np.ptp(target)) or 1.0
    middle = float(goal[len(goal) // 2])

    def scaled(image: NDArray[Any]) -> ScaledImage:
        slope, offset = _line(_quantiles(image), goal)
        return ScaledImage(image, (middle - offset) / slope, slope / spread)

    return ScaledImage(target, middle, 1 / spread), list(in_threads(scaled, atlases))


def _quantiles(image: NDArray[Any]) -> NDArray[np.float64]:
    step = math.ceil((image.size / _SAMPLE) ** (1 / image.ndim))
    # The sample is symmetric about the centre, so that a mirrored image has the same sample.
    from_middle = (np.abs(2 * np.arange(size) - (size - 1)) for size in image.shape)
    sample = image[np.ix_(*(steps // 2 % step == 0 for steps in from_middle))]
    return np.asarray(np.quantile(sample.astype(np.float64), _QUANTILES))


def _line(own: NDArray[np.float64], goal: NDArray[np.float64]) -> tuple[float, float]:
    """Fit slope and offset that map an image's quantiles to the target's, by least squares."""
    centred = own - own.mean()
    variance = float(centred @ centred)
    # If the fit is degenerate, e.g. since nearly all voxels are background, only shift the image.
    slope = float(centred @ goal) / variance if variance > 0 else 0.0
    slope = slope if slope > 0 else 1.0
    return slope, float(goal.mean() - slope * own.mean())


#: Similarity measures. Correlation is invariant to the scale of intensities, but dominated by noise
#: in homogeneous tissue.
Similarity = Literal["squared difference", "normalised correlation"]
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)


def region_similarities(
    target: NDArray[Any],
    atlases: Sequence[NDArray[Any] | None],
    region: NDArray[np.bool_] | None,
    similarity: Similarity,
) -> Floats:
    """Return (J,) similarities of the atlases over a region; NaN for a missing atlas.

    Higher values mean more similar. "squared difference" is the negative mean squared difference of
    matched intensities.
    """
    where: Any = ... if region is None else region
    present = [atlas for atlas in atlases if atlas is not None]
    first, others = match_intensities(target, present)
    goal, *scaled = (_values(image, where) for image in (first, *others))

    def similarity_of(own: Floats) -> float:
        if similarity == "squared difference":
            return -float(np.mean(np.square(own - goal)))
        spread = float(own.std() * goal.std())
        return float(np.mean((own - own.mean()) * (goal - goal.mean())) / max(spread, 1e-300))

    found = np.full(len(atlases), np.nan)
    found[[atlas is not None for atlas in atlases]] = list(in_threads(similarity_of, scaled))
    return found


def _values(image: ScaledImage, where: Any) -> Floats:
    return np.asarray((image.values[where].astype(np.float64).ravel() - image.centre) * image.scale)


def most_similar(similarities: Floats, number: int) -> Floats:
    """Return (J,) weights: 1 for the most similar atlases (on ties, the first ones), else 0."""
    ranked = np.argsort(-np.nan_to_num(similarities, nan=-np.inf), kind="stable")
    weights = np.zeros(len(similarities))
    weights[ranked[:number]] = 1.0
    weights[np.isnan(similarities)] = 0.0
    return weights
