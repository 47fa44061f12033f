"""Which labels are closest to each voxel, label by label: no table of labels x voxels is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Floats32
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.ties import TieRule, decide

#: Rivals are sifted when there are so many per voxel.
_MOST_RIVALS = 2


class ClosestLabels:
    """A summary of the labels seen so far, from N voxels.

    Parameters
    ----------
    number : int
        N.
    tolerance : float
        Distances this close to the smallest count as tied.
    scale : float
        Distance by which odds fall by a factor e.
    """

    def __init__(self, number: int, tolerance: float, scale: float) -> None:
        #: (N,) smallest distance; infinite where there is none.
        self.nearest: Floats32 = np.full(number, np.inf, np.float32)
        #: (N,) sum over the labels of exp((nearest - distance) / scale).
        self.odds: Floats32 = np.zeros(number, np.float32)
        self._tolerance, self._scale = tolerance, np.float32(scale)
        self._rivals: list[_Rivals] = []
        self._number_of_rivals = 0

    def add(self, label: int, members: NDArray[np.intp], distances: Floats32) -> None:
        """Take note of a label's distances from some of the voxels; labels come in order."""
        before = self.nearest[members]
        now = np.minimum(before, distances)
        self.nearest[members] = now
        now[np.isinf(now)] = 0.0
        faded = self.odds[members] * np.exp((now - before) / self._scale)
        self.odds[members] = faded + np.exp((now - distances) / self._scale)
        self._keep(_Rivals(label, members.astype(np.uint32), distances).within(self._bound))

    def odds_of(self, members: NDArray[np.intp], distances: Floats32) -> Floats32:
        """(N,) odds of a label with these distances, of which `odds` is the sum."""
        odds = np.zeros_like(self.odds)
        nearest = self.nearest[members]
        nearest[np.isinf(nearest)] = 0.0
        odds[members] = np.exp((nearest - distances) / self._scale)
        return odds

    def decision(self, labels: NDArray[Any], rule: TieRule, prior: Floats) -> NDArray[Any]:
        """(N,) label index, or a code of `votes.ties`; arguments as of `decide`.

        After all labels: who could win is forgotten with it.
        """
        self._sift()
        settled = np.zeros(len(self.nearest), np.min_scalar_type(-len(labels) - 2))
        number = np.zeros(len(self.nearest), np.uint16)
        for rivals in self._rivals:
            settled[rivals.members] = rivals.label
            number[rivals.members] += 1
        unsettled = np.flatnonzero(number != 1)
        settled[unsettled] = self._among_rivals(unsettled, labels, rule, prior)
        self._rivals = []
        return settled

    def _among_rivals(
        self, voxels: NDArray[np.intp], labels: NDArray[Any], rule: TieRule, prior: Floats
    ) -> NDArray[np.int64]:
        """(n,) decisions where not exactly one label is closest."""
        position = np.full(len(self.nearest), -1, np.int32)
        position[voxels] = np.arange(len(voxels), dtype=np.int32)
        rows = [position[rivals.members] for rivals in self._rivals]
        decision = np.empty(len(voxels), np.int64)
        for part in chunks(len(voxels), max(1, CHUNK * 16 // max(1, len(labels)))):
            scores = np.full((part.stop - part.start, len(labels)), -np.inf)
            for rivals, row in zip(self._rivals, rows, strict=True):
                here = (row >= part.start) & (row < part.stop)
                scores[row[here] - part.start, rivals.label] = -rivals.distances[here]
            decision[part] = decide(scores, labels, rule, tolerance=self._tolerance, prior=prior)
        return decision

    def _bound(self, members: NDArray[np.uint32]) -> Floats:
        return self.nearest[members].astype(np.float64) + self._tolerance

    def _keep(self, rivals: _Rivals) -> None:
        self._rivals.append(rivals)
        self._number_of_rivals += len(rivals.members)
        if self._number_of_rivals > _MOST_RIVALS * len(self.nearest):
            self._sift()

    def _sift(self) -> None:
        """Forget those that a later label has outdone."""
        self._rivals = [rivals.within(self._bound) for rivals in self._rivals]
        self._number_of_rivals = sum(len(rivals.members) for rivals in self._rivals)


class _Rivals:
    """Voxels to which a label is or was about as close as any, and its distances from them."""

    def __init__(self, label: int, members: NDArray[np.uint32], distances: Floats32) -> None:
        self.label, self.members, self.distances = label, members, distances

    def within(self, bound: Any) -> _Rivals:
        """Those not beyond the bound of their voxel; an infinite distance is no rival."""
        close = (self.distances <= bound(self.members)) & np.isfinite(self.distances)
        return _Rivals(self.label, self.members[close], self.distances[close])
