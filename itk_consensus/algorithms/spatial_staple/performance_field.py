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
    """How performance is estimated from a window.

    Attributes
    ----------
    radii : tuple of int
        Half width of the window in voxels, per array axis.
    kappa : float
        Strength of the regularisation.
    target : RegularizationTarget
        What sparse data lean to: each rater's global performance, chance, or `diagonal`.
    diagonal : float
        Probability of the right label in the target "diagonal".
    pseudo_counts : (diagonal, other)
        Added to the counts of every window.
    """

    radii: tuple[int, ...]
    kappa: float = 0.01
    target: RegularizationTarget = "diagonal"
    diagonal: float = 0.9
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


def scale_factors(observed: Floats32, kappa: float) -> Floats32:
    """Eq. 2.5.4's sigma: what each label lacks to a fair share of the window, times kappa.

    Parameters
    ----------
    observed : (K, ...) ndarray
        How often the rater said each label in the window; overwritten by the result.
    """
    share = observed.sum(axis=0) / np.float32(len(observed))
    np.subtract(share, observed, out=observed)
    np.maximum(observed, 0, out=observed)
    observed *= np.float32(kappa)
    return observed


def regularised(
    count: Floats32,
    mass: Floats32,
    sigma: Floats32,
    target: Floats32,
    alpha: Floats32,
    observed: int,
) -> Floats32:
    """Performance from pooled counts (eqs. 2.5.3 and 2.5.4); the target where nothing is known.

    Parameters
    ----------
    count : (...) ndarray
        Posterior mass of the true label where the rater said `observed`.
    mass : (...) ndarray
        The same, whatever the rater said.
    sigma : (K, ...) ndarray
    target, alpha : (K,) ndarray
        Performance leant to, and pseudo-counts, of the true label, by observed label.
    observed : int
    """
    wanted = sigma[observed] * target[observed] + count + alpha[observed]
    total = np.tensordot(target, sigma, axes=1) + mass + alpha.sum()
    unknown = np.full_like(wanted, target[observed])
    return np.asarray(np.divide(wanted, total, out=unknown, where=total > 0))
