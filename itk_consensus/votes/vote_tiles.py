"""Votes of a stack, smoothed by a Gaussian in mm and decided tile by tile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.space.boxes import Box, space_axes
from itk_consensus.space.tiles import (
    four_axes,
    gaussian_weights,
    tile_groups,
    tile_sizes,
)
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.ties import SAME_VOTES, TIE_RULES, TieRule
from itk_consensus.votes.uncertainty import UNCERTAINTY_KINDS, UncertaintyKind
from itk_consensus.votes.votes import LabelVotes

Floats = NDArray[np.float64]


def label_frequencies(counts: NDArray[np.int64], weights: Floats) -> Floats:
    """Return the (K,) share of each label in all votes, given (J, K) counts and (J,) weights."""
    frequencies = weights @ counts
    return np.asarray(frequencies / max(frequencies.sum(), np.finfo(float).tiny))


@dataclass(frozen=True)
class MixedVotes:
    """Shares of votes for each label at voxels with a decision for another label."""

    #: (K, K) sums of vote shares for label d (row) where the decision is t (column), over voxels
    #: within reach of any disagreement.
    near: Floats
    far: Floats  #: The same sums, only over voxels where the decision is constant within reach
    near_voxels: NDArray[np.int64]  #: (K,) number of voxels in the sums
    far_voxels: NDArray[np.int64]
    #: (K,) number of voxels without any disagreement within reach, where the share of t is 1.
    agreed: NDArray[np.int64]
    agreed_far: NDArray[np.int64]


class MixedCounts(NamedTuple):
    """The sums of `MixedVotes` as integers, which can be added over the parts of a volume."""

    keys: NDArray[np.int64]  #: (N,) d * K + t for the pairs that occur
    sums: NDArray[np.int64]  #: (N, 2) sums of votes, scaled to integers: near and far
    #: (K, 6) number of voxels: near, far, near and far without annotation, agreed near and far.
    voxels: NDArray[np.int64]

    def mixed_votes(self, frequencies: Floats, units: float) -> MixedVotes:
        """Convert to sums of shares; voxels without annotation have the label `frequencies`."""
        size = len(frequencies)
        flat = np.zeros((2, size * size))
        flat[:, self.keys] = self.sums.T / units
        mixed = flat.reshape(2, size, size)
        mixed += frequencies[:, None] * self.voxels[:, 2:4].T[:, None, :]
        near, far, _, _, agreed, agreed_far = self.voxels.T
        return MixedVotes(mixed[0], mixed[1], near, far, agreed, agreed_far)


@dataclass(frozen=True)
class VoteTiles:
    """Vote shares smoothed by a Gaussian, computed lazily in tiles."""

    labels: NDArray[Any]  #: (K,) label value of each index
    frequencies: Floats  #: (K,) overall frequency of each label among the (weighted) votes
    shape: tuple[int, ...]
    reach: tuple[int, ...]  #: Radius of the Gaussian in voxels, along each of four axes
    #: Size of a tile along each of four axes. Results do not depend on it.
    tile: tuple[int, int, int, int]
    _field: _kernels.VoteField

    @classmethod
    def make(
        cls,
        votes: LabelVotes,
        sigma: float,
        spacing: Sequence[float],
        *,
        weights: Floats | None = None,
        frequencies: Floats | None = None,
        tile: tuple[int, int, int, int] | None = None,
    ) -> VoteTiles:
        """Build tiles of a stack, or of patterns with codes.

        Parameters
        ----------
        votes : LabelVotes
            Votes; a stack is read again at every call of a method, and patterns must have codes.
        sigma : float
            Standard deviation for smoothing in mm; 0: no smoothing.
        spacing : sequence of float
            Voxel size per array axis.
        weights : (J,) ndarray, optional
            Weight of each rater's vote, including missing raters.
        frequencies : (K,) ndarray, optional
            Overall label frequencies; by default those of these votes, which may be part of a
            larger volume.
        tile : four int, optional
        """
        raters, mask, present, shape, may_miss = (
            _pattern_votes(votes)
            if isinstance(votes, DecisionPatterns)
            else _stack_votes(votes.to_stack())
        )
        size = len(votes.labels)
        kept = np.ones(len(present)) if weights is None else np.asarray(weights)[present]
        if frequencies is None:
            counts = _kernels.count_votes(
                raters, mask, int(np.prod(shape)), size + 1, current().threads
            )
            frequencies = label_frequencies(counts[:, :size], kept)
        gaussian = gaussian_weights(sigma, spacing, shape)
        reach = tuple(len(axis) - 1 for axis in gaussian)
        full = four_axes(shape)
        field = _kernels.VoteField(raters, kept, mask, size, may_miss, frequencies, full, gaussian)
        return cls(
            votes.labels,
            frequencies,
            shape,
            reach,
            tile or tile_sizes(full, reach, size),
            field,
        )

    @property
    def _count(self) -> int:
        return _kernels.count_tiles(self._field, self.tile)

    def decision(
        self,
        ties: TieRule,
        *,
        threshold: float | None = None,
        unmixing: Floats | None = None,
        tolerance: float = SAME_VOTES,
    ) -> NDArray[Any]:
        """Return the label index of each voxel's largest smoothed share, or a code of `votes.ties`.

        Parameters
        ----------
        threshold : float, optional
            Share that a label must exceed.
        unmixing : (K, K) ndarray, optional
            Matrix applied to the shares first; negative results are set to 0. Unanimous voxels are
            not changed.
        tolerance : float
            Maximum difference between tied shares.
        """
        narrow = len(self.labels) < np.iinfo(np.int16).max
        decision = np.empty(self.shape, np.int16 if narrow else np.int32)
        for group in tile_groups(self._count):
            _kernels.decide_votes(
                self._field,
                unmixing,
                TIE_RULES.index(ties),
                -1.0 if threshold is None else threshold,
                tolerance,
                self.tile,
                group,
                current().threads,
                decision,
            )
        return decision

    def share(self, label: int, *, unmixing: Floats | None = None) -> Floats:
        """Return the smoothed share of a label index, after `unmixing`; 0 outside the mask."""
        share = np.empty(self.shape)
        self.write_share(label, share, unmixing=unmixing)
        return share

    def write_share(self, label: int, out: NDArray[Any], *, unmixing: Floats | None = None) -> None:
        """Write the smoothed share of a label, computed as float64."""
        if out.dtype != np.float64:
            out[...] = self.share(label, unmixing=unmixing)
            return
        for group in tile_groups(self._count):
            _kernels.smoothed_share(
                self._field, unmixing, label, self.tile, group, current().threads, out
            )

    def write_uncertainty(
        self, kind: UncertaintyKind, out: NDArray[np.float32], *, unmixing: Floats | None = None
    ) -> None:
        """Write the uncertainty of each voxel from its smoothed shares, after `unmixing`."""
        which = UNCERTAINTY_KINDS.index(kind)
        for group in tile_groups(self._count):
            _kernels.smoothed_uncertainty(
                self._field, unmixing, which, self.tile, group, current().threads, out
            )

    def mixed_votes(self, decision: NDArray[Any]) -> MixedVotes:
        """Sum the votes by the labels of a decision, given as this stack's label indices."""
        units = self.units(decision.size)
        return self.count_mixed(decision, units).mixed_votes(self.frequencies, units)

    def units(self, voxels: int) -> float:
        """Return the factor for scaling shares to integers that can be summed over the voxels."""
        return self.units_of(self._field.number_of_raters, voxels)

    @staticmethod
    def units_of(raters: int, voxels: int) -> float:
        """Return the scale factor of `units` for a number of raters."""
        # A multiple of the number of raters, so that shares of equally weighted votes are integers,
        # and as large as a 64-bit sum over all voxels allows.
        return float(raters * 2 ** (62 - int(np.ceil(np.log2(max(voxels * raters, 2))))))

    def count_mixed(
        self, decision: NDArray[Any], units: float, region: Box | None = None
    ) -> MixedCounts:
        """Sum the votes of a region, or of all voxels, as integers."""
        corners = None
        if region is not None:
            low, high = zip(*((part.start, part.stop) for part in region), strict=True)
            corners = _corner(low, 0), _corner(high, 1)
        counted = _kernels.mix_votes(
            self._field, decision, units, self.tile, (0, self._count), current().threads, corners
        )
        return MixedCounts(*counted)


