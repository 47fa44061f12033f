"""Votes counted one rater at a time, in small tiles: each has counts of its own few labels only.

A label's votes at a voxel are what is left of all votes, so the first label of a tile needs no
counts, and a tile in which everybody agrees needs none at all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.errors import InputError
from itk_consensus.labels.boxes import Box

#: Side of a tile in voxels: large enough to be quick, small enough to hold few labels.
TILE = 16

_MOST_RATERS = np.iinfo(np.uint16).max


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
        sides = (range(0, size, TILE) for size in shape)
        self._boxes: list[Box] = [
            tuple(slice(at, min(at + TILE, n)) for at, n in zip(corner, shape, strict=True))
            for corner in itertools.product(*sides)
        ]
        self._first: list[int] = []
        self._others: list[dict[int, NDArray[np.uint16]]] = []

    def add(self, array: NDArray[Any]) -> None:
        """Count one rater's whole-number labels."""
        if self.raters == _MOST_RATERS:
            raise InputError(f"VoteAccumulator: at most {_MOST_RATERS} raters, got one more")
        for number, box in enumerate(self._boxes):
            self._add_tile(number, array[box])
        self.raters += 1

    def _add_tile(self, number: int, tile: NDArray[Any]) -> None:
        corner = int(tile.flat[0])
        same = tile == corner
        alike = bool(same.all())
        if self.raters == 0:
            self._first.append(corner)
            self._others.append({})
        first, others = self._first[number], self._others[number]
        for label in [corner] if alike else np.unique(tile).tolist():
            said = same if label == corner else tile == label
            self.totals[int(label)] = self.totals.get(int(label), 0) + int(np.count_nonzero(said))
            if label == first:
                continue
            counts = others.get(int(label))
            if counts is None:
                counts = others[int(label)] = np.zeros(tile.shape, np.uint16)
            counts += said

    def tiles(self) -> Iterator[tuple[Box, NDArray[np.int64], NDArray[np.int64]]]:
        """Each tile's box, its (k,) labels in increasing order, and their (k, ...) votes."""
        for box, first, others in zip(self._boxes, self._first, self._others, strict=True):
            labels = np.array(sorted([first, *others]), np.int64)
            size = tuple(part.stop - part.start for part in box)
            votes = np.empty((len(labels), *size), np.int64)
            left = np.full(size, self.raters, np.int64)
            for at, label in enumerate(labels.tolist()):
                if label != first:
                    votes[at] = others[label]
                    left -= votes[at]
            votes[labels.tolist().index(first)] = left
            yield box, labels, votes
