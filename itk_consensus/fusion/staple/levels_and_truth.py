"""What COLLATE's parameters say of each pattern: its consensus level and its truth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats
from itk_consensus.fusion.staple.confusion_model import EstimatedTruth
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.ties import SAME_LOG_POSTERIOR, decide

#: Pairs of pattern and truth looked at together.
_PAIRS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class LevelsAndTruth:
    """What the parameters say of each pattern; (level, label) pairs are the truths of the table."""

    estimated: EstimatedTruth
    shape: tuple[int, int]

    def of_label(self, label: int) -> Floats:
        """(P,) probability of a label."""
        levels, labels = self.shape
        at_levels = self.estimated.probabilities([k * labels + label for k in range(levels)])
        # Sums of probabilities may exceed one by rounding.
        return np.asarray(at_levels[:, 0].sum(axis=1).clip(max=1.0))

    def rows(self, part: slice) -> Floats:
        """(n, K) probabilities of some patterns."""
        return np.asarray(self._pairs(part).sum(axis=1).clip(max=1.0))

    def levels(self) -> Floats:
        """(P, L) probability of each level."""
        return np.concatenate(
            [self._pairs(part).sum(axis=2).clip(max=1.0) for part in self._parts()]
        )

    def decisions(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """(P,) most probable label, or undecided on a tie."""
        with np.errstate(divide="ignore"):
            scores = (np.log(self._pairs(part).sum(axis=1)) for part in self._parts())
            return np.concatenate(
                [decide(of, labels, tolerance=SAME_LOG_POSTERIOR) for of in scores]
            )

    def _parts(self) -> Iterator[slice]:
        """Patterns whose pairs take little memory."""
        return chunks(
            len(self.estimated.table.weights), max(1, _PAIRS_AT_ONCE // math.prod(self.shape))
        )

    def _pairs(self, part: slice) -> Floats:
        """(n, L, K) probability of each pair."""
        return self.estimated.probabilities(part=part).reshape(-1, *self.shape)