def _corner(corner: Sequence[int], absent: int) -> list[int]:
    """Convert a corner of a box to four axes; the box must contain all independent volumes."""
    first = space_axes(len(corner)).start
    independent = int(np.prod(corner[:first])) if first else absent
    space = list(corner[first:])
    return [independent, *[absent] * (3 - len(space)), *space]


_Votes = tuple[
    list[_kernels.RaterVotes],
    _kernels.RaterVotes | None,
    list[int],
    tuple[int, ...],
    bool,
]


def _stack_votes(stack: LabelStack) -> _Votes:
    present = [index for index, array in enumerate(stack.arrays) if array is not None]
    mask = None
    if stack.mask is not None:
        flags = stack.mask.reshape(-1)
        mask = _kernels.RaterVotes(flags, np.zeros(1, np.uint8), [0], 1, None, 0)
    return stack.votes(), mask, present, stack.shape, stack.may_be_missing


def _pattern_votes(patterns: DecisionPatterns) -> _Votes:
    """Return the votes that kernels look up by the code of each voxel."""
    if patterns.codes is None or patterns.slots is None:
        raise InputError("VoteTiles: a merged table has no voxels")
    codes, slots, outside = patterns.codes.reshape(-1), patterns.slots, patterns.outside_code
    values = np.arange(patterns.number_of_codes, dtype=np.int64).astype(codes.dtype)
    present = np.flatnonzero(patterns.present.any(axis=0)).tolist()
    raters = []
    for rater in present:
        digits = np.zeros(len(values), np.uint16)
        digits[slots] = patterns.patterns[:, rater]
        raters.append(_kernels.RaterVotes(codes, values, digits.tolist(), 0, None, 0))
    mask = None
    if outside is not None:
        mask = _kernels.RaterVotes(codes, np.array([outside], codes.dtype), [0], 1, None, 0)
    may_miss = not bool(patterns.present[:, present].all())
    return raters, mask, present, patterns.codes.shape, may_miss
