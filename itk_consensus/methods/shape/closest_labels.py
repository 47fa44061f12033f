"""Find the closest labels of each voxel one label at a time, without a labels x voxels table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Floats32
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.ties import TieRule, decide

#: Rivals are pruned when there are more than this number per voxel.
_MOST_RIVALS = 2


class ClosestLabels:
    """Nearest labels of N voxels among the labels added so far.

    Parameters
    ----------
    number : int
        Number of voxels, N.
    tolerance : float
        Maximum difference from the smallest distance at which labels are tied.
    scale : float
        Increase in distance that lowers the odds by a factor of e.
    """

    def __init__(self, number: int, tolerance: float, scale: float) -> None:
        #: (N,) smallest distance; infinite if there is none.
        self.nearest: Floats32 = np.full(number, np.inf, np.float32)
        #: (N,) sum over labels of exp((nearest - distance) / scale).
        self.odds: Floats32 = np.zeros(number, np.float32)
        self._tolerance, self._scale = tolerance, np.float32(scale)
        self._rivals: list[_Rivals] = []
        self._number_of_rivals = 0

    def add(self, label: int, members: NDArray[np.intp], distances: Floats32) -> None:
        """Add a label's distances from some of the voxels; labels must be added in order."""
        before = self.nearest[members]
        now = np.minimum(before, distances)
        self.nearest[members] = now
        now[np.isinf(now)] = 0.0
        faded = self.odds[members] * np.exp((now - before) / self._scale)
        self.odds[members] = faded + np.exp((now - distances) / self._scale)
        self._keep(_Rivals(label, members.astype(np.uint32), distances).within(self._bound))

    def odds_of(self, members: NDArray[np.intp], distances: Floats32) -> Floats32:
        """Return the (N,) terms that a label at these distances contributes to `odds`."""
        odds = np.zeros_like(self.odds)
        nearest = self.nearest[members]
        nearest[np.isinf(nearest)] = 0.0
        odds[members] = np.exp((nearest - distances) / self._scale)
        return odds

    def decision(self, labels: NDArray[Any], rule: TieRule, prior: Floats) -> NDArray[Any]:
        """Return (N,) label indices, or codes of `votes.ties`; arguments are those of `decide`.

        Call this method once, after adding all labels, since it clears the rivals.
        """
        self._prune()
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
        """Return (n,) decisions for voxels that do not have exactly one closest label."""
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
            self._prune()

    def _prune(self) -> None:
        """Drop rivals that are no longer closest since closer labels were added."""
        self._rivals = [rivals.within(self._bound) for rivals in self._rivals]
        self._number_of_rivals = sum(len(rivals.members) for rivals in self._rivals)


class _Rivals:
    """A label with the voxels to which it may be the closest, and its distances from them."""

    def __init__(self, label: int, members: NDArray[np.uint32], distances: Floats32) -> None:
        self.label, self.members, self.distances = label, members, distances

    def within(self, bound: Any) -> _Rivals:
        """Return the rivals with finite distances that do not exceed the bound of their voxel."""
        close = (self.distances <= bound(self.members)) & np.isfinite(self.distances)
        return _Rivals(self.label, self.members[close], self.distances[close])
