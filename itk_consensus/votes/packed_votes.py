"""Votes for two labels packed as bits, for many noisy raters, and EM on them.

With many noisy raters there are nearly as many patterns as voxels. Packing eight votes into a byte
is then the most compact representation, and one table lookup per byte the fastest computation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.core.work import current
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import ExpectedCounts, FirstTruth
from itk_consensus.votes.label_stack import LabelStack

#: (256, 8) whether a byte has each of its bits.
_BITS = (np.arange(256)[:, None] >> np.arange(8)) & 1 == 1


@dataclass(frozen=True)
class PackedVotes:
    """Votes of a two-label stack in which every present rater annotated every voxel."""

    #: (ceil(J' / 8), N) bit j % 8 of plane j // 8 is the vote of the j-th present rater.
    planes: NDArray[np.uint8]
    present: NDArray[np.bool_]  #: (J,) whether each rater is present
    mask: NDArray[np.uint8] | None  #: (N,) voxels to fuse
    shape: tuple[int, ...]  #: Shape of the volume
    #: Pattern table, if its rows were packed instead of voxels; sums are then weighted by its
    #: counts and bitwise equal to those over the volume.
    patterns: DecisionPatterns | None = None

    @classmethod
    def from_stack(cls, stack: LabelStack) -> PackedVotes:
        """Pack a stack."""
        if len(stack.labels) != 2 or stack.may_be_missing:
            raise InputError(
                "PackedVotes: must have two labels, and raters who annotated every voxel, got "
                f"{len(stack.labels)} labels"
                f"{' and voxels that may be missing' if stack.may_be_missing else ''}"
            )
        extent = int(np.prod(stack.shape))
        present = np.array([array is not None for array in stack.arrays])
        mask = None if stack.mask is None else stack.mask.reshape(-1)
        planes = _kernels.pack_votes(stack.votes(), extent, current().threads)
        return cls(planes, present, mask, stack.shape)

    @classmethod
    def from_patterns(cls, patterns: DecisionPatterns) -> PackedVotes:
        """Pack the rows of a table with two labels; a rater must annotate all or none of them."""
        present = np.asarray(patterns.present.all(axis=0))
        votes = np.ascontiguousarray(patterns.patterns[:, present].T, np.uint8)
        planes = np.packbits(votes, axis=0, bitorder="little")
        rows = patterns.counts.shape
        return cls(planes, present, None, rows, patterns)

    def to_stack(self) -> LabelStack:
        """Unpack to a stack of zeros and ones, with one byte per vote."""
        bits = iter(range(8 * len(self.planes)))
        arrays = tuple(self._rater(next(bits)) if present else None for present in self.present)
        mask = None if self.mask is None else self.mask.reshape(self.shape)
        return LabelStack(arrays, self.labels, 1, mask=mask)

    def _rater(self, bit: int) -> NDArray[np.uint8]:
        return np.asarray(self.planes[bit // 8] >> (bit % 8) & 1).reshape(self.shape)

    def part(self, voxels: slice) -> PackedVotes:
        """Return the votes of a range of voxels, as a one-dimensional volume without counts."""
        planes = np.ascontiguousarray(self.planes[:, voxels])
        mask = None if self.mask is None else self.mask[voxels]
        return replace(self, planes=planes, mask=mask, shape=planes.shape[1:], patterns=None)

    @property
    def labels(self) -> NDArray[Any]:
        """The label indices 0 and 1."""
        return np.array([0, 1], np.int64)

    @property
    def number_of_raters(self) -> int:
        """Number of raters J, including missing ones."""
        return len(self.present)

    def expectation(self, theta: Floats, prior: Floats) -> ExpectedCounts:
        """Run the E-step with these parameters and return the sums required by the M-step.

        Parameters
        ----------
        theta : (J, 2, S, 2) ndarray
            NaN (an undefined column) counts as probability 0.
        prior : (S, 2) ndarray
        """
        starts = [
            self._sums(*_kernels.packed_counts(*self._voxels, tables, current().threads))
            for tables in self._tables(theta, prior)
        ]
        return ExpectedCounts(
            np.concatenate([sums.counts for sums in starts], axis=2),
            np.concatenate([sums.mass for sums in starts], axis=1),
            np.concatenate([sums.log_likelihood for sums in starts]),
        )

    def expectation_of_votes(self, foreground: Floats) -> ExpectedCounts:
        """Return the sums for an M-step whose posterior depends on vote counts only; S is 1.

        Parameters
        ----------
        foreground : (J' + 1,) ndarray
            Probability of label 1 if 0, 1, ... J' of the present raters voted for it.
        """
        raters = int(self.present.sum())
        if foreground.shape != (raters + 1,):
            raise InputError(
                f"PackedVotes: must have {raters + 1} probabilities, got shape {foreground.shape}"
            )
        # Unused bits of the last byte are never set, so the padding is never read.
        padded = np.zeros(8 * len(self.planes) + 1)
        padded[: raters + 1] = foreground
        return self._sums(*_kernels.packed_vote_counts(*self._voxels, padded, current().threads))

    def expectation_of_shares(self, shares: FirstTruth, frequencies: Floats) -> ExpectedCounts:
        """Return the sums for an M-step whose responsibilities are the vote shares."""
        votes = np.arange(int(self.present.sum()) + 1)
        if shares == "mean":
            return self.expectation_of_votes(votes / votes[-1])
        # Exactly half of the votes is a tie, which is divided equally.
        return self.expectation_of_votes((1 + np.sign(2 * votes - votes[-1])) / 2)

    def frequencies(self) -> Floats:
        """Return the (2,) mean share of each label in the votes."""
        mass = self.expectation_of_shares("mean", np.zeros(2)).mass[0, 0]
        return np.asarray(mass / mass.sum())

    def write_probability(self, theta: Floats, prior: Floats, out: NDArray[Any]) -> None:
        """Write the probability of label 1 under (J, 2, 1, 2) theta; 0 outside the mask."""
        fits = out.dtype.kind == "f" and out.shape == self.shape
        if not fits or not out.flags.c_contiguous or not out.flags.writeable:
            raise InputError(
                f"PackedVotes: out must be floating {self.shape}, C-contiguous and writable, "
                f"got {out.dtype} {out.shape}"
            )
        (tables,) = self._tables(theta, prior)
        _kernels.packed_probability(
            self.planes, self.mask, tables, out.reshape(-1), current().threads
        )

    @property
    def _voxels(
        self,
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint8] | None, NDArray[np.int64] | None]:
        counts = None if self.patterns is None else self.patterns.counts
        return self.planes, self.mask, counts

    def _tables(self, theta: Floats, prior: Floats) -> list[Floats]:
        """Return the (groups, 256, 2) log likelihood of each byte of votes, for each start.

        The first group includes the prior.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(np.fmax(theta[self.present], 0.0))
            log_prior = np.log(prior)
        groups = len(self.planes)
        tables = []
        for start in range(theta.shape[2]):
            table = np.zeros((groups, 256, 2))
            # Add the raters one by one, always in the same order, so that rounding is identical.
            for rater, of_rater in enumerate(logs[:, :, start]):
                table[rater // 8] += of_rater[_BITS[:, rater % 8].astype(np.intp)]
            table[0] += log_prior[start]
            tables.append(table)
        return tables

    def _sums(self, histograms: Floats, log_likelihood: float) -> ExpectedCounts:
        """Convert histograms of bytes to counts per rater."""
        counts = np.zeros((self.number_of_raters, 2, 1, 2))
        for bit, rater in enumerate(np.flatnonzero(self.present)):
            said = _BITS[:, bit % 8]
            histogram = histograms[bit // 8]
            counts[rater, 0, 0] = histogram[~said].sum(axis=0)
            counts[rater, 1, 0] = histogram[said].sum(axis=0)
        mass = histograms[0].sum(axis=0)
        return ExpectedCounts(counts, mass[None, None], np.array([log_likelihood]))
