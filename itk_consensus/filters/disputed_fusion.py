"""A result that differs from the vote only at the voxels the raters disagree about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.majority_vote import VoteResult
from itk_consensus.labels.disputed_voxels import DisputedVoxels
from itk_consensus.labels.ties import BACKGROUND, UNDECIDED


@dataclass(frozen=True)
class DisputedFusion:
    """Unanimous voxels keep their label; every disputed voxel has its own answer.

    Attributes
    ----------
    voxels : DisputedVoxels
    vote : VoteResult
        What unanimous voxels, and those nobody annotated, get.
    winners : (N,) ndarray of int
        Label index per disputed voxel, or a code of `labels.ties`.
    probability : callable
        Gives (N,) probabilities of a label index; made when asked for, to keep memory small.
    """

    voxels: DisputedVoxels
    vote: VoteResult
    winners: NDArray[Any]
    probability: Callable[[int], NDArray[Any]]

    @property
    def has_undecided(self) -> bool:
        others = self.vote.decision[~self.voxels.flags]
        return bool((others == UNDECIDED).any() or (self.winners == UNDECIDED).any())

    @property
    def decision(self) -> NDArray[np.int32]:
        """Label index, or a code of `labels.ties`, of every voxel of the volume."""
        decision = self.voxels.patterns.expand(
            self.vote.decision.astype(np.int32), outside=BACKGROUND
        )
        self.voxels.write(self.winners, decision)
        return decision

    def write_labels(self, values: NDArray[Any], out: NDArray[Any]) -> None:
        # Negative decisions are Python indices from the end: undecided, background.
        self.voxels.patterns.expand(values[self.vote.decision], out=out)
        self.voxels.write(values[self.winners], out)

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        shares = np.ascontiguousarray(self.vote.fractions[:, label], dtype=out.dtype)
        self.voxels.patterns.expand(shares, out=out)
        self.voxels.write(self.probability(label), out)
