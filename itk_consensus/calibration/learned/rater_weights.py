"""Learn raters' weights by logistic regression on disputed voxels.

The log-odds of a label at a disputed voxel are linear in the raters' votes, the decision of
Consensus, the logit of the smoothed vote share, and a constant. A Gaussian prior centres the
weights on Consensus, which is thus the result if there are no cases. The disputed voxels of a case
have a total weight of 1, since they are not independent.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.calibration.learned.disputed_label import share_of_step
from itk_consensus.core.array_types import Floats, Mask

#: Prior means of the weight of Consensus and of each rater's weight.
CONSENSUS_WEIGHT = 3.0
RATER_WEIGHT = 0.25
#: Precision of the prior of the constant, relative to that of the other weights.
_INTERCEPT_PRECISION = 0.1

_MOST_STEPS = 50
_CONVERGED = 1e-9
_MOST_HALVINGS = 30


def features(votes: NDArray[np.int8], consensus: Mask, share: NDArray[np.intp]) -> Floats:
    """Return (R, J + 3) features: votes of raters and Consensus as 1 and -1, logit of the
    vote share, and 1.
    """
    logit = scipy.special.logit(share_of_step(share))
    return np.column_stack([votes, np.where(consensus, 1.0, -1.0), logit, np.ones(len(votes))])


def prior_mean(raters: int) -> Floats:
    """Return (J + 3,) prior mean of the weights; all raters together do not outweigh Consensus."""
    mean = np.zeros(raters + 3)
    mean[:raters] = min(RATER_WEIGHT, CONSENSUS_WEIGHT / (1.5 * raters))
    mean[raters] = CONSENSUS_WEIGHT
    return mean


def fit_weights(
    rows: Floats, true: Floats, weights: Floats, precision: float, start: Floats | None = None
) -> Floats:
    """Return the maximum a posteriori weights, found by Newton's method with step halving.

    Parameters
    ----------
    rows : (R, J + 3) ndarray
        Rows as returned by `features`.
    true : (R,) ndarray
        Share of each row's voxels that truly have the label.
    weights : (R,) ndarray
        Weights of the rows in the likelihood.
    precision : float
        Precision of the prior: the larger it is, the closer the weights are to Consensus.
    start : (J + 3,) ndarray, optional
        Initial weights; the optimum does not depend on them.
    """
    mean = prior_mean(rows.shape[1] - 3)
    penalty = np.full(len(mean), precision)
    penalty[-1] *= _INTERCEPT_PRECISION

    def loss(at: Floats) -> float:
        odds = rows @ at
        likelihood = weights @ (true * odds - np.logaddexp(0.0, odds))
        return float(0.5 * penalty @ (at - mean) ** 2 - likelihood)

    found = mean if start is None else start
    value = loss(found)
    for _ in range(_MOST_STEPS):
        chance = scipy.special.expit(rows @ found)
        slope = penalty * (found - mean) - rows.T @ (weights * (true - chance))
        curvature = (rows.T * (weights * chance * (1 - chance))) @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, slope)
        for _ in range(_MOST_HALVINGS):
            lower = loss(found - step)
            if lower <= value:
                break
            step = step / 2
        else:
            break
        found, gained, value = found - step, value - lower, lower
        if gained <= _CONVERGED * (1 + abs(value)):
            break
    return found


def probabilities(rows: Floats, found: Floats) -> Floats:
    """Return the (R,) probability that voxels with these features have the label."""
    return np.asarray(scipy.special.expit(rows @ found))
