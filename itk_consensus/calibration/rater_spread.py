"""How far apart the raters of one case drew their contours, in mm.

The spread comes from votes, never from STAPLE's posteriors: those saturate. It sees only
disagreement; an error that all raters share leaves no trace in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.labels.decision_patterns import DecisionPatterns

SMALLEST_SPREAD_MM = 0.5
"""Added to every spread, so that unanimous raters do not promise a band of no width."""


def contour_area(mask: NDArray[Any], spacing: Sequence[float]) -> float:
    """Area of a mask's surface in mm² (length of its outline in mm, in 2D).

    The integral of the gradient's length (coarea formula). Counting voxel faces instead would
    make a sphere's surface half as large again. What lies beyond the array is background.
    """
    field = np.pad(np.asarray(mask) != 0, 1).astype(np.float32)
    squares = np.zeros_like(field)
    for axis, step in enumerate(spacing):
        squares += np.gradient(field, step, axis=axis) ** 2
    return float(np.sqrt(squares).sum(dtype=np.float64) * prod(spacing))


def rater_spread(disputed_volume: float, area: float) -> float:
    """Mean thickness in mm of what the raters dispute around a contour, plus half a millimetre.

    Without a contour there is no distance to measure in spreads; the half millimetre remains.
    """
    return SMALLEST_SPREAD_MM + (disputed_volume / area if area else 0.0)


def disputed_voxels_of_raters(patterns: DecisionPatterns, labels: int) -> list[int]:
    """For each label 0 to labels - 1, the voxels that some but not all raters gave it.

    With two labels every value but 0 is the foreground.
    """
    votes = patterns.votes()
    present = patterns.present.sum(axis=1)
    values = patterns.labels if labels > 2 else np.minimum(np.abs(patterns.labels), 1)
    shares = [votes[:, values == label].sum(axis=1) for label in range(labels)]
    return [int(patterns.counts[(share > 0) & (share < present)].sum()) for share in shares]


def disputed_voxels_of_fractions(fractions: Sequence[NDArray[Any]]) -> list[int]:
    """The same from vote fractions: one array of the foreground, or one array per label."""
    disputed = [int(np.count_nonzero((share > 0) & (share < 1))) for share in fractions]
    return disputed * 2 if len(disputed) == 1 else disputed
