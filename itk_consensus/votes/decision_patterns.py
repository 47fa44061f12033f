"""Decision patterns: voxels with the same votes are statistically equivalent.

Encoding takes one compiled pass over the inputs; inference is then performed on a few patterns, and
`expand` writes the result back in another pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.core.errors import InputError
from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.core.work import current
from itk_consensus.space.boxes import Box, box_of_rows, grow_box
from itk_consensus.votes.encoding import MOST_FEW, Table, encode, encode_if_few, merge_tables
from itk_consensus.votes.label_stack import LabelStack, label_array

#: Maximum number of votes (patterns times raters) for processing the table at once. Larger tables
#: are processed in blocks of this size, since intermediate arrays would be larger than the images.
_VOTES_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class DecisionPatterns(FieldsOnly):
    """The distinct votes of a stack, their frequencies, and the pattern of each voxel."""

    #: (P, J) uint8 or uint16: label index voted by each rater; ``len(labels)`` if the rater is
    #: missing. Sorted.
    patterns: NDArray[Any]
    counts: NDArray[np.int64]  #: (P,) number of voxels with each pattern; exact
    labels: NDArray[Any]  #: (K,) label value of each index
    #: (P,) stratum of each pattern; None if voxels are distinguished by their votes only.
    strata: NDArray[np.uint32] | None = None
    #: One code per voxel, of uint8, uint16 or uint32; None for a merged table, which has no volume.
    codes: NDArray[Any] | None = None
    slots: NDArray[np.int64] | None = None  #: (P,) code of each pattern
    number_of_codes: int = 0  #: Exclusive upper bound of the codes
    outside_code: int | None = None  #: Code of voxels outside the mask

    @classmethod
    def from_stack(
        cls,
        stack: LabelStack,
        *,
        strata: NDArray[np.uint32] | None = None,
    ) -> DecisionPatterns:
        """Encode a stack; voxels with different `strata` never share a pattern."""
        encoding = encode(stack, strata)
        return cls(labels=stack.labels, **encoding._asdict())

    @classmethod
    def from_stack_if_few(cls, stack: LabelStack) -> DecisionPatterns | None:
        """Encode a stack; return None if there are too many patterns, as with noisy raters."""
        encoding = encode_if_few(stack, None, np.dtype(np.uint16))
        if encoding is None or len(encoding.counts) > MOST_FEW:
            return None
        return cls(labels=stack.labels, **encoding._asdict())

    @property
    def number_of_raters(self) -> int:
        """Number of raters J, including missing ones."""
        return int(self.patterns.shape[1])

    @property
    def number_of_labels(self) -> int:
        """Number of labels, K."""
        return len(self.labels)

    @property
    def number_of_voxels(self) -> int:
        """Number of voxels inside the mask."""
        return int(self.counts.sum())

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """(P, J) whether each rater annotated the voxels of each pattern; read-only."""
        if self.is_complete:
            # This is the usual case, in which a broadcast scalar takes no memory.
            return np.broadcast_to(np.True_, self.patterns.shape)
        return np.asarray(self.patterns != self.number_of_labels)

    @cached_property
    def unanimous(self) -> NDArray[np.bool_]:
        """(P,) whether at least one rater annotated, and all who did agree."""
        lowest = self.lowest_vote
        agree = lowest < self.number_of_labels
        for votes in self.patterns.T:
            agree &= (votes == lowest) | (votes == self.number_of_labels)
        return np.asarray(agree)

    @cached_property
    def lowest_vote(self) -> NDArray[Any]:
        """(P,) lowest label index voted by any rater; ``len(labels)`` if no rater annotated."""
        # The digit of a missing rater is larger than all label indices.
        return np.asarray(self.patterns.min(axis=1))

    def _blocks(self) -> Iterator[slice]:
        """Yield slices of the patterns, each with a bounded number of votes."""
        rows = max(1, _VOTES_AT_ONCE // max(1, self.number_of_raters))
        for start in range(0, len(self.patterns), rows):
            yield slice(start, start + rows)

    @cached_property
    def one_hot(self) -> scipy.sparse.csr_matrix:
        """(P, J*K) sparse indicator of (rater, label); a missing rater has no entry.

        Since the matrix is sparse, no absent vote is multiplied by log 0, and memory does not grow
        with K.
        """
        return self._one_hot(slice(None))

    def _one_hot(self, block: slice) -> scipy.sparse.csr_matrix:
        patterns, present = self.patterns[block], self.present[block]
        first = np.arange(self.number_of_raters, dtype=np.int32) * self.number_of_labels
        columns = (first + patterns)[present]
        ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
        shape = (len(patterns), self.number_of_raters * self.number_of_labels)
        return scipy.sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape=shape)

    @property
    def _is_large(self) -> bool:
        return self.patterns.size > _VOTES_AT_ONCE

    def votes(
        self, weights: NDArray[np.float64] | None = None, part: slice = slice(None)
    ) -> NDArray[np.float64]:
        """Return the (P, K) votes for each label, weighted by rater if `weights` are given.

        `part` selects patterns, to bound memory if there are many patterns and labels.
        """
        weights = np.ones(self.number_of_raters) if weights is None else weights
        said = self.patterns[part]
        votes = np.zeros((len(said), self.number_of_labels + 1))
        every = np.arange(len(said))
        for rater, weight in enumerate(weights):
            votes[every, said[:, rater]] += weight
        return np.ascontiguousarray(votes[:, :-1])

    def sum_over_raters(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the (P, M) sum over raters of the row of `terms`, (J*K, M), for their vote."""
        if not self._is_large:
            return np.asarray(self.one_hot @ terms)
        total = np.empty((len(self.patterns), terms.shape[1]))
        for block in self._blocks():
            total[block] = self._one_hot(block) @ terms
        return total

    def tally(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Sum (P, ...) values over patterns where a rater voted for a label; return (J, K, ...)."""
        flat = values.reshape(len(values), -1)
        if self._is_large:
            parts = (self._one_hot(block).T @ flat[block] for block in self._blocks())
            summed = reduce(np.add, parts)
        else:
            summed = self._transposed @ flat
        shape = (self.number_of_raters, self.number_of_labels, *values.shape[1:])
        return np.asarray(summed, dtype=np.float64).reshape(shape)

    @cached_property
    def _transposed(self) -> scipy.sparse.csc_matrix:
        # Cached, since creating it takes longer than a product; it shares one_hot's memory.
        return self.one_hot.T

    @property
    def is_complete(self) -> bool:
        """Whether every rater annotated every voxel."""
        return int(self.patterns.max(initial=0)) < self.number_of_labels

    @cached_property
    def shared_votes(self) -> NDArray[np.int64]:
        """(K, J, J) number of voxels to which two raters both assigned a label; read-only."""
        rows = np.ascontiguousarray(self.patterns)
        return _kernels.pair_counts(rows, self.counts, self.number_of_labels, current().threads)

    @cached_property
    def shared_voxels(self) -> NDArray[np.int64]:
        """(J, J) number of voxels that two raters both annotated; read-only."""
        if self.is_complete:
            return np.full((self.number_of_raters,) * 2, self.number_of_voxels)
        present = np.ascontiguousarray(self.present, np.uint8)
        found: NDArray[np.int64] = _kernels.pair_counts(present, self.counts, 2, current().threads)
        return np.asarray(found[1])

    def best_moves(
        self,
        chosen: NDArray[np.intp],
        own: NDArray[Any],
        joining: tuple[NDArray[np.float64], NDArray[np.float64]],
        leaving: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the best new label of each of n patterns in each of S label maps, and its gain.

        Parameters
        ----------
        chosen : (n,) ndarray
            Indices of the patterns.
        own : (n, S) ndarray
            Current labels of these patterns.
        joining, leaving : pairs of (J, K + 1, S, K) and (S, K) ndarrays
            Gain when a pattern joins or leaves a label: by rater and vote (the last vote is
            "missing"), and due to the label prior.
        """
        rows, labels = self.patterns[chosen], own.astype(np.int64)
        return _kernels.best_moves(rows, labels, *joining, *leaving, current().threads)

    def merge(self, *others: DecisionPatterns) -> DecisionPatterns:
        """Merge tables of several volumes: counts are added, labels united and codes dropped."""
        tables = (self, *others)
        if len({table.number_of_raters for table in tables}) > 1:
            counts = [table.number_of_raters for table in tables]
            raise InputError(
                f"DecisionPatterns.merge: tables must have equal numbers of raters, got {counts}"
            )
        if len({table.strata is None for table in tables}) > 1:
            raise InputError("DecisionPatterns.merge: all tables or none must have strata")
        values = {int(label) for table in tables for label in table.labels}
        labels = label_array(values, "DecisionPatterns.merge")
        expressed = [relabel(table, labels) for table in tables]
        patterns, strata, merged_counts, _ = merge_tables(expressed)
        return DecisionPatterns(
            patterns, merged_counts, labels, None if self.strata is None else strata
        )

    def expand(
        self, values: NDArray[Any], *, outside: Any = 0, out: NDArray[Any] | None = None
    ) -> NDArray[Any]:
        """Map each voxel to the value of its pattern.

        Parameters
        ----------
        values : (P,) ndarray
            One value per pattern.
        outside : scalar
            Value outside the mask.
        out : ndarray of the volume's shape, optional
            C-contiguous array of the values' dtype in which to write the result.
        """
        if self.codes is None or self.slots is None:
            raise InputError("DecisionPatterns.expand: a merged table has no voxels to expand to")
        table = np.full(self.number_of_codes, outside, dtype=values.dtype)
        table[self.slots] = values
        if out is None:
            out = np.empty(self.codes.shape, dtype=values.dtype)
        fits = out.dtype == values.dtype and out.shape == self.codes.shape
        if not fits or not out.flags.c_contiguous or not out.flags.writeable:
            raise InputError(
                f"DecisionPatterns.expand: out must be {values.dtype} {self.codes.shape}, "
                f"C-contiguous and writable, got {out.dtype} {out.shape}"
            )
        _kernels.expand(self.codes.reshape(-1), table, out.reshape(-1), current().threads)
        return out

    def rows_at(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the (N,) pattern indices of voxels given by flat indices; -1 outside the mask."""
        if self.codes is None or self.slots is None:
            raise InputError("DecisionPatterns.rows_at: a merged table has no voxels")
        rows = np.full(self.number_of_codes, -1)
        rows[self.slots] = np.arange(len(self.slots))
        return np.asarray(rows[self.codes.reshape(-1)[places]])

    def crop(self, region: tuple[slice, ...]) -> DecisionPatterns:
        """Return this table with only the codes of a box, for expanding values within the box."""
        if self.codes is None:
            raise InputError("DecisionPatterns.crop: a merged table has no voxels")
        return replace(self, codes=np.ascontiguousarray(self.codes[region]))

    def split_by(
        self, values: NDArray[Any]
    ) -> tuple[DecisionPatterns, NDArray[np.int64], NDArray[np.int64]]:
        """Split the patterns further by an integer value per voxel.

        Parameters
        ----------
        values : ndarray of int, of the volume's shape

        Returns
        -------
        patterns : DecisionPatterns
            A table with one row per (pattern, value) pair that occurs inside the mask; it has no
            codes.
        rows : (P',) ndarray of int64
            Index of the original pattern of each row.
        values : (P',) ndarray of int64
            Value of each row.
        """
        if self.codes is None or self.slots is None:
            raise InputError("DecisionPatterns.split_by: a merged table has no voxels")
        codes, flat = self.codes.reshape(-1), values.reshape(-1)
        # Use one voxel's value for its pattern, then correct the few voxels that differ.
        usual = np.empty(self.number_of_codes, values.dtype)
        usual[codes] = flat
        differs = usual[codes] != flat
        if self.outside_code is not None:
            differs &= codes != self.outside_code
        other = np.flatnonzero(differs)
        low = int(values.min())
        span = int(values.max()) - low + 1
        pairs = codes[other].astype(np.int64) * span + (flat[other].astype(np.int64) - low)
        pairs, moved = np.unique(pairs, return_counts=True)
        owners = np.searchsorted(self.slots, pairs // span)
        left = self.counts.copy()
        np.subtract.at(left, owners, moved)
        rows = np.concatenate([np.arange(len(left)), owners])
        value = np.concatenate([usual[self.slots].astype(np.int64), pairs % span + low])
        order = np.lexsort((value, rows))
        rows, value, counts = rows[order], value[order], np.concatenate([left, moved])[order]
        strata = None if self.strata is None else self.strata[rows]
        return DecisionPatterns(self.patterns[rows], counts, self.labels, strata), rows, value

    def region(self, flagged: NDArray[np.bool_], margin: Sequence[int]) -> Box:
        """Return the bounding box of voxels with flagged patterns, widened by `margin` per axis.

        The margin is in voxels. All slices are empty if no voxel is flagged.
        """
        if self.codes is None or self.slots is None:
            raise InputError("DecisionPatterns.region: a merged table has no voxels")
        shape = self.codes.shape
        flags = np.zeros(self.number_of_codes, dtype=np.uint8)
        flags[self.slots] = flagged
        first, last = _kernels.row_extents(
            self.codes.reshape(-1), shape[-1], flags, current().threads
        )
        tight = box_of_rows(first, last, shape)
        return (
            tuple(slice(0, 0) for _ in shape) if tight is None else grow_box(tight, margin, shape)
        )

    def disputed_region(self, margin: Sequence[int]) -> Box:
        """Return the bounding box of the disputed voxels, widened by `margin` voxels per axis."""
        return self.region(~self.unanimous & self.present.any(axis=1), margin)


def relabel(table: DecisionPatterns, labels: NDArray[Any]) -> Table:
    """Convert a table's digits to indices into a larger label table."""
    digits = np.append(np.searchsorted(labels, table.labels.astype(labels.dtype)), len(labels))
    width = np.uint8 if len(labels) < 256 else np.uint16
    strata = np.zeros(len(table.counts), np.uint32) if table.strata is None else table.strata
    return digits.astype(width)[table.patterns], strata, table.counts


def distinct_rows(stack: LabelStack) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the (P, J) distinct rows of votes in a stack, and the row index of each voxel."""
    found = DecisionPatterns(labels=stack.labels, **encode(stack, None)._asdict())
    return found.patterns, found.expand(np.arange(len(found.patterns)))
