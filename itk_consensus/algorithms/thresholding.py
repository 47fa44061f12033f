"""When a fused map is nothing but a thresholded average of the raters' masks.

Van Leemput & Sabuncu, MICCAI 2014; equations 27-29 of "When Does Consensus Beat Voting?".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.labels.decision_patterns import DecisionPatterns


@dataclass(frozen=True)
class ThresholdEquivalence:
    """How close a binary map is to a thresholded vote fraction.

    Attributes
    ----------
    threshold : float
        The level whose thresholded vote fraction is closest.
    dice : float
        Overlap with it.
    slope, offset : float
        Of the log odds as a linear function of the vote fraction (eqs. 28, 29).
    """

    threshold: float
    dice: float
    slope: float
    offset: float


def equivalent_threshold(
    patterns: DecisionPatterns, foreground: NDArray[np.bool_]
) -> ThresholdEquivalence:
    """Find the level (l - 1/2) / J at which the thresholded vote is closest to the map.

    Parameters
    ----------
    patterns : DecisionPatterns
        Of a binary stack.
    foreground : (P,) ndarray of bool
        The map, by pattern.
    """
    raters = patterns.number_of_raters
    votes = patterns.votes()
    fraction = votes[:, 1] / np.maximum(votes.sum(axis=1), 1)
    levels = (np.arange(raters) + 0.5) / raters
    maps = fraction[:, None] >= levels
    counts = patterns.counts.astype(np.float64)
    both = counts @ (maps & foreground[:, None])
    total = counts @ maps + counts @ foreground
    dice = np.divide(2 * both, total, out=np.ones_like(total), where=total > 0)
    best = int(dice.argmax())
    slope, offset = log_odds_line(patterns, foreground)
    return ThresholdEquivalence(float(levels[best]), float(dice[best]), slope, offset)


def log_odds_line(patterns: DecisionPatterns, foreground: NDArray[np.bool_]) -> tuple[float, float]:
    """Slope and offset of the conditional log odds around a map, eqs. 27-29."""
    truth = np.stack([~foreground, foreground], axis=1) * patterns.counts[:, None]
    table = patterns.tally(truth) + 1
    c = np.log(table / table.sum(axis=1, keepdims=True))
    mean = c.mean(axis=0)
    raters = patterns.number_of_raters
    prior = np.log(truth.sum(axis=0) + 1)
    slope = raters * (mean[0, 0] + mean[1, 1] - mean[1, 0] - mean[0, 1])
    offset = raters * (mean[0, 1] - mean[0, 0]) + prior[1] - prior[0]
    return float(slope), float(offset)
