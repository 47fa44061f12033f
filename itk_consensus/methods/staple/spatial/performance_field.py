"""Performance estimated from counts pooled over a window, regularised where they are sparse.

Asman & Landman, IEEE TMI 31(6):1326-1336, 2012; section numbers are those of "When Does Consensus
Beat Voting?". As the paper prints section 2.5.4, every observed label leans to the target by a
scale factor of its own: a column would not sum to one, and where it is made to, a large kappa leads
to whichever label was rarely observed, not to the target. Here a column, that of one true label,
has one scale factor: what the rater lacks in the window of that label, or of all others, to a
label's fair share, or one voxel if that is more, times kappa. So 0 leaves the window's own
estimate, and the limit of a large kappa is the target, everywhere.
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

    def valid_target(self, theta: Floats) -> RegularizationTarget:
        """The target that is taken: diagonal in place of a global performance that is no prior.

        It is none where the mean rater does worse than chance, since labels have changed places
        then (section 5.1: validate the global estimate before it is used).
        """
        if self.target == "global" and worse_than_chance(theta[:, :, None])[0]:
            return "diagonal"
        return self.target

    def targets(self, theta: Floats) -> Floats32:
        """(J, K, K) performance that sparse data lean to, given the global one."""
        labels, target = theta.shape[1], self.valid_target(theta)
        if target == "global":
            return np.where(np.isnan(theta), 1 / labels, theta).astype(np.float32)
        right = self.diagonal if target == "diagonal" else 1 / labels
        one = with_diagonal(labels, right, (1 - right) / max(labels - 1, 1))
        return np.broadcast_to(one.astype(np.float32), theta.shape)


def confusion_field(result: SpatialResult, rater: int, observed: int, true: int) -> Floats32:
    """Probability, at every voxel, that the rater says `observed` where the truth is `true`.

    It is the M-step (eqs. 2.5.3 and 2.5.4) of the result's posterior, over the whole volume. Where
    nothing is known about the rater, nor any regularisation, it is the target.
    """
    patterns, fields = result.voxels.patterns, result.settings.fields
    labels = patterns.number_of_labels
    truth = patterns.expand(result.vote.of_label(true).astype(np.float32))
    result.voxels.write(result.posterior[true], truth)

    def pooled(volume: Floats32) -> Floats32:
        return box_sum(volume, fields.radii)

    def says(label: int) -> Floats32:
        return patterns.expand((patterns.patterns[:, rater] == label).astype(np.float32))

    present = patterns.expand(patterns.present[:, rater].astype(np.float32))
    seen, said = pooled(present.copy()), pooled(says(true))
    lacking = seen / np.float32(labels) - np.minimum(said, seen - said)
    target = fields.targets(result.theta)[rater, observed, true]
    sigma = np.float32(fields.kappa) * np.maximum(lacking, 1)
    alpha = fields.alpha(labels)[:, true].astype(np.float32)
    wanted = sigma * target + pooled(truth * says(observed)) + alpha[observed]
    total = sigma + pooled(truth * present) + alpha.sum()
    unknown = np.full_like(wanted, target)
    return np.asarray(np.divide(wanted, total, out=unknown, where=total > 0))
