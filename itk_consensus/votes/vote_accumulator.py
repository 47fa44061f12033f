"""Votes counted one rater at a time, in small tiles: each has counts of its own few labels only.

A label's votes at a voxel are what is left of all votes, so the first label of a tile needs no
counts, and a tile in which everybody agrees needs none at all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import InputError
from itk_consensus.neighbourhood.boxes import Box

#: Side of a tile in voxels: large enough to be quick, small enough to hold few labels.
TILE = 8

_MOST_RATERS = np.iinfo(np.uint16).max
_MOST_OF_A_BYTE = np.iinfo(np.uint8).max


class VoteAccumulator:
    """How many raters said each label at each voxel.

    Parameters
    ----------
    shape : tuple of int
        Of the volume.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.raters = 0
        #: Votes of all voxels together, by label.
        self.totals: dict[int, int] = {}
        self._grid = [range(0, size, TILE) for size in shape]
        # A tile's first label has no counts; the others have a row each.
        self._labels: list[list[int]] = []
        self._counts: list[NDArray[Any] | None] = [None] * math.prod(map(len, self._grid))

    def add(self, array: NDArray[Any]) -> None:
        """Count one rater's whole-number labels."""
        if self.raters == _MOST_RATERS:
            raise InputError(f"VoteAccumulator: at most {_MOST_RATERS} raters, got one more")
        for number, box in enumerate(self._boxes()):
            self._add_tile(number, array[box])
        self.raters += 1

    def _add_tile(self, number: int, tile: NDArray[Any]) -> None:
        corner = int(tile.flat[0])
        same = tile == corner
        if self.raters == 0:
            self._labels.append([corner])
        known = self._labels[number]
        for label in [corner] if same.all() else np.unique(tile).tolist():
            said = same if label == corner else tile == label
            self.totals[int(label)] = self.totals.get(int(label), 0) + int(np.count_nonzero(said))
            if label == known[0]:
                continue
            if label not in known:
                known.append(int(label))
                self._append_row(number, tile.shape)
            self._counts_with_room(number)[known.index(label) - 1] += said

    def _append_row(self, number: int, shape: tuple[int, ...]) -> None:
        before, row = self._counts[number], np.zeros((1, *shape), np.uint8)
        self._counts[number] = row if before is None else np.concatenate([before, row])

    def _counts_with_room(self, number: int) -> NDArray[Any]:
        """A tile's counts, in two bytes as soon as one might be full."""
        counts = self._counts[number]
        assert counts is not None
        is_a_byte = counts.dtype == np.uint8
        if self.raters >= _MOST_OF_A_BYTE and is_a_byte and counts.max() == _MOST_OF_A_BYTE:
            counts = self._counts[number] = counts.astype(np.uint16)
        return counts

    def _boxes(self) -> Iterator[Box]:
        for corner in itertools.product(*self._grid):
            yield tuple(
                slice(at, min(at + TILE, n)) for at, n in zip(corner, self.shape, strict=True)
            )

    def tiles(self) -> Iterator[tuple[Box, NDArray[np.int64], NDArray[np.int64]]]:
        """Each tile's box, its (k,) labels in increasing order, and their (k, ...) votes."""
        for box, labels, counts in zip(self._boxes(), self._labels, self._counts, strict=True):
            votes = np.empty((len(labels), *(part.stop - part.start for part in box)), np.int64)
            votes[0] = self.raters
            if counts is not None:
                votes[1:] = counts
                votes[0] -= votes[1:].sum(axis=0)
            order = np.argsort(labels)
            yield box, np.array(labels, np.int64)[order], votes[order]
