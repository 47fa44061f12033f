"""A Markov random field on the open (undecided) voxels, coloured like a chessboard.

No two voxels of one colour share a face, so all voxels of one colour can be updated at once, given
those of the other colour. At each voxel, only a few labels have a non-negligible belief, so beliefs
are stored as lists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.space.boxes import space_axes
from itk_consensus.space.tiles import four_axes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_weights import LabelWeights

#: Flat indices in a volume, of the smallest dtype that holds them.
Places = NDArray[np.unsignedinteger[Any]]

#: In nats: labels this far below a voxel's most probable label are dropped.
NEGLIGIBLE = 30.0


class LabelLists(NamedTuple):
    """n lists of labels, with a value for each label."""

    ends: NDArray[np.int64]  #: (n + 1,) bounds: list i spans ends[i] to ends[i + 1]
    labels: NDArray[np.uint16]
    values: NDArray[Any]

    def select(self, which: NDArray[Any]) -> LabelLists:
        """Select lists by index, in any order."""
        sizes = np.diff(self.ends)[which]
        ends = np.append(0, sizes.cumsum())
        at = np.arange(ends[-1]) + np.repeat(self.ends[which] - ends[:-1], sizes)
        return LabelLists(ends, self.labels[at], self.values[at])


@dataclass(frozen=True)
class Colour:
    """The open voxels of one colour."""

    voxels: Places  #: (n,) flat indices in the volume
    pattern: NDArray[np.uint32]  #: (n,) pattern of each voxel


class Sweep(NamedTuple):
    """Result of an update of one colour."""

    beliefs: LabelLists
    agreement: float  #: Expected weight of agreeing neighbours
    settled: float  #: Expected weight of agreeing settled neighbours
    entropy: float
    votes: float  #: Expected log probability of the votes, weighted by `counted`


@dataclass(frozen=True)
class Chessboard:
    """The open voxels in two colours, white first, and the settled voxels around them."""

    patterns: DecisionPatterns
    colours: tuple[Colour, Colour]
    _grid: _kernels.FieldGrid

    def sweep(
        self,
        colour: int,
        others: LabelLists,
        candidates: LabelLists,
        counted: Floats,
        weight: float,
    ) -> Sweep:
        """Update the beliefs of one colour, given those of the other.

        Parameters
        ----------
        candidates : LabelLists
            Candidate labels of each pattern, with the log scores of the votes.
        counted : (P,) ndarray
            Share of each pattern's voxels that is counted in `Sweep.votes`.
        weight : float
            Log odds contributed by an agreeing neighbour of weight 1.
        """
        beliefs, sums = _kernels.field_sweep(
            self._grid,
            colour,
            others,
            candidates,
            counted,
            weight,
            NEGLIGIBLE,
            current().threads,
        )
        return Sweep(LabelLists(*beliefs), *sums)

    def weight_slope(
        self, colour: int, own: LabelLists, others: LabelLists, weight: float
    ) -> tuple[float, float]:
        """Return the first derivative, and the negated second derivative, of the log
        pseudo-likelihood with respect to the weight.
        """
        return _kernels.field_weight_slope(
            self._grid, colour, own, others, weight, current().threads
        )

    def counts(self, colour: int, beliefs: LabelLists, counted: Floats) -> Floats:
        """Return the (J, K, K) expected voxels of one colour [rater, observed, true]."""
        return _kernels.field_counts(
            self._grid,
            colour,
            beliefs,
            self.patterns.patterns,
            counted,
            self.patterns.number_of_labels,
            current().threads,
        )

    def candidates(
        self,
        theta: Floats,
        prior: Floats,
        prior_rows: NDArray[np.uint32] | None,
        is_open: NDArray[np.bool_],
        reach: float,
        least: float,
    ) -> LabelLists:
        """Return, for each open pattern, the labels with a log score within `reach` of the best.

        Parameters
        ----------
        theta : (J, K, K) ndarray
            Performance [rater, observed, true]; NaN counts as probability 0.
        prior : (R, K) ndarray
        prior_rows : (P,) ndarray or None
            Row of the prior for each pattern; None: the first row for all.
        least : float
            Lower bound of the log scores.
        """
        with np.errstate(divide="ignore"):
            log_theta, log_prior = np.log(np.fmax(theta, 0.0)), np.log(prior)
        return LabelLists(
            *_kernels.field_candidates(
                np.ascontiguousarray(self.patterns.patterns),
                np.ascontiguousarray(log_theta),
                np.ascontiguousarray(log_prior),
                prior_rows,
                is_open.view(np.uint8),
                reach,
                least,
                current().threads,
            )
        )

    def by_label(self, white: LabelLists, black: LabelLists) -> LabelWeights:
        """Return (K, N) beliefs of the white voxels, followed by those of the black ones."""
        of = []
        for label in range(self.patterns.number_of_labels):
            voxels, values = [], []
            for first, lists in ((0, white), (len(self.colours[0].voxels), black)):
                at = np.flatnonzero(lists.labels == label)
                places = lists.ends.searchsorted(at, side="right") - 1 + first
                voxels.append(places.astype(np.uint32))
                values.append(lists.values[at])
            of.append((np.concatenate(voxels), np.concatenate(values)))
        return LabelWeights(of, sum(len(colour.voxels) for colour in self.colours))


def neighbour_weights(spacing: tuple[float, ...]) -> dict[int, float]:
    """Return neighbour weights along each array axis: smallest voxel side over distance.

    In 4D the first array axis indexes independent volumes and has no neighbours.
    """
    axes = space_axes(len(spacing))
    nearest = min(spacing[axis] for axis in axes)
    return {axis: nearest / spacing[axis] for axis in axes}


def chessboard(
    patterns: DecisionPatterns, settled: NDArray[np.bool_], spacing: tuple[float, ...]
) -> Chessboard:
    """Return the open voxels, divided into two colours.

    Parameters
    ----------
    patterns : DecisionPatterns
        Patterns, which must have codes.
    settled : (P,) ndarray of bool
        Patterns whose voxels keep the label on which all raters agree; all other patterns are open.
    spacing : tuple of float
        Voxel size per array axis.
    """
    if patterns.codes is None or patterns.slots is None:
        raise InputError("chessboard: a merged table has no voxels")
    shape = four_axes(patterns.codes.shape)
    agreed = np.full(patterns.number_of_codes, -1, np.int32)
    agreed[patterns.slots[settled]] = patterns.lowest_vote[settled]
    found = np.flatnonzero(patterns.expand(~settled, outside=False))
    voxels: Places = found.astype(np.min_scalar_type(patterns.codes.size))
    row_of = np.zeros(patterns.number_of_codes, np.uint32)
    row_of[patterns.slots] = np.arange(len(settled))
    is_black = _parity(voxels, patterns.codes.shape)
    if len(voxels):
        # The first corner of the open voxels' bounding box is white, so that padding the volume
        # does not change the colours.
        box = patterns.region(~settled, [1] * patterns.codes.ndim)
        is_black ^= sum(1 - part.start for part in box) % 2 == 1
    colours, rows = [], []
    begins = np.arange(math.prod(shape[:3]) + 1, dtype=np.int64) * shape[3]
    for side in (~is_black, is_black):
        places = voxels[side]
        colour = Colour(places, row_of[patterns.codes.reshape(-1)[places]])
        columns = (places % np.uint32(shape[3])).astype(np.uint32)
        colours.append(colour)
        rows.append((columns, places.searchsorted(begins), colour.pattern))
    weights = neighbour_weights(spacing)
    in_space = [weights[axis] for axis in sorted(weights)]
    grid = _kernels.FieldGrid(
        shape,
        [0.0] * (4 - len(in_space)) + in_space,
        patterns.codes.reshape(-1),
        agreed,
        patterns.number_of_labels,
        rows,
    )
    white, black = colours
    return Chessboard(patterns, (white, black), grid)


def _parity(voxels: Places, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return (N,) whether the sum of a voxel's coordinates is odd."""
    odd = np.zeros(len(voxels), bool)
    step = 1
    for size in reversed(shape):
        odd ^= voxels // voxels.dtype.type(step) % voxels.dtype.type(size) % 2 == 1
        step *= size
    return odd
