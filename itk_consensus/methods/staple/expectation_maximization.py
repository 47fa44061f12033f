"""EM shared by all STAPLE methods: starting points, damping, and many starts at once.

Starts are an array axis, not a loop, so twenty starts cost little more than one. A start that has
converged is no longer updated, so its result does not depend on how long the others run. Equation
and section numbers refer to "When Does Consensus Beat Voting?".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.iteration import ConvergenceTest, Step, StopRule, iterate
from itk_consensus.methods.staple.confusion_model import (
    ConfusionModel,
    Expectation,
    KnownTruth,
    Maximization,
)
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import FirstTruth, label_voting_theta, shares_of_votes
from itk_consensus.votes.label_weights import LabelWeights

Initialization = Literal[
    "mean", "majority_vote", "theta", "label_voting", "label_voting_with_the_fault_of_itk_5_4"
]

#: The start used in the paper's experiments. Section 4.2 states .99, but its tables are reproduced
#: to the last digit with .9999 and not with .99.
THETA_START = 0.9999

#: Starts that initialise the posterior of the truth instead of the raters' performance.
FROM_VOTES: dict[str, FirstTruth] = {"mean": "mean", "majority_vote": "majority"}


@dataclass(frozen=True)
class StartPlan:
    """Starts to run: the first by name, a second of the other kind, the rest random."""

    initialization: Initialization = "mean"
    number: int = 1
    random_seed: int = 0
    low: float = 0.5
    high: float = 1.0
    performance: float = THETA_START  #: Initial probability of the correct label in start "theta"

    def names(self) -> list[Initialization]:
        """Return the names of the non-random starts."""
        other: Initialization = (
            "mean" if self.initialization == "majority_vote" else "majority_vote"
        )
        return [self.initialization, other][: self.number]


@dataclass(frozen=True)
class Starts:
    """Starting points of S EM runs: confusion matrices, or a posterior derived from the votes."""

    #: (J, K, S, K); all NaN for a start from votes, so that it cannot converge in its first
    #: iteration.
    theta: Floats
    prior: Floats  #: (S, K), (R, 1, K) or (R, S, K)
    #: For each start from votes, in order: how the votes are converted to a posterior.
    votes: tuple[FirstTruth, ...]
    #: (K,) or (R, K) posterior of these starts at voxels that no rater annotated.
    frequencies: Floats

    @cached_property
    def from_votes(self) -> NDArray[np.bool_]:
        """(S,) whether each start is derived from the votes."""
        return np.asarray(np.isnan(self.theta).all(axis=(0, 1, 3)))

    def first_step(self, model: Maximization) -> tuple[Floats, Floats, Floats]:
        """Return next theta and prior, and the (S,) log likelihood (NaN for starts from votes)."""
        theta, prior = self.theta.copy(), self.prior.copy()
        log_likelihood = np.full(theta.shape[2], np.nan)
        known, voted = np.flatnonzero(~self.from_votes), np.flatnonzero(self.from_votes)
        if known.size:
            theta[:, :, known], new, log_likelihood[known] = model.step(
                theta[:, :, known], of_starts(prior, known)
            )
            prior = with_starts(prior, known, new)
        for start, shares in zip(voted, self.votes, strict=True):
            only = np.array([start])
            theta[:, :, only], new = model.step_from_votes(
                shares, self.frequencies, of_starts(prior, only)
            )
            prior = with_starts(prior, only, new)
        return theta, prior, log_likelihood

    def expectation(self, model: ConfusionModel) -> Expectation:
        """Return the posterior of each start before the first step."""
        expected = model.e_step(self.theta, self.prior)
        frequencies = self.frequencies
        if frequencies.ndim == 2:
            frequencies = frequencies[model.prior_rows]
        for start, shares in zip(np.flatnonzero(self.from_votes), self.votes, strict=True):
            truth = shares_of_votes(model.patterns, shares, frequencies)
            expected.responsibilities[:, start] = truth
            with np.errstate(divide="ignore"):
                expected.log_joint[:, start] = np.log(truth)
        return expected


def make_starts(
    model: ConfusionModel, plan: StartPlan, frequencies: Floats, prior: Floats
) -> Starts:
    """Build every start of the plan under one model.

    Parameters
    ----------
    frequencies : (K,) or (R, K) ndarray
        Label frequencies, for voxels that no rater annotated.
    prior : (K,) or (R, K) ndarray
        Initial label prior of all starts; the model's `prior_rows` index its rows.
    """
    named = np.stack([_start_theta(model, plan, name) for name in plan.names()], axis=2)
    theta = np.concatenate([named, _random_thetas(model.patterns, plan)], axis=2)
    shared = prior[:, None, :] if prior.ndim == 2 else np.tile(prior, (plan.number, 1))
    if prior.ndim == 2 and model.estimate_prior:
        # Each start estimates its own prior.
        shared = np.repeat(shared, plan.number, axis=1)
    votes = tuple(FROM_VOTES[name] for name in plan.names() if name in FROM_VOTES)
    return Starts(theta, shared, votes, frequencies)


def _start_theta(model: ConfusionModel, plan: StartPlan, name: Initialization) -> Floats:
    """Return (J, K, K) theta of a named start; NaN for a start from votes."""
    if name.startswith("label_voting"):
        with_fault = name == "label_voting_with_the_fault_of_itk_5_4"
        return label_voting_theta(model.patterns, model.weights, with_fault=with_fault)
    shape = model.patterns.number_of_raters, model.patterns.number_of_labels
    return first_theta(*shape, name, plan.performance)[:, :, 0]


def first_theta(raters: int, labels: int, name: Initialization, performance: float) -> Floats:
    """Return (J, K, 1, K) theta of a start: constant for "theta", NaN for a start from votes."""
    if name == "theta":
        return _theta_with(np.full((raters, 1, labels), performance))
    return np.full((raters, labels, 1, labels), np.nan)


def _random_thetas(patterns: DecisionPatterns, plan: StartPlan) -> Floats:
    """Draw (J, K, S, K) thetas; start k does not depend on the number of starts after it."""
    shape = (plan.number - len(plan.names()), patterns.number_of_raters, patterns.number_of_labels)
    draws = np.random.default_rng(plan.random_seed).uniform(plan.low, plan.high, shape)
    return _theta_with(np.moveaxis(draws, 0, 1))


def _theta_with(diagonal: Floats) -> Floats:
    """Return (J, K, S, K) confusions with these diagonals and evenly shared off-diagonals."""
    labels = diagonal.shape[2]
    others = (1 - diagonal) / max(labels - 1, 1)
    on_diagonal = np.eye(labels, dtype=bool)[:, None, :]
    return np.where(on_diagonal, diagonal[:, None], others[:, None])


@dataclass(frozen=True)
class VoxelBeliefs:
    """Posterior of single voxels after a spatial E-step, which the patterns do not determine."""

    voxels: NDArray[np.unsignedinteger[Any]]  #: (N,) flat indices of the voxels in the volume
    flags: NDArray[np.bool_]  #: (P,) which patterns these voxels have
    beliefs: LabelWeights  #: (K, N) probability of each label
    weight: float  #: Final smoothness weight


@dataclass(frozen=True)
class Optima:
    """Final states of S runs of EM."""

    truth: Any  #: Posterior of the patterns; its type depends on the model
    theta: Floats  #: (J, K, S, K)
    prior: Floats  #: (S, K), (R, 1, K) or (R, S, K)
    log_likelihood: Floats  #: (S,)
    log_posterior: Floats  #: (S,)
    #: (S,) index of the iteration that met the stop rule, or the maximum, counted as in SimpleITK.
    iterations: NDArray[np.int64]
    converged: NDArray[np.bool_]  #: (S,)
    #: (iterations, S) log posterior after each iteration; NaN once a start has stopped.
    trace: Floats
    voxels: VoxelBeliefs | None = None  #: Posterior of single voxels, if the E-step was spatial


class _State(NamedTuple):
    """State of all starts between two iterations; `steps` counts each start's iterations."""

    theta: Floats
    prior: Floats
    score: Floats  #: (S,) log posterior of the previous parameters; NaN in the first iteration
    converged: NDArray[np.bool_]
    steps: NDArray[np.int64]


