"""SIMPLE: drop the raters who differ most from the weighted vote, and repeat the vote.

Langerak et al., IEEE Trans. Medical Imaging 29(12):2000-2008, 2010. A rater's performance is the
Dice overlap with the current vote; performances are the weights of the next vote. The method
operates on decision patterns, so its cost does not depend on the number of voxels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.work import in_threads
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.fusing.iteration import Step, iterate
from itk_consensus.methods.voting.majority_vote import VoteResult, majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.ties import TieRule

#: Tolerance for comparing overlaps.
_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True)
class SelectionEstimate(Estimate):
    """Weights and selection of the raters in the last vote."""

    #: (J,) Dice overlap of each rater with the previous vote; 0 for dropped and missing raters.
    weights: Floats
    dropped: NDArray[np.bool_]  #: (J,) whether a rater with any annotation was dropped
    #: Mean change of the label shares of disputed voxels in each iteration.
    trace: tuple[float, ...]
    converged: bool  #: Whether the last iteration dropped no rater

    @property
    def dropped_raters(self) -> tuple[int, ...]:
        """Indices of the dropped raters, counted from 0."""
        return tuple(np.flatnonzero(self.dropped).tolist())


@dataclass(frozen=True, kw_only=True)
class SelectionResult(SelectionEstimate):
    """The last vote, with the weights and selection of the raters."""

    vote: VoteResult

    @property
    def estimate(self) -> SelectionEstimate:
        """This estimate without the vote."""
        return SelectionEstimate.of(self)


class _Selection(NamedTuple):
    """(J,) selected raters, their (J,) weights, and the resulting vote."""

    selected: NDArray[np.bool_]
    weights: Floats
    vote: VoteResult


def selective_simple(
    patterns: DecisionPatterns,
    *,
    deviations: float = 2.0,
    maximum_iterations: int = 10,
    ties: TieRule = "undecided",
) -> SelectionResult:
    """Alternate between the weighted vote and the selection until the selection is stable.

    Raters whose overlap is below mean - deviations * standard deviation are dropped.
    """
    annotated = np.asarray(patterns.present.any(axis=0))

    def step(now: _Selection) -> Step[_Selection, float]:
        overlaps = overlap_with(patterns, now.vote.decision)
        kept = _select(now.selected, overlaps, deviations)
        weights = np.where(kept, overlaps, 0.0) if overlaps[kept].any() else kept.astype(float)
        vote = majority_vote(patterns, weights=weights, ties=ties)
        change = _change(patterns, vote, now.vote)
        stable = bool((kept == now.selected).all())
        return Step(_Selection(kept, weights, vote), change, stable)

    weights = annotated.astype(np.float64)
    first = _Selection(annotated, weights, majority_vote(patterns, weights=weights, ties=ties))
    run = iterate(step, first, maximum_iterations)
    last = run.state
    return SelectionResult(
        vote=last.vote,
        weights=last.weights,
        dropped=annotated & ~last.selected,
        trace=tuple(run.trace),
        converged=run.converged,
    )


def overlap_with(patterns: DecisionPatterns, decision: NDArray[np.int64]) -> Floats:
    """Return the (J,) Dice overlap of each rater with a decision per pattern, over the voxels that
    the rater annotated.

    With several labels this is the mean over the labels that occur in either of the two, except
    label 0, the background. If no other label occurs, the overlap is 1.
    """
    labels, counts = patterns.number_of_labels, patterns.counts
    # Map codes of `votes.ties` (negative) to the index of a missing vote.
    decided_as = np.where(decision < 0, labels, decision)
    agreed, both = np.empty((2, patterns.number_of_raters, labels))
    for rater, own in enumerate(patterns.patterns.T):
        present = np.where(own == labels, 0, counts)
        of_decision = np.bincount(decided_as, present, labels + 1)[:-1]
        both[rater] = of_decision + np.bincount(own, present, labels + 1)[:-1]
        agreed[rater] = np.bincount(own, np.where(own == decided_as, present, 0), labels + 1)[:-1]
    counted = (both > 0) & (patterns.labels != 0)
    dice = np.where(counted, dice_of(agreed, both), 0.0)
    number = np.count_nonzero(counted, axis=1)
    mean = np.divide(dice.sum(axis=1), number, out=np.ones(len(dice)), where=number > 0)
    return np.asarray(mean)


def _select(selected: NDArray[np.bool_], overlaps: Floats, deviations: float) -> NDArray[np.bool_]:
    """Return raters whose overlap is neither far below the mean nor 0, or all if none remain."""
    limit = overlaps[selected].mean() - deviations * overlaps[selected].std() - _ROUNDING
    # With five raters none can be more than two standard deviations below the mean. A rater without
    # overlap has weight 0 anyway, and must not lower the mean of the others.
    kept = selected & (overlaps >= limit) & (overlaps > 0)
    return kept if kept.any() else selected


def _change(patterns: DecisionPatterns, vote: VoteResult, previous: VoteResult) -> float:
    """Return the mean change of the label shares over disputed voxels; 0 if there are none."""
    counts = np.where(patterns.unanimous, 0, patterns.counts)
    if not counts.any():
        return 0.0

    def moved(label: int) -> float:
        return float(np.abs(vote.of_label(label) - previous.of_label(label)) @ counts)

    labels = patterns.number_of_labels
    # Sum in label order, so that the result does not depend on the number of threads.
    return float(sum(in_threads(moved, range(labels))) / labels / counts.sum())
