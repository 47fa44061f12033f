"""How far apart the raters of one case drew their contours, in mm.

The spread comes from votes, never from STAPLE's posteriors: those saturate. It sees only
disagreement; an error that all raters share leaves no trace in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.labels.boxes import Box
from itk_consensus.labels.decision_patterns import DecisionPatterns

SMALLEST_SPREAD_MM = 0.5
"""Added to every spread, so that unanimous raters do not promise a band of no width."""


def box_around(mask: NDArray[np.bool_], margin: float, spacing: Sequence[float]) -> Box:
    """Bounding box of a mask that is not empty, widened by a margin in mm, at least one voxel."""
    box = []
    for axis, step in enumerate(spacing):
        others = tuple(other for other in range(mask.ndim) if other != axis)
        occupied = np.flatnonzero(mask.any(axis=others))
        # A margin far beyond the volume must not overflow when it is counted in voxels.
        pad = max(1, ceil(min(margin / step, mask.shape[axis])))
        first, last = int(occupied[0]) - pad, int(occupied[-1]) + 1 + pad
        box.append(slice(max(first, 0), min(last, mask.shape[axis])))
    return tuple(box)


def contour_area(mask: NDArray[Any], spacing: Sequence[float]) -> float:
    """Area of a mask's surface in mm² (length of its outline in mm, in 2D).

    The integral of the gradient's length (coarea formula), by central differences: about a tenth
    too large for a ball, where counting voxel faces would be half too large. What lies beyond the
    array is background.
    """
    inside = np.pad(np.asarray(mask) != 0, 2)
    core = tuple(slice(1, -1) for _ in spacing)
    code = np.zeros([side - 2 for side in inside.shape], dtype=np.uint8)
    squares = np.zeros(1)
    for axis, step in enumerate(spacing):
        before, after = (
            inside[(*core[:axis], part, *core[axis + 1 :])] for part in (np.s_[:-2], np.s_[2:])
        )
        # Differences of a mask are 0 or 1: few kinds of gradient, so only kinds are counted.
        code |= (before ^ after).view(np.uint8) << axis
        squares = np.append(squares, squares + 1 / (2 * step) ** 2)
    kinds = np.bincount(code[code != 0], minlength=len(squares))
    return float(kinds @ np.sqrt(squares) * prod(spacing))


def contour_areas(consensus: NDArray[Any], labels: int, spacing: Sequence[float]) -> list[float]:
    """Contour area of each label 0 to labels - 1; of label 0 it is that of all others together."""
    foreground = consensus[box_around(consensus != 0, 0.0, spacing)]
    whole = contour_area(foreground != 0, spacing)
    if labels == 2:
        return [whole, whole]
    parts = (contour_area(foreground == label, spacing) for label in range(1, labels))
    return [whole, *parts]


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