def _is_still(score: Floats, before: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Return which scores changed by at most the tolerance; -inf never counts as converged."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(score - before) <= tolerance)


def maximize(
    model: Maximization,
    starts: Starts,
    stop: StopRule,
    *,
    damping: float = 0.0,
) -> Optima:
    """Run EM from every start until each has met the stop rule.

    A step returns the log likelihood of its input parameters, so each score belongs to the previous
    iteration, and the last score requires one more E-step. With the stop criterion "likelihood" a
    start therefore makes one step more than necessary. Responsibilities are not stored.
    """
    number = starts.theta.shape[2]
    stillness = ConvergenceTest(stop.tolerance if stop.criterion == "parameters" else 0.0)

    def step(now: _State) -> Step[_State, Floats]:
        active = _still_active(now.converged)
        old, score = now.theta[:, :, active], np.full(number, np.nan)
        if not now.steps.any():
            theta, prior, log_likelihood = starts.first_step(model)
        else:
            theta, prior, log_likelihood = model.step(old, of_starts(now.prior, active))
        score[active] = model.log_posterior(log_likelihood, old, of_starts(now.prior, active))
        new_theta = damped(theta, old, damping)
        if now.converged.any():
            moved, new_theta = new_theta, now.theta.copy()
            new_theta[:, :, active] = moved
        new_prior = with_starts(now.prior, active, prior) if model.estimate_prior else now.prior
        converged = stillness.reached(
            new_theta, now.theta, *[new_prior] * bool(model.estimate_prior)
        )
        if stop.criterion == "likelihood":
            # Converged starts remain converged, although their score is no longer computed.
            converged |= now.converged | _is_still(score, now.score, stop.tolerance)
        state = _State(new_theta, new_prior, score, converged, now.steps + ~now.converged)
        return Step(state, score, bool(converged.all()))

    nowhere = np.full(number, np.nan), np.zeros(number, bool), np.zeros(number, np.int64)
    run = iterate(step, _State(starts.theta, starts.prior, *nowhere), stop.most_iterations)
    theta, prior, _, converged, steps = run.state
    truth: Any
    if run.trace or not starts.votes:
        truth, log_likelihood = model.truth(theta, prior), model.step(theta, prior)[2]
    else:
        assert isinstance(model, ConfusionModel)
        expected = starts.expectation(model)
        truth = KnownTruth(expected.responsibilities, expected.log_joint)
        log_likelihood = expected.log_likelihood
    log_posterior = model.log_posterior(log_likelihood, theta, prior)
    return Optima(
        truth,
        theta,
        prior,
        log_likelihood,
        log_posterior,
        steps - converged,
        converged,
        _trace_after(run.trace, steps, log_posterior),
    )


def _trace_after(before: list[Floats], steps: NDArray[np.int64], last: Floats) -> Floats:
    """Return (iterations, S) scores after each iteration, given those before it and the last."""
    if not before:
        return np.empty((0, len(last)))
    trace = np.stack([*before[1:], np.full(len(last), np.nan)])
    trace[steps - 1, np.arange(len(last))] = last
    return trace


def damped(new: Floats, old: Floats, damping: float) -> Floats:
    """Return the damped (1 - g) new + g old confusion matrices (eq. 17)."""
    if not damping:
        return new
    # Damp only towards columns that sum to one: those of a start from votes are NaN, and ITK's
    # initial matrices are normalised along rows instead.
    proper = np.abs(old.sum(axis=1, keepdims=True) - 1) < 1e-6
    return np.asarray((1 - damping) * new + damping * np.where(proper, old, new))


def _still_active(converged: NDArray[np.bool_]) -> slice | NDArray[np.int64]:
    """Return the index of unconverged starts; a slice if all are unconverged, avoiding copies."""
    return slice(None) if not converged.any() else np.flatnonzero(~converged)


def of_starts(prior: Floats, which: slice | NDArray[np.int64]) -> Floats:
    """Return the prior of some starts; a prior shared by all starts is returned unchanged."""
    return prior if _is_shared(prior) else prior[..., which, :]


def with_starts(prior: Floats, which: slice | NDArray[np.int64], new: Floats) -> Floats:
    """Return the prior with the values of some starts replaced."""
    if _is_shared(prior):
        return new
    changed = prior.copy()
    changed[..., which, :] = new
    return changed


def _is_shared(prior: Floats) -> bool:
    return prior.ndim == 3 and prior.shape[1] == 1
