"""Shares of labels at disputed voxels: each has shares of the few labels that somebody gave it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.votes.disputed_voxels import DisputedVoxels
from itk_consensus.work import report


@dataclass(frozen=True)
class VotedShares:
    """Seen as an array it is (K, N)."""

    #: For each label the disputed voxels to which somebody gave it, ascending.
    members: Sequence[NDArray[np.uint32]]
    values: Sequence[Floats]  #: The label's share at each of them
    number: int  #: N

    @classmethod
    def of_votes(cls, voxels: DisputedVoxels, share_of: Any) -> VotedShares:
        """What votes say; `share_of` gives the (P,) shares of a label by pattern."""
        # Not those of `voxels`, which would keep them.
        patterns, rows = voxels.patterns, DisputedVoxels(voxels.patterns, voxels.region).rows
        members, values = [], []
        for label in range(patterns.number_of_labels):
            report(0.0)
            said = (patterns.patterns == label).any(axis=1)
            members.append(np.flatnonzero(said[rows]).astype(np.uint32))
            values.append(np.asarray(share_of(label)[rows[members[-1]]]))
        return cls(members, values, len(rows))

    def with_values(self, values: Sequence[Floats]) -> VotedShares:
        """Other shares of the same labels."""
        return VotedShares(self.members, values, self.number)

    def range_of(self, label: int, first: int, last: int) -> slice:
        """Where a label's members from `first` to `last` - 1 are in its list."""
        return slice(*self.members[label].searchsorted([first, last]).tolist())

    def change_from(self, other: VotedShares) -> float:
        """Mean change of the shares since other ones."""
        pairs = zip(self.values, other.values, strict=True)
        return sum(float(np.abs(a - b).sum()) for a, b in pairs) / (len(self) * self.number)

    def __len__(self) -> int:
        """K."""
        return len(self.members)

    def __getitem__(self, label: int) -> Floats:
        """(N,) shares of a label."""
        row = np.zeros(self.number)
        row[self.members[label]] = self.values[label]
        return row

    def __iter__(self) -> Iterator[Floats]:
        return (self[label] for label in range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(list(self), dtype).reshape(len(self), self.number)

    def columns(self, part: slice) -> Floats:
        """(K, n) shares at some voxels."""
        table = np.zeros((len(self), part.stop - part.start))
        for label, row in enumerate(table):
            here = self.range_of(label, part.start, part.stop)
            row[self.members[label][here] - np.uint32(part.start)] = self.values[label][here]
        return table
