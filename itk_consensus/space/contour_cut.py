"""Where to cut an answer: what is counted on both sides of a mask, and the cut itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.work import current
from itk_consensus.space.band_gains import KeptShares, Tile, band_tile, on_four_axes
from itk_consensus.space.gaussian import Scales, Singles, four_gaussians
from itk_consensus.space.rater_field import RaterField
from itk_consensus.space.tiles import TRUNCATE, four_axes


class Side(NamedTuple):
    """Voxels on one side of a contour, and the sum of their votes."""

    voxels: int
    votes: float


class CutCounts(NamedTuple):
    """What is counted against a mask."""

    outside: Side
    inside: Side
    far_outside: Side  #: Farther from the contour than the reach
    far_inside: Side
    #: Of the values of the mask's own answer, sorted: where as many come after as are inside, the
    #: last that is not among those, and in `at` the first that is.
    before: float
    at: float


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
    """The raters' votes on both sides of a mask, and the level at which the mask keeps its volume.

    Parameters
    ----------
    raters, weights, kept, scales, truncate, tile
        As for `keep_bands`.
    chosen, counted : (\\*shape) ndarray of bool
        The mask; and the voxels that count.
    reach : sequence of int
        Voxels per axis; what has the other side within so many is not far.
    """
    kernels = [four_gaussians(sigmas, truncate) for sigmas in scales]
    full = four_axes(raters.shape)
    outside, inside, far_outside, far_inside, before, at = _kernels.cut_counts(
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
    )
    return CutCounts(
        Side(*outside), Side(*inside), Side(*far_outside), Side(*far_inside), before, at
    )


def cut_answer(
    answer: Singles,
    kept: KeptShares,
    levels: tuple[float, float, float, float],
    chosen: Mask | None = None,
) -> None:
    """Write which voxels lie above the contour, or else turn the answer into their probability.

    Parameters
    ----------
    answer : (\\*shape) ndarray of float32
    kept : KeptShares
        Where detail is shared the contour lies at one half.
    levels : four float
        Shares outside, inside and between, where no detail is shared, and how close to the contour
        an answer is a tie: it is not chosen.
    chosen : (\\*shape) ndarray of bool, optional
        Written to; without it the answer is.
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
