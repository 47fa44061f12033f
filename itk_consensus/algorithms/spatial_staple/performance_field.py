"""Performance estimated from counts pooled over a window, regularised where they are sparse.

Asman & Landman, IEEE TMI 31(6):1326-1336, 2012; equation numbers are those of "When Does Consensus
Beat Voting?", section 2.5. The denominator of eq. 2.5.4 is the sum of the numerators over the
observed labels, as in Asman & Landman: as the paper prints it a column would not sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from itk_consensus.algorithms.confusion_model import with_diagonal
from itk_consensus.array_types import Floats, Floats32

RegularizationTarget = Literal["global", "uniform", "diagonal"]
REGULARIZATION_TARGETS: tuple[RegularizationTarget, ...] = get_args(RegularizationTarget)


@dataclass(frozen=True)
class FieldSettings:
    """How performance is estimated from a window."""

    radii: tuple[int, ...]  #: Half width of the window in voxels, per array axis
    kappa: float = 0.01  #: Strength of the regularisation
    #: What sparse data lean to: each rater's global performance, chance, or `diagonal`.
    target: RegularizationTarget = "diagonal"
    diagonal: float = 0.9  #: Probability of the right label in the target "diagonal"
    #: (diagonal, other) added to the counts of every window.
    pseudo_counts: tuple[float, float] = (2.0, 0.0)

    def alpha(self, labels: int) -> Floats:
        """(K, K) pseudo-counts [observed, true]."""
        return with_diagonal(labels, *self.pseudo_counts)

    def targets(self, theta: Floats) -> Floats32:
        """(J, K, K) performance that sparse data lean to, given the global one."""
        labels = theta.shape[1]
        if self.target == "global":
            return np.where(np.isnan(theta), 1 / labels, theta).astype(np.float32)
        right = self.diagonal if self.target == "diagonal" else 1 / labels
        one = with_diagonal(labels, right, (1 - right) / max(labels - 1, 1))
        return np.broadcast_to(one.astype(np.float32), theta.shape)
