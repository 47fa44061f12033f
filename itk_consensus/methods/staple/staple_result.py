"""Result of STAPLE: posterior by pattern or voxel, rater performance, and summary of the EM run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.fusing.estimates import Estimate
from itk_consensus.methods.staple.confusion_model import TruthOfStart, worse_than_chance
from itk_consensus.methods.staple.expectation_maximization import Optima, VoxelBeliefs
from itk_consensus.methods.staple.votes_without_patterns import in_pairs
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import decide_voxels
from itk_consensus.votes.expected_counts import mean_of_votes
from itk_consensus.votes.fusions import (
    DisputedFusion,
    Fusion,
    ListedVoxels,
    PatternFusion,
    PatternShares,
    StoredShares,
)
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.ties import SAME_BELIEF, SAME_LOG_POSTERIOR, UNDECIDED

if TYPE_CHECKING:
    from itk_consensus.methods.staple.staple import StapleSettings

#: Log posteriors closer than this are attributed to the same optimum.
SAME_OPTIMUM = 1e-6

#: Number of patterns compared between all starts at once, which bounds memory.
_PATTERNS_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class StartSummary:
    """Outcome of every start, in the order of the plan.

    Attributes
    ----------
    winner : int
        Index of the start whose result is used.
    log_likelihood, log_posterior : (S,) ndarray
    iterations : (S,) ndarray
    switched : (S,) ndarray of bool
        Starts that ended in a label-switched optimum.
    dice : (S, S) ndarray
        Overlap between the starts' label maps.
    trace : (iterations, S) ndarray
        Log posterior after each iteration.
    """

    winner: int
    log_likelihood: Floats
    log_posterior: Floats
    iterations: NDArray[np.int64]
    switched: NDArray[np.bool_]
    dice: Floats
    trace: Floats

    @property
    def winner_is_switched(self) -> bool:
        """Whether the chosen start ended in a label-switched optimum."""
        return bool(self.switched[self.winner])

    @classmethod
    def of(cls, optima: Optima, winner: int, dice: Floats) -> StartSummary:
        """Summarise the runs of EM."""
        return cls(
            winner,
            optima.log_likelihood,
            optima.log_posterior,
            optima.iterations,
            worse_than_chance(optima.theta),
            dice,
            optima.trace,
        )


@dataclass(frozen=True, kw_only=True)
class StapleEstimate(Estimate):
    """STAPLE's estimate of rater performance, and how EM terminated."""

    #: (J, K, K) confusion matrices [rater, observed, true]; NaN for a rater who cast no vote.
    theta: Floats
    prior: Floats  #: (K,) final label prior; for a spatial prior, its mean
    log_likelihood: float
    log_posterior: float
    iterations: int
    converged: bool
    starts: StartSummary
    settings: StapleSettings
    #: Whether voxels with identical votes always have the same posterior (no Markov field, no soft
    #: votes).
    follows_votes: bool
    smoothness: float | None  #: Final weight of the Markov field; None without one

    @property
    def sensitivity(self) -> Floats:
        """(J,) sensitivity, for two labels; NaN where undefined."""
        return self.theta[:, 1, 1]

    @property
    def specificity(self) -> Floats:
        """(J,) specificity, for two labels; NaN where undefined."""
        return self.theta[:, 0, 0]

    @property
    def foreground_prior(self) -> float:
        """Prior of the foreground, for two labels."""
        return float(self.prior[1])

    @property
    def smoothness_weight(self) -> float:
        """Final weight of the Markov field; 0 without one."""
        return 0.0 if self.smoothness is None else self.smoothness


