"""Where EM starts, and which of many optima is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.confusion_model import ConfusionModel
from itk_consensus.algorithms.expectation_maximization import Optima, Starts
from itk_consensus.array_types import Floats, Labels
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.expected_counts import VoteShares, label_voting_theta

Initialization = Literal["mean", "majority_vote", "theta", "label_voting"]

#: The paper's fixed start (section 2.2; notebook value).
THETA_START = 0.9999

#: Log posteriors closer than this are the same optimum, reached along another path.
SAME_OPTIMUM = 1e-6


@dataclass(frozen=True)
class StartPlan:
    """Which starts to run: the first by name, a second of the other kind, the rest random."""

    initialization: Initialization = "mean"
    number: int = 1
    random_seed: int = 0
    low: float = 0.5
    high: float = 1.0

    def names(self) -> list[Initialization]:
        """The starts that have a name."""
        other: Initialization = (
            "mean" if self.initialization == "majority_vote" else "majority_vote"
        )
        return [self.initialization, other][: self.number]


@dataclass(frozen=True)
class StartSummary:
    """What every start found; starts are in the order they were planned.

    Attributes
    ----------
    winner : int
        The start whose answer was taken.
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

    @classmethod
    def of(cls, optima: Optima, winner: int, dice: Floats) -> StartSummary:
        """What is worth telling of where runs of EM ended."""
        return cls(
            winner,
            optima.log_likelihood,
            optima.log_posterior,
            optima.iterations,
            label_switched(optima),
            dice,
            optima.trace,
        )


#: Starts that say what the truth is instead of how the raters perform.
FROM_VOTES: dict[str, VoteShares] = {"mean": "mean", "majority_vote": "majority"}


def make_starts(
    model: ConfusionModel, plan: StartPlan, frequencies: Floats, prior: Floats
) -> Starts:
    """Build every start of the plan under one model.

    Parameters
    ----------
    frequencies : (K,) or (R, K) ndarray
        Label frequencies, for voxels that nobody annotated.
    prior : (K,) or (R, K) ndarray
        The label prior all starts share; rows as of the model's `prior_rows`.
    """
    named = np.stack([_start_theta(model, name) for name in plan.names()], axis=2)
    theta = np.concatenate([named, _random_thetas(model.patterns, plan)], axis=2)
    shared = prior[:, None, :] if prior.ndim == 2 else np.tile(prior, (plan.number, 1))
    if prior.ndim == 2 and model.estimate_prior:
        # Every start estimates priors of its own.
        shared = np.repeat(shared, plan.number, axis=1)
    votes = tuple(FROM_VOTES[name] for name in plan.names() if name in FROM_VOTES)
    return Starts(theta, shared, votes, frequencies)


def _start_theta(model: ConfusionModel, name: Initialization) -> Floats:
    """(J, K, K) of a named start; NaN for one that is made from votes."""
    if name == "label_voting":
        return label_voting_theta(model.patterns, model.weights)
    shape = model.patterns.number_of_raters, model.patterns.number_of_labels
    return first_theta(*shape, name)[:, :, 0]


def first_theta(raters: int, labels: int, name: Initialization) -> Floats:
    """(J, K, 1, K) of a start that needs no votes for it; NaN for one that is made from votes."""
    if name == "theta":
        return _theta_with(np.full((raters, 1, labels), THETA_START))
    return np.full((raters, labels, 1, labels), np.nan)


def _random_thetas(patterns: DecisionPatterns, plan: StartPlan) -> Floats:
    """(J, K, S, K) of the random starts; start k is the same however many starts follow it."""
    shape = (plan.number - len(plan.names()), patterns.number_of_raters, patterns.number_of_labels)
    draws = np.random.default_rng(plan.random_seed).uniform(plan.low, plan.high, shape)
    return _theta_with(np.moveaxis(draws, 0, 1))


def _theta_with(diagonal: Floats) -> Floats:
    """(J, K, S, K) confusion with (J, S, K) diagonals, the rest of each column shared evenly."""
    labels = diagonal.shape[2]
    others = (1 - diagonal) / max(labels - 1, 1)
    on_diagonal = np.eye(labels, dtype=bool)[:, None, :]
    return np.where(on_diagonal, diagonal[:, None], others[:, None])


def label_switched(optima: Optima) -> NDArray[np.bool_]:
    """(S,) whether the mean rater does worse than chance: the labels have changed places.

    For two labels this is mean sensitivity + specificity < 1. A class without mass, whose
    performance is undefined, cannot have been switched.
    """
    diagonal = np.einsum("jksk->sjk", optima.theta)
    defined = ~np.isnan(diagonal)
    raters = defined.sum(axis=1)
    total = np.where(defined, diagonal, 0.0).sum(axis=1)
    mean = np.divide(total, raters, out=np.ones_like(total), where=raters > 0)
    return np.asarray(mean.sum(axis=1) < 1 - 1e-9)


def best_start(optima: Optima) -> int:
    """The start with the highest log posterior that is not label-switched, if there is one.

    Of starts at the same optimum the earliest is taken, so rounding does not choose.
    """
    score = np.where(np.isnan(optima.log_posterior), -np.inf, optima.log_posterior)
    switched = label_switched(optima)
    candidates = np.flatnonzero(~switched) if not switched.all() else np.arange(len(score))
    best = score[candidates].max()
    near = score[candidates] >= best - SAME_OPTIMUM
    return int(candidates[near][0])


def pairwise_overlap(decisions: Labels, counts: NDArray[np.int64]) -> Floats:
    """(S, S) generalised Dice between (P, S) label maps: twice the agreeing non-zero-label voxels.

    With the first label as background this is the Dice of everything else pooled; for two labels
    it is the ordinary Dice. Two empty maps agree.
    """
    foreground = decisions != 0
    sizes = counts @ foreground
    both = np.stack([counts @ ((decisions == one[:, None]) & foreground) for one in decisions.T])
    total = sizes[:, None] + sizes[None, :]
    return np.asarray(np.divide(2.0 * both, total, out=np.ones(both.shape), where=total > 0))
