"""Decision patterns that are built one rater at a time, without keeping the raters' images.

A new rater splits a pattern (the parent) if its voxels have different labels. A rater's column only
has entries for the patterns that existed when the rater was added; later patterns inherit the entry
of their ancestor. Codes are converted to 32 bits when there are too many patterns for 16 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.encoding import merge_tables

#: Number of voxels processed at a time, so that temporary arrays are small compared with the codes.
_AT_ONCE = 1 << 14


class GrowingPatterns:
    """Decision patterns of the raters added so far."""

    def __init__(self) -> None:
        # Codes of the volume, after the first rater
        self._codes: NDArray[Any] = np.empty(0, np.uint16)
        self._columns: list[NDArray[Any]] = []
        self._parents = np.zeros(1, np.uint32)

    @property
    def _blocks(self) -> list[slice]:
        return [slice(at, at + _AT_ONCE) for at in range(0, self._codes.size, _AT_ONCE)]

    def add(self, array: NDArray[Any], labels: NDArray[Any]) -> None:
        """Add a rater; `labels` are the rater's labels in increasing order."""
        if not self._columns:
            self._codes = np.zeros(array.shape, np.uint16)
        flat, parents = np.ascontiguousarray(array).reshape(-1), self._parents
        column = np.zeros(len(parents), np.min_scalar_type(len(labels)))
        for block in self._blocks:
            column[self._flat(block)] = np.searchsorted(labels, flat[block])
        known = np.empty(0, np.int64)  # (parent, digit) of each new pattern, sorted ...
        names = np.empty(0, np.int64)  # ... and its code
        for block in self._blocks:
            codes, said = self._flat(block), np.searchsorted(labels, flat[block])
            others = np.flatnonzero(column[codes] != said)
            pairs = codes[others].astype(np.int64) << 32 | said[others]
            new = np.setdiff1d(pairs, known)
            if len(new):
                names = np.concatenate([names, len(parents) + np.arange(len(new))])
                parents = np.concatenate([parents, (new >> 32).astype(np.uint32)])
                known = np.concatenate([known, new])
                order = np.argsort(known)
                known, names = known[order], names[order]
                if len(parents) > 1 << 16:
                    self._codes = self._codes.astype(np.uint32, copy=False)
            self._flat(block)[others] = names[np.searchsorted(known, pairs)]
        born = np.empty(len(known), column.dtype)
        born[names - len(column)] = known & 0xFFFFFFFF
        self._columns.append(np.concatenate([column, born]))
        self._parents = parents

    def table(self, labels: NDArray[Any], digits: Sequence[NDArray[Any]]) -> DecisionPatterns:
        """Return the patterns of the raters added so far, with codes.

        Parameters
        ----------
        labels : (K,) ndarray
            Label values.
        digits : sequence of ndarray of int
            For each rater, the index into `labels` of each of the rater's own labels.
        """
        width = np.uint8 if len(labels) < 256 else np.uint16
        rows = np.empty((len(self._parents), len(digits)), width)
        ancestors = np.arange(len(rows), dtype=np.uint32)
        for rater in reversed(range(len(digits))):
            column = self._columns[rater]
            younger = ancestors >= len(column)
            ancestors[younger] = self._parents[ancestors[younger]]
            rows[:, rater] = digits[rater].astype(width)[column[ancestors]]
        counts = np.zeros(len(rows), np.int64)
        for block in self._blocks:
            counts += np.bincount(self._flat(block), minlength=len(rows))
        no_strata = np.zeros(len(rows), np.uint32)
        patterns, _, counts, (ranks,) = merge_tables([(rows, no_strata, counts)])
        codes, slots = self._codes, np.empty(len(patterns), np.int64)
        if len(patterns) < len(rows):
            # Patterns that these labels do not distinguish are assigned the same code.
            codes = ranks.astype(np.min_scalar_type(len(patterns) - 1))[codes]
            ranks = np.arange(len(patterns))
        slots[ranks] = np.arange(len(patterns))
        return DecisionPatterns(
            patterns, counts, labels, codes=codes, slots=slots, number_of_codes=len(patterns)
        )

    def _flat(self, block: slice) -> NDArray[Any]:
        """Return a writable view of the codes of a block."""
        return self._codes.reshape(-1)[block]