@dataclass(frozen=True, kw_only=True)
class StapleResult(StapleEstimate, FieldsOnly):
    """STAPLE's segmentation and estimated rater performance, for any vote representation."""

    fusion: Fusion  #: By pattern, by packed votes or, with soft votes or a Markov field, by voxel
    #: Computes the (J, K, K) expected votes by rater, observed label and true label; picklable.
    expected_votes: Callable[[], Floats]
    #: The fused result of each pattern, if votes were patterns; with a Markov field, the mean over
    #: the pattern's voxels.
    by_pattern: PatternFusion | None = None
    voxels: VoxelBeliefs | None = None  #: With a Markov field: the posterior of disputed voxels

    @property
    def predictive_values(self) -> Floats:
        """(J, K) probability that a rater's vote for a label is correct; NaN without such votes."""
        return predictive_values(self.expected_votes())

    @property
    def table(self) -> PatternFusion:
        """The fused result of each pattern, if the votes were stored as patterns."""
        assert self.by_pattern is not None
        return self.by_pattern

    @property
    def patterns(self) -> DecisionPatterns:
        """The votes, if they were stored as patterns."""
        return self.table.patterns

    @property
    def decision(self) -> Labels:
        """(P,) label index of each pattern; undecided on a tie."""
        return self.table.decision

    @cached_property
    def posterior(self) -> Floats:
        """(P, K) probabilities as a dense array; use `table` to read single labels or patterns."""
        return self.table.probabilities

    @property
    def foreground(self) -> Floats:
        """(P,) probability of label 1."""
        return self.posterior[:, 1]


def predictive_values(expected_votes: Floats) -> Floats:
    """Return the (J, K) probabilities that votes for a label are correct; NaN without votes."""
    with np.errstate(invalid="ignore"):
        right = expected_votes / expected_votes.sum(axis=2, keepdims=True)
    return np.asarray(np.einsum("jkk->jk", right))


def result_by_pattern(
    by_pattern: PatternFusion, voxels: VoxelBeliefs | None = None, **found: Any
) -> StapleResult:
    """Build the result for patterns; with a Markov field each disputed voxel has a posterior."""
    patterns = by_pattern.patterns

    fusion: Fusion = by_pattern
    if voxels is not None:
        beliefs = voxels.beliefs
        if found["settings"].binary:
            winners = (beliefs[1] >= 0.5).astype(np.int32)
        else:
            winners = decide_voxels(beliefs, patterns.labels, "undecided", tolerance=SAME_BELIEF)
        places = ListedVoxels(voxels.flags, voxels.voxels)
        fusion = DisputedFusion(places, by_pattern, winners, StoredShares(beliefs))
    return StapleResult(
        fusion=fusion,
        by_pattern=by_pattern,
        voxels=voxels,
        expected_votes=partial(_expected_votes, by_pattern),
        follows_votes=fusion.follows_votes,
        smoothness=None if voxels is None else voxels.weight,
        **found,
    )


def _expected_votes(by_pattern: PatternFusion) -> Floats:
    """Return (J, K, K) expected votes under the posterior of each pattern."""
    patterns = by_pattern.patterns
    return patterns.tally(by_pattern.probabilities * patterns.counts[:, None])


def best_start(optima: Optima) -> int:
    """Return the start with the highest log posterior, preferably one not label-switched.

    Among starts at the same optimum the earliest is returned, so the result does not depend on
    rounding.
    """
    score = np.where(np.isnan(optima.log_posterior), -np.inf, optima.log_posterior)
    switched = worse_than_chance(optima.theta)
    candidates = np.flatnonzero(~switched) if not switched.all() else np.arange(len(score))
    best = score[candidates].max()
    near = score[candidates] >= best - SAME_OPTIMUM
    return int(candidates[near][0])


def pairwise_overlap(decisions: Labels, counts: NDArray[np.int64]) -> Floats:
    """Return (S, S) generalised Dice between (P, S) label maps, pooled over the non-zero labels.

    The numerator is twice the number of voxels with the same non-zero label, which for two labels
    gives the ordinary Dice. The Dice of two empty maps is 1.
    """
    both = np.zeros((decisions.shape[1],) * 2, np.int64)
    sizes = np.zeros(len(both), np.int64)
    for first in range(0, len(counts), _PATTERNS_AT_ONCE):
        part = slice(first, first + _PATTERNS_AT_ONCE)
        some, voxels = decisions[part], counts[part]
        foreground = some != 0
        sizes += voxels @ foreground
        both += [voxels @ ((some == one[:, None]) & foreground) for one in some.T]
    return dice_of(both, sizes[:, None] + sizes[None, :])


