"""Voxels that are still open, and the faces they share: a grid in the two colours of a chessboard.

No two voxels of one colour share a face, so all of one colour can be updated at once, given the
other, as if one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Floats32
from itk_consensus.errors import InputError
from itk_consensus.labels.boxes import space_axes
from itk_consensus.labels.decision_patterns import DecisionPatterns


@dataclass(frozen=True)
class Colour:
    """The open voxels of one colour."""

    voxels: NDArray[np.intp]  #: (n,) flat indices in the volume
    pattern: NDArray[np.int32]  #: (n,) pattern of each voxel
    anchor: Floats32  #: (K, n) weights of the neighbours that are settled, by their label
    #: (n, m) weights of the neighbours among the open voxels of the other colour.
    links: scipy.sparse.csr_matrix

    def pull(self, others: Floats32) -> Floats32:
        """(K, n) weight of each label around a voxel, given (K, m) beliefs of the other colour."""
        linked = [self.links @ beliefs for beliefs in others]
        return np.asarray(self.anchor + np.stack(linked))

    def tally(self, beliefs: Floats32, patterns: int) -> NDArray[np.float64]:
        """(P, K) sum of (K, n) beliefs over the voxels of each pattern."""
        return np.stack([np.bincount(self.pattern, label, patterns) for label in beliefs], axis=1)


def neighbour_weights(spacing: tuple[float, ...]) -> dict[int, float]:
    """Weight of a neighbour along each array axis: the smallest voxel side over the distance.

    In 4D the first array axis holds independent volumes and has no neighbours.
    """
    axes = space_axes(len(spacing))
    nearest = min(spacing[axis] for axis in axes)
    return {axis: nearest / spacing[axis] for axis in axes}


def chessboard(
    patterns: DecisionPatterns, settled: NDArray[np.bool_], spacing: tuple[float, ...]
) -> tuple[Colour, Colour]:
    """The open voxels in two colours; only their bounding box is visited.

    Parameters
    ----------
    patterns : DecisionPatterns
        With codes.
    settled : (P,) ndarray of bool
        Patterns whose voxels have the label that their raters agree on; all others are open.
    spacing : tuple of float
        Voxel size per array axis.
    """
    if patterns.codes is None or patterns.slots is None:
        raise InputError("chessboard: a merged table has no voxels")
    box = patterns.region(~settled, [1] * patterns.codes.ndim)
    table = np.full(patterns.number_of_codes, -1, np.int32)
    table[patterns.slots] = np.arange(len(settled))
    # A rim of "outside" gives every voxel all its neighbours.
    grid = _Grid(np.pad(table[patterns.codes[box]], 1, constant_values=-1), spacing)
    places = np.flatnonzero(np.append(~settled, False)[grid.pattern])
    coordinates = np.unravel_index(places, grid.pattern.shape)
    inside = [c + part.start - 1 for c, part in zip(coordinates, box, strict=True)]
    voxels = np.ravel_multi_index(tuple(inside), patterns.codes.shape)
    black = sum(coordinates) % 2 == 1
    agreed = np.where(settled, patterns.votes().argmax(axis=1), -1)
    links = grid.links(places[~black], places[black])
    white_side, black_side = (
        (
            voxels[side],
            grid.pattern.ravel()[places[side]],
            grid.anchor(places[side], agreed, patterns.number_of_labels),
        )
        for side in (~black, black)
    )
    return Colour(*white_side, links), Colour(*black_side, links.T.tocsr())


@dataclass(frozen=True)
class _Grid:
    """Pattern of each place of a box with a rim; -1 outside."""

    pattern: NDArray[np.int32]
    spacing: tuple[float, ...]

    def _neighbours(self, places: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], float]]:
        """The places beside these, one direction at a time, with the weight of that direction."""
        for axis, weight in neighbour_weights(self.spacing).items():
            stride = self.pattern.strides[axis] // self.pattern.itemsize
            yield places + stride, weight
            yield places - stride, weight

    def links(self, white: NDArray[np.intp], black: NDArray[np.intp]) -> scipy.sparse.csr_matrix:
        """(n, m) weights between white and black places."""
        number = np.full(self.pattern.size, -1, np.int32)
        number[black] = np.arange(len(black))
        rows, columns, values = [], [], []
        for beside, weight in self._neighbours(white):
            linked = np.flatnonzero(number[beside] >= 0)
            rows.append(linked)
            columns.append(number[beside[linked]])
            values.append(np.full(len(linked), weight, np.float32))
        entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
        return scipy.sparse.csr_matrix(entries, shape=(len(white), len(black)))

    def anchor(self, places: NDArray[np.intp], agreed: NDArray[np.int64], labels: int) -> Floats32:
        """(K, n) weights of the settled neighbours; `agreed` is a pattern's label or -1."""
        label_of = np.append(agreed, -1)
        anchor = np.zeros((labels, len(places)), np.float32)
        pattern = self.pattern.ravel()
        for beside, weight in self._neighbours(places):
            label = label_of[pattern[beside]]
            held = np.flatnonzero(label >= 0)
            anchor[label[held], held] += weight
        return anchor
