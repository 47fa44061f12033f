"""A rater who is farther from all others than they are from each other.

Such a mask may be a slip, such as a wrong structure or a wrong series, or the only one that is
right; a vote counts it like any other. Which of the two, only a person can tell.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns

#: Two raters cannot say which of them is far from the other.
LEAST_RATERS = 3

#: A rater deviates whose distance 1 - Dice to the others is so many times theirs among each other,
#: and whose Dice is so much lower. Chosen by `examples/benchmarks/diagnostics_evidence.py --raters`
#: on seeds 1000 to 1011: how often that is so as raters are, and where one drew twice the volume.
TIMES_AS_FAR = 2.5
LOWER_DICE = 0.1


class Deviation(NamedTuple):
    """How far the farthest rater is from the others."""

    rater: int
    dice: float  #: Mean to the others
    others_dice: float  #: Mean among the others
    volume_ratio: float  #: To the others' mean volume; NaN if they marked nothing

    @property
    def times_as_far(self) -> float:
        """Distance 1 - Dice to the others, in units of theirs among each other."""
        among = 1 - self.others_dice
        return (1 - self.dice) / among if among > 0 else np.inf if self.dice < 1 else 1.0

    @property
    def deviates(self) -> bool:
        """Whether that is far."""
        return self.times_as_far > TIMES_AS_FAR and self.others_dice - self.dice > LOWER_DICE


def farthest_rater(patterns: DecisionPatterns) -> Deviation | None:
    """The rater who is farthest from the others; None where fewer than three met each other."""
    dices, volumes = _pairs(patterns)
    met = np.flatnonzero(np.isfinite(dices).any(axis=0))
    if len(met) < LEAST_RATERS:
        return None
    found = [_deviation(dices, volumes, int(rater), met[met != rater]) for rater in met]
    known = [one for one in found if np.isfinite(one.dice) and np.isfinite(one.others_dice)]
    return max(known, key=lambda one: one.times_as_far, default=None)


def _deviation(dices: Floats, volumes: Floats, rater: int, others: Floats) -> Deviation:
    among = dices[np.ix_(others, others)]
    typical = volumes[others].mean()
    return Deviation(
        rater,
        _mean(dices[rater, others]),
        _mean(among),
        float(volumes[rater] / typical) if typical else np.nan,
    )


def _mean(values: Floats) -> float:
    """Mean of those that are known."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan


def _pairs(patterns: DecisionPatterns) -> tuple[Floats, Floats]:
    """(J, J) Dice of all labels but 0 where both raters annotated, NaN if nowhere; (J,) voxels."""
    # By columns: rows of a long table are far apart.
    votes, present = np.ascontiguousarray(patterns.patterns.T), patterns.present.T
    background = np.flatnonzero(patterns.labels == 0)
    marked = present & (votes != background[0]) if background.size else present.copy()
    counts, raters = patterns.counts, len(votes)
    dices = np.full((raters, raters), np.nan)
    for i, j in itertools.combinations(range(raters), 2):
        both = present[i] & present[j]
        total = counts[marked[i] & both].sum() + counts[marked[j] & both].sum()
        same = counts[marked[i] & marked[j] & (votes[i] == votes[j])].sum()
        if both.any():
            dices[i, j] = dices[j, i] = 2 * same / total if total else 1.0
    return dices, np.array([counts[own].sum() for own in marked], np.float64)