def scores_of_start(optima: Optima, start: int) -> dict[str, Any]:
    """Return the final scores of a start, as keyword arguments of `StapleResult`."""
    return {
        "log_likelihood": float(optima.log_likelihood[start]),
        "log_posterior": float(optima.log_posterior[start]),
        "iterations": int(optima.iterations[start]),
        "converged": bool(optima.converged[start]),
    }


def prior_of_start(optima: Optima, start: int) -> Floats:
    """Return the final prior of a start: (K,), or (R, K) if it differs between patterns."""
    prior = optima.prior
    return np.asarray(prior[..., min(start, prior.shape[-2] - 1), :])


def staple_result(
    patterns: DecisionPatterns,
    weights: Floats,
    optima: Optima,
    settings: StapleSettings,
    prior_rows: NDArray[np.uint32] | None = None,
) -> StapleResult:
    """Build the result from the best start, with a summary of all starts."""
    winner = best_start(optima)
    shares, decisions = _answers(patterns, optima, settings, winner)
    theta = optima.theta[:, :, winner]
    if not settings.binary:
        # The column of a label without expected voxels cannot be normalised; ITK reports zeros.
        theta = np.nan_to_num(theta, nan=0.0)
    annotated = np.asarray(patterns.present.any(axis=0))[:, None, None]
    prior = prior_of_start(optima, winner)
    if prior.ndim == 2:
        of_patterns = prior if prior_rows is None else prior[prior_rows]
        prior = np.average(of_patterns, axis=0, weights=weights)
    return result_by_pattern(
        PatternFusion(patterns, decisions[:, winner], shares),
        optima.voxels,
        theta=np.where(annotated, theta, np.nan),
        prior=prior,
        **scores_of_start(optima, winner),
        starts=StartSummary.of(optima, winner, pairwise_overlap(decisions, patterns.counts)),
        settings=settings,
    )


def _answers(
    patterns: DecisionPatterns, optima: Optima, settings: StapleSettings, winner: int
) -> tuple[Floats | PatternShares, Labels]:
    """Return the winner's probabilities and (P, S) decisions; excluded voxels keep their label."""
    agreed = None
    if settings.exclude_consensus:
        agreed = np.where(patterns.unanimous, patterns.lowest_vote.astype(np.int64), -1)
    if settings.binary:
        # Background is 1 - foreground, even where both likelihoods are zero.
        foreground = optima.truth.probabilities([1])[..., 0]
        if agreed is not None:
            foreground = np.where(agreed[:, None] < 0, foreground, agreed[:, None] == 1)
        return in_pairs(foreground[:, winner]), (foreground >= 1 - foreground).astype(np.int64)
    decisions = optima.truth.decisions(SAME_LOG_POSTERIOR)
    if agreed is not None:
        decisions = np.where(agreed[:, None] < 0, decisions, agreed[:, None])
    undecided = np.flatnonzero(decisions[:, winner] == UNDECIDED)
    return TruthOfStart(optima.truth, winner, agreed, patterns, undecided), decisions


def nothing_to_estimate(
    patterns: DecisionPatterns, weights: Floats, settings: StapleSettings
) -> StapleResult:
    """Build the result for votes that are all for one class; the other class is undefined."""
    shares = mean_of_votes(patterns)[:, 1]
    counted = shares[(weights > 0) & ~np.isnan(shares)]
    fallback = float(counted[0]) if counted.size else 0.0
    posterior = in_pairs(np.where(np.isnan(shares), fallback, shares))
    table = patterns.tally(posterior * patterns.counts[:, None])
    with np.errstate(invalid="ignore"):
        theta = table / table.sum(axis=1, keepdims=True)
    only = np.zeros(1)
    summary = StartSummary(
        0, only, only, np.zeros(1, np.int64), np.zeros(1, bool), np.ones((1, 1)), np.zeros((0, 1))
    )
    return result_by_pattern(
        PatternFusion(patterns, (posterior[:, 1] >= 0.5).astype(np.int64), posterior),
        theta=theta,
        prior=in_pairs(np.average(posterior[:, 1], weights=patterns.counts)),
        log_likelihood=0.0,
        log_posterior=0.0,
        iterations=0,
        converged=True,
        starts=summary,
        settings=settings,
    )
