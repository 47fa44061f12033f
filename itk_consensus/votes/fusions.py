"""Fused results: labels and probabilities by pattern, by disputed voxel, or by voxel.

Algorithms return one of these. Labels and probabilities are computed lazily and written directly
into the memory of an image.

A value that is computed later is represented by a frozen dataclass next to its algorithm, whose
fields are the required data, never by a closure. Every fused result can therefore be pickled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.core.work import one_by_one
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.label_weights import LabelWeights
from itk_consensus.votes.ties import BACKGROUND, UNDECIDED
from itk_consensus.votes.uncertainty import UncertaintyKind, uncertainty
from itk_consensus.votes.votes import LabelVotes

#: Number of shares (patterns times labels) computed at a time.
SHARES_AT_ONCE = 1 << 20

#: Number of voxels processed at a time.
_VOXELS_AT_ONCE = 1 << 18


class DecisionTable(NamedTuple):
    """A fusion as a table of voxels with equal votes and equal result, for diagnostics."""

    patterns: DecisionPatterns  #: One row for each pair of pattern and fused result that occurs
    rows: NDArray[np.int64]  #: (P',) index of each row's pattern in the original table
    decision: NDArray[np.int64]  #: (P',) label index of each row, or a code of `votes.ties`
    #: Function that computes the (P', K) table, which may be large; None if probabilities differ
    #: between the voxels of a row.
    probabilities: Callable[[], NDArray[np.float64]] | None


class PatternShares(FieldsOnly, ABC):
    """Lazily computed probabilities by pattern and label, for large numbers of either."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of patterns and labels, (P, K)."""

    @abstractmethod
    def rows(self, part: slice) -> NDArray[np.float64]:
        """Return the (n, K) probabilities of some patterns."""

    def of_label(self, label: int) -> NDArray[np.float64]:
        """Return the (P,) probability of one label."""
        patterns, labels = self.shape
        shares = np.empty(patterns)
        for part in chunks(patterns, max(1, SHARES_AT_ONCE // labels)):
            shares[part] = self.rows(part)[:, label]
        return shares


class VoxelShares(FieldsOnly, ABC):
    """Lazily computed probabilities by voxel."""

    @abstractmethod
    def write(self, label: int, out: NDArray[Any]) -> None:
        """Write the probability of the label with this index."""

    def write_within(self, label: int, out: NDArray[Any], box: Box) -> None:
        """Write at least the probabilities in a box of the volume."""
        self.write(label, out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        """Write the uncertainty of each voxel, from the probabilities of all labels."""
        share = np.empty(out.shape, out.dtype)

        def written(label: int) -> NDArray[Any]:
            self.write(label, share)
            return share

        uncertainty(kind, one_by_one(written, range(labels)), out)


class LabelShares(VoxelShares):
    """Probabilities by voxel that are computed as one array per label."""

    @abstractmethod
    def of_label(self, label: int) -> NDArray[Any]:
        """Return the probability of the label with this index at each voxel."""

    def write(self, label: int, out: NDArray[Any]) -> None:
        out[...] = self.of_label(label)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        uncertainty(kind, one_by_one(self.of_label, range(labels)), out)


@dataclass(frozen=True)
class StoredShares(LabelShares):
    """Probabilities stored in memory."""

    shares: Sequence[NDArray[Any]] | NDArray[Any] | LabelWeights  #: Probabilities by label index

    def of_label(self, label: int) -> NDArray[Any]:
        stored: NDArray[Any] = self.shares[label]
        return stored


class Fusion(FieldsOnly, ABC):
    """A fused result, which can be written as labels, probabilities or uncertainty."""

    #: Whether voxels with equal votes always have the same result.
    follows_votes: ClassVar[bool] = False

    @property
    def has_undecided(self) -> bool:
        """Whether any voxel is undecided."""
        return any(bool((part == UNDECIDED).any()) for part in self.answers())

    def answers(self) -> Iterator[NDArray[Any]]:
        """Arrays that together hold every answer that occurs: label indices and codes."""
        yield self.volume()

    @abstractmethod
    def volume(self) -> NDArray[Any]:
        """Return label indices by voxel, or codes of `votes.ties`; BACKGROUND outside the mask."""

    def as_table(self, patterns: DecisionPatterns) -> DecisionTable:
        """Return the result as a table with one row for each pair of pattern and fused result."""
        split, rows, decision = patterns.split_by(self.volume())
        return DecisionTable(split, rows, decision, None)

    @abstractmethod
    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        """Write values[k] for label k, values[-1] for undecided and values[-2] for background."""

    @abstractmethod
    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        """Write the probability of the label with this index."""

    @abstractmethod
    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        """Write the uncertainty of each voxel, from the probabilities of all labels, as float32."""

    def probabilities_at(
        self, places: Mapping[int, NDArray[np.int64]], shape: tuple[int, ...]
    ) -> dict[int, NDArray[np.float64]]:
        """Return probabilities of labels at some voxels of a volume of this shape.

        Parameters
        ----------
        places : mapping of int to (N,) ndarray
            Voxels by label index, as flat indices in ascending order.
        """
        volume, found = np.empty(shape), {}
        for label, where in places.items():
            self.write_probability(label, volume)
            found[label] = volume.reshape(-1)[where]
        return found

    def with_votes(self, votes: LabelVotes) -> Fusion:
        """Return a copy that refers to these votes instead of the caller's images."""
        return self


@dataclass(frozen=True)
class PatternFusion(Fusion):
    """Fusion with one result per pattern."""

    patterns: DecisionPatterns
    decision: NDArray[np.int64]  #: (P,) label index of each pattern, or a code of `votes.ties`
    shares: NDArray[np.float64] | PatternShares  #: (P, K) probabilities

    follows_votes = True

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """(P, K) probabilities; with many patterns and labels, use `of_label` instead."""
        return self.rows(slice(None))

    def rows(self, part: slice) -> NDArray[np.float64]:
        """Return the (n, K) probabilities of some patterns."""
        shares = self.shares
        return shares[part] if isinstance(shares, np.ndarray) else shares.rows(part)

    def of_label(self, label: int) -> NDArray[np.float64]:
        """Return the (P,) probability of the label with this index."""
        shares = self.shares
        return shares[:, label] if isinstance(shares, np.ndarray) else shares.of_label(label)

    def answers(self) -> Iterator[NDArray[Any]]:
        yield self.decision

    def volume(self) -> NDArray[np.int32]:
        return self.patterns.expand(self.decision.astype(np.int32), outside=BACKGROUND)

    def as_table(self, patterns: DecisionPatterns) -> DecisionTable:
        rows = np.arange(len(self.decision))
        return DecisionTable(patterns, rows, self.decision, partial(self.rows, slice(None)))

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        # Negative decisions are Python indices from the end: undecided and background.
        self.patterns.expand(values[self.decision], out=out)

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        values = np.ascontiguousarray(self.of_label(label), dtype=out.dtype)
        self.patterns.expand(values, out=out)

    def probabilities_at(
        self, places: Mapping[int, NDArray[np.int64]], shape: tuple[int, ...]
    ) -> dict[int, NDArray[np.float64]]:
        rows = {label: self.patterns.rows_at(where) for label, where in places.items()}
        # The probability is 0 outside the mask, where rows are negative.
        found = {label: np.zeros(len(row)) for label, row in rows.items()}
        order = {label: np.argsort(row, kind="stable") for label, row in rows.items()}
        # Process blocks with all labels, since computing one label may take as long as computing
        # all.
        step = max(1, SHARES_AT_ONCE // max(1, self.patterns.number_of_labels))
        for part in chunks(len(self.decision), step):
            shares = self.rows(part)
            for label, row in rows.items():
                here = order[label][
                    slice(*row.searchsorted([part.start, part.stop], sorter=order[label]))
                ]
                found[label][here] = shares[row[here] - part.start, label]
        return found

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        unsure = np.empty(len(self.decision), out.dtype)
        # Process blocks with all labels, since computing one label may take as long as computing
        # all.
        for part in chunks(len(unsure), max(1, 16 * CHUNK // max(1, labels))):
            uncertainty(kind, self.rows(part).T, unsure[part])
        self.patterns.expand(unsure, out=out)


class SomeVoxels(Protocol):
    """The voxels of some of the patterns."""

    @property
    def flags(self) -> NDArray[np.bool_]:
        """(P,) whether each pattern is included."""

    def write(self, values: NDArray[Any], volume: NDArray[Any]) -> None:
        """Write (N,) values into the whole volume's array."""


@dataclass(frozen=True)
class ListedVoxels:
    """All voxels of some of the patterns, in any order, as indices."""

    flags: NDArray[np.bool_]  #: (P,) whether each pattern is included
    places: NDArray[np.integer[Any]]  #: (N,) flat indices in the volume

    def write(self, values: NDArray[Any], volume: NDArray[Any]) -> None:
        """Write (N,) values into the whole volume's array, which is contiguous."""
        volume.reshape(-1)[self.places] = values


@dataclass(frozen=True)
class DisputedFusion(Fusion):
    """Fusion with one result per disputed voxel, and one per pattern for all other voxels."""

    voxels: SomeVoxels
    others: PatternFusion  #: Results for unanimous voxels and for voxels that no rater annotated
    #: (N,) integer label index of each disputed voxel, or a code of `votes.ties`.
    winners: NDArray[Any]
    shares: LabelShares  #: (N,) probabilities by label index

    def answers(self) -> Iterator[NDArray[Any]]:
        yield self.others.decision[~self.voxels.flags]
        yield self.winners

    def volume(self) -> NDArray[np.int32]:
        decision = self.others.volume()
        self.voxels.write(self.winners, decision)
        return decision

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        self.others.write_labels(values, out)
        self.voxels.write(values[self.winners], out)

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        self.others.write_probability(label, out)
        self.voxels.write(self.shares.of_label(label), out)

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        unsure = np.empty(len(self.winners), out.dtype)
        self.shares.write_uncertainty(kind, labels, unsure)
        self.others.write_uncertainty(kind, labels, out)
        self.voxels.write(unsure, out)


@dataclass(frozen=True)
class VolumeFusion(Fusion):
    """Fusion with one result per voxel, as produced by spatial methods."""

    decision: NDArray[Any]  #: Integer label index of each voxel, or a code of `votes.ties`
    shares: VoxelShares  #: Probabilities by label index

    def probability(self, label: int) -> NDArray[np.float64]:
        """Return the probability of the label with this index at each voxel."""
        share = np.empty(self.decision.shape)
        self.write_probability(label, share)
        return share

    def volume(self) -> NDArray[Any]:
        return self.decision

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        # Process a few planes at a time, since np.take converts the indices to a wider dtype.
        step = max(1, _VOXELS_AT_ONCE // max(1, out[:1].size))
        for first in range(0, len(out), step):
            part = slice(first, first + step)
            np.take(values, self.decision[part], out=out[part], mode="wrap")

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        self.shares.write(label, out)

    def probabilities_at(
        self, places: Mapping[int, NDArray[np.int64]], shape: tuple[int, ...]
    ) -> dict[int, NDArray[np.float64]]:
        found = {}
        for label, where in places.items():
            # In an array of zeros only the pages that are written to occupy memory.
            volume = np.zeros(shape)
            if where.size:
                axes = np.unravel_index(where, shape)
                box = tuple(slice(int(a.min()), int(a.max()) + 1) for a in axes)
                self.shares.write_within(label, volume, box)
            found[label] = volume.reshape(-1)[where]
        return found

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.shares.write_uncertainty(kind, labels, out)
