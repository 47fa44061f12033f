"""Threshold a filtered mean of raters' masks, and count the votes that determine the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.work import current
from itk_consensus.space.band_gains import (
    FIXED_POINT,
    KeptShares,
    Tile,
    band_tile,
    on_four_axes,
)
from itk_consensus.space.gaussian import Scales, Singles, four_gaussians
from itk_consensus.space.rater_field import RaterField
from itk_consensus.space.tiles import TRUNCATE, four_axes


class Side(NamedTuple):
    """Voxels on one side of a contour, and the sum of their votes."""

    voxels: int
    votes: float


#: Number of histogram bins per unit; filtered values are binned from -1/2 to 3/2.
_STEPS = 1 << 17


@dataclass(frozen=True, eq=False)
class CutCounts:
    """Voxels and votes on both sides of a contour; counts of parts of a volume can be added."""

    #: (4, 2) voxels and votes outside and inside, and of those farther from the contour than the
    #: reach.
    sides: NDArray[np.int64]
    values: NDArray[np.int64]  #: Histogram of the filtered mask itself

    def __add__(self, other: CutCounts) -> CutCounts:
        return CutCounts(self.sides + other.sides, self.values + other.values)

    @property
    def outside(self) -> Side:
        """All counted voxels outside the mask."""
        return self._side(0)

    @property
    def inside(self) -> Side:
        """All counted voxels inside the mask."""
        return self._side(1)

    @property
    def far_outside(self) -> Side:
        """Voxels outside the mask and beyond the reach of the contour."""
        return self._side(2)

    @property
    def far_inside(self) -> Side:
        """Voxels inside the mask and beyond the reach of the contour."""
        return self._side(3)

    @property
    def before(self) -> float:
        """The (n + 1)-th largest value for n voxels inside: just below a volume-preserving cut."""
        return self._value(self.outside.voxels - 1)

    @property
    def at(self) -> float:
        """The n-th largest value for n voxels inside: just above that cut."""
        return self._value(self.outside.voxels)

    def _value(self, place: int) -> float:
        step = int(np.searchsorted(np.cumsum(self.values), place, "right"))
        return min(step, 2 * _STEPS) / _STEPS - 0.5

    def _side(self, number: int) -> Side:
        voxels, votes = self.sides[number].tolist()
        return Side(voxels, votes / FIXED_POINT)


def count_cut(
    raters: RaterField,
    weights: Floats,
    chosen: Mask,
    counted: Mask,
    reach: Sequence[int],
    kept: KeptShares,
    scales: Scales,
    *,
    truncate: float = TRUNCATE,
    tile: Tile | None = None,
) -> CutCounts:
    """Count the votes on both sides of a contour, and find the volume-preserving threshold.

    Parameters
    ----------
    raters, weights, kept, scales, truncate, tile
        As for `keep_bands`.
    chosen, counted : (\\*shape) ndarray of bool
        The mask, and the voxels that are counted.
    reach : sequence of int
        Distance in voxels per axis; voxels farther than this from the other side of the contour are
        far.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    full = four_axes(raters.shape)
    values = np.zeros(2 * _STEPS + 1, np.int64)
    sides = _kernels.cut_counts(
        raters.masks,
        raters.present,
        np.asarray(weights, np.float64),
        kernels,
        full,
        chosen.view(np.uint8),
        counted.view(np.uint8),
        on_four_axes(reach, 0),
        list(kept.gains),
        kept.detail,
        on_four_axes(kept.steps),
        tile or band_tile(raters.shape, kernels),
        current().threads,
        values,
    )
    return CutCounts(np.array(sides, np.int64), values)


def cut_answer(
    answer: Singles,
    kept: KeptShares,
    levels: tuple[float, float, float, float],
    chosen: Mask | None = None,
) -> None:
    """Threshold the filtered mean, or convert it to probabilities in place.

    Parameters
    ----------
    answer : (\\*shape) ndarray of float32
    kept : KeptShares
        Gains; where the gain of the detail is 1, the threshold is one half.
    levels : four float
        Mean shares outside and inside, and the threshold, for voxels where the gain of the detail
        is 0; and the distance from the threshold within which a value is a tie and not selected.
    chosen : (\\*shape) ndarray of bool, optional
        Output array for the mask; if omitted, `answer` is overwritten with probabilities.
    """
    _kernels.cut(
        kept.detail,
        four_axes(answer.shape),
        on_four_axes(kept.steps),
        *levels,
        current().threads,
        answer,
        None if chosen is None else chosen.view(np.uint8),
    )
