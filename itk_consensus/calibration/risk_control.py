"""Thresholds that keep a promise about the next case.

Split conformal prediction (Vovk et al.; section 2.8.2 of the paper) and conformal risk control
(Angelopoulos et al., 2022). The exchangeable unit is the case, never the voxel.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf

import numpy as np
from scipy.special import betaincinv

from itk_consensus.calibration.score_distribution import ScoreDistribution, as_written


def conformal_rank(alpha: float, n: int) -> int:
    """k = ceil((1 - alpha)(n + 1)): the threshold is the k-th smallest of n scores."""
    return n + 1 - int(as_written(alpha) * (n + 1))


def cases_needed(alpha: float) -> int:
    """The fewest cases for which the rank does not exceed their number: ceil(1 / alpha) - 1."""
    return ceil(1 / as_written(alpha)) - 1


def conformal_threshold(scores: Sequence[float], alpha: float) -> float:
    """The k-th smallest score; infinite if k exceeds their number."""
    rank = conformal_rank(alpha, len(scores))
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else inf


def coverage_range(alpha: float, n: int) -> tuple[float, float]:
    """10th and 90th percentile, over calibration sets, of the coverage they really give.

    Given the n calibration cases the coverage of further cases is Beta(k, n + 1 - k).
    """
    rank = conformal_rank(alpha, n)
    low, high = betaincinv(rank, n + 1 - rank, [0.1, 0.9])
    return float(low), float(high)


def case_loss(case: Sequence[ScoreDistribution], threshold: float) -> float:
    """The largest share, over labels, of a label's voxels that a threshold leaves out."""
    return max(label.missed(threshold) for label in case)


def risk_threshold(cases: Sequence[Sequence[ScoreDistribution]], alpha: float) -> float:
    """The smallest threshold at which ``(sum of losses + 1) / (n + 1) <= alpha``.

    The next case's expected loss is then at most alpha: losses are at most 1 and never rise with
    the threshold. The sum changes only at scores that occur, so those are searched, exactly.

    Parameters
    ----------
    cases : sequence of n sequences of ScoreDistribution
        Each case's distributions, one per label whose share counts.

    Returns
    -------
    float
        Infinite if no threshold will do.
    """
    occurring = [label.values for case in cases for label in case]
    candidates = np.append(np.unique(np.concatenate(occurring)), inf)
    first, last = 0, len(candidates) - 1
    while first < last:
        middle = (first + last) // 2
        total = sum(case_loss(case, candidates[middle]) for case in cases)
        if (total + 1) / (len(cases) + 1) <= alpha:
            last = middle
        else:
            first = middle + 1
    return float(candidates[first])
