"""Binary STAPLE where patterns are nearly as many as voxels: on packed votes, without patterns.

The same EM as staple.py runs, from one start, with one prior for all voxels. Volumes in chunks
bring a table of patterns all the same: its rows are packed, and give the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.fusion.staple.confusion_model import Maximization
from itk_consensus.fusion.staple.staple import StapleSettings, from_one_start
from itk_consensus.fusion.staple.staple_result import StapleEstimate, in_pairs
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.expected_counts import VoteShares
from itk_consensus.votes.fusions import DecisionTable, PatternFusion
from itk_consensus.votes.packed_votes import PackedVotes
from itk_consensus.votes.ties import BACKGROUND
from itk_consensus.votes.uncertainty import UncertaintyKind, uncertainty


@dataclass(frozen=True)
class PackedModel(Maximization):
    """The model of confusion_model.py on packed votes."""

    table: PackedVotes
    pseudo_counts: Floats  #: (2, 2)
    estimate_prior: bool

    @property
    def _absent_raters(self) -> NDArray[np.int64]:
        return np.flatnonzero(~self.table.present)

    def step(self, theta: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
        sums = self.table.expectation(theta, prior)
        return *self._maximum(sums.counts, sums.mass, prior), sums.log_likelihood

    def step_from_votes(
        self, shares: VoteShares, frequencies: Floats, prior: Floats
    ) -> tuple[Floats, Floats]:
        sums = self.table.expectation_of_votes(_shares(self.table, shares))
        return self._maximum(sums.counts, sums.mass, prior)

    def truth(self, theta: Floats, prior: Floats) -> PackedFusion:
        """What parameters say of each voxel."""
        return PackedFusion(self.table, theta, prior)


def _shares(packed: PackedVotes, shares: VoteShares) -> Floats:
    """(J' + 1,) foreground's share where none, one, ... all of the raters said foreground."""
    votes = np.arange(int(packed.present.sum()) + 1)
    if shares == "mean":
        return np.asarray(votes / votes[-1])
    # Exactly half of the votes is a tie, which both labels share.
    return np.asarray((1 + np.sign(2 * votes - votes[-1])) / 2)


@dataclass(frozen=True)
class PackedFusion:
    """Foreground probability of every voxel, from its votes and the raters' performance."""

    packed: PackedVotes
    theta: Floats  #: (J, 2, 1, 2)
    prior: Floats  #: (1, 2)

    @property
    def has_undecided(self) -> bool:
        return False

    def volume(self) -> NDArray[np.int32]:
        decision = np.empty(self.packed.shape, np.int32)
        self.write_labels(np.array([0, 1, BACKGROUND, BACKGROUND], np.int32), decision)
        return decision

    def on(self, patterns: DecisionPatterns) -> PatternFusion:
        """The same answer, to the last bit, for each pattern of the votes."""
        rows = PackedVotes.from_patterns(patterns)
        foreground = np.empty(rows.shape)
        rows.write_probability(self.theta, self.prior, foreground)
        decision = (foreground >= 1 - foreground).astype(np.int64)
        return PatternFusion(patterns, decision, in_pairs(foreground))

    def as_table(self, patterns: DecisionPatterns) -> DecisionTable:
        return self.on(patterns).as_table(patterns)

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        for voxels, inside, foreground in self._parts():
            label = values[(foreground >= 1 - foreground).astype(np.intp)]
            out.reshape(-1)[voxels] = np.where(inside, label, values[BACKGROUND])

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        self.packed.write_probability(self.theta, self.prior, out)
        if label == 0:
            np.subtract(1, out, out=out)
            if self.packed.mask is not None:
                out.reshape(-1)[self.packed.mask == 0] = 0

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        for voxels, inside, foreground in self._parts():
            shares = in_pairs(foreground).T * inside
            uncertainty(kind, shares, out.reshape(-1)[voxels])

    def _parts(self) -> Iterator[tuple[slice, Any, Floats]]:
        """Some voxels after the other, whether they are inside, and their probability."""
        for voxels in chunks(self.packed.planes.shape[1], 16 * CHUNK):
            part = self.packed.part(voxels)
            foreground = np.empty(part.shape)
            part.write_probability(self.theta, self.prior, foreground)
            yield voxels, True if part.mask is None else part.mask != 0, foreground


@dataclass(frozen=True, kw_only=True)
class PackedStapleResult(StapleEstimate):
    """STAPLE's answer by voxel, beside what it says of the raters."""

    fusion: PackedFusion

    def _expected_votes(self) -> Floats:
        fusion = self.fusion
        return fusion.packed.expectation(fusion.theta, fusion.prior).counts[:, :, 0]


def packed_staple(
    packed: PackedVotes,
    settings: StapleSettings,
    *,
    owner: str = "packed_staple",
) -> PackedStapleResult:
    """Fuse packed votes, among which both labels occur, from the plan's first start."""
    pseudo_counts = settings.pseudo_count_table(2)
    model = PackedModel(packed, pseudo_counts, settings.estimate_prior)
    mass = packed.expectation_of_votes(_shares(packed, "mean")).mass[0, 0]
    frequencies = mass / mass.sum()
    raters = packed.number_of_raters
    end, told = from_one_start(model, raters, frequencies, settings, owner)
    return PackedStapleResult(fusion=PackedFusion(packed, end.theta, end.prior), **told)
