"""Performance estimated from counts pooled over a window, regularised where they are sparse.

Asman & Landman, IEEE TMI 31(6):1326-1336, 2012; section numbers are those of "When Does Consensus
Beat Voting?". As printed, section 2.5.4 shrinks each observed label to the target with a separate
scale factor. The columns then do not sum to one, and if they are normalised, a large kappa favours
rarely observed labels instead of approaching the target. Here each column, i.e. each true label,
has one scale factor: kappa times max(1, n / K - min(m, n - m)) voxels, where n is the number of the
rater's votes in the window, and m the number of those for that label. Kappa 0 gives the window's
own estimate, and a large kappa approaches the target everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from itk_consensus.core.array_types import Floats, Floats32
from itk_consensus.methods.staple.confusion_model import with_diagonal, worse_than_chance
from itk_consensus.space.box_sum import box_sum

if TYPE_CHECKING:
    from itk_consensus.methods.staple.spatial.windowed_staple import SpatialResult

RegularizationTarget = Literal["global", "uniform", "diagonal"]
REGULARIZATION_TARGETS: tuple[RegularizationTarget, ...] = get_args(RegularizationTarget)


@dataclass(frozen=True)
class FieldSettings:
    """Settings for estimating performance from a window."""

    radii: tuple[int, ...]  #: Half width of the window in voxels, per array axis
    kappa: float = 0.01  #: Strength of the regularisation
    #: Target of the regularisation: each rater's global performance, chance, or `diagonal`.
    target: RegularizationTarget = "diagonal"
    diagonal: float = 0.9  #: Probability of the correct label in the target "diagonal"
    #: (diagonal, other) pseudo-counts added to every window.
    pseudo_counts: tuple[float, float] = (2.0, 0.0)

    def alpha(self, labels: int) -> Floats:
        """Return (K, K) pseudo-counts [observed, true]."""
        return with_diagonal(labels, *self.pseudo_counts)

    def valid_target(self, theta: Floats) -> RegularizationTarget:
        """Return the target to use: "diagonal" if the global performance is invalid.

        The global performance is invalid if the mean rater is worse than chance, since its labels
        are then switched (section 5.1: validate the global estimate before using it).
        """
        if self.target == "global" and worse_than_chance(theta[:, :, None])[0]:
            return "diagonal"
        return self.target

    def targets(self, theta: Floats) -> Floats32:
        """Return the (J, K, K) target performance, given the global performance."""
        labels, target = theta.shape[1], self.valid_target(theta)
        if target == "global":
            return np.where(np.isnan(theta), 1 / labels, theta).astype(np.float32)
        right = self.diagonal if target == "diagonal" else 1 / labels
        matrix = with_diagonal(labels, right, (1 - right) / max(labels - 1, 1))
        return np.broadcast_to(matrix.astype(np.float32), theta.shape)


def confusion_field(result: SpatialResult, rater: int, observed: int, true: int) -> Floats32:
    """Return the probability, at every voxel, that the rater votes `observed` given `true`.

    The probability results from an M-step (eqs. 2.5.3 and 2.5.4) over the whole volume, given the
    result's posterior. At voxels with neither votes nor regularisation, it equals the target.
    """
    patterns, fields = result.voxels.patterns, result.settings.fields
    labels = patterns.number_of_labels
    truth = patterns.expand(result.vote.of_label(true).astype(np.float32))
    result.voxels.write(result.posterior[true], truth)

    def pooled(volume: Floats32) -> Floats32:
        return box_sum(volume, fields.radii)

    def votes_for(label: int) -> Floats32:
        return patterns.expand((patterns.patterns[:, rater] == label).astype(np.float32))

    present = patterns.expand(patterns.present[:, rater].astype(np.float32))
    votes, of_label = pooled(present.copy()), pooled(votes_for(true))
    lacking = votes / np.float32(labels) - np.minimum(of_label, votes - of_label)
    target = fields.targets(result.theta)[rater, observed, true]
    sigma = np.float32(fields.kappa) * np.maximum(lacking, 1)
    alpha = fields.alpha(labels)[:, true].astype(np.float32)
    observations = sigma * target + pooled(truth * votes_for(observed)) + alpha[observed]
    total = sigma + pooled(truth * present) + alpha.sum()
    unknown = np.full_like(observations, target)
    return np.asarray(np.divide(observations, total, out=unknown, where=total > 0))
