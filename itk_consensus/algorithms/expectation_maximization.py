"""The EM loop that every STAPLE shares: step, trace, stop rule, damping, many starts at once.

Starts are an array axis, not a loop: twenty cost little more than one. A start that has converged
is set aside, so its numbers do not depend on how long the others take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.confusion_model import ConfusionModel, Expectation, Floats

#: Called after each iteration with its number from 1; returning False stops the loop.
IterationObserver = Callable[[int], bool]


@dataclass(frozen=True)
class StopRule:
    """When to stop: every |change of theta| <= tolerance, or the cap."""

    tolerance: float
    maximum_iterations: int


@dataclass(frozen=True)
class Starts:
    """Where S runs of EM begin.

    Attributes
    ----------
    responsibilities : (P, S, K) ndarray
        The first M-step works on these.
    prior : (S, K), (P, 1, K) or (P, S, K) ndarray
    theta : (J, K, S, K) ndarray
        The parameters that made the responsibilities; NaN where a start came from votes instead,
        which keeps such a start from stopping at its first iteration.
    """

    responsibilities: Floats
    prior: Floats
    theta: Floats


@dataclass(frozen=True)
class VoxelBeliefs:
    """What a spatial E-step believes of single voxels, whose patterns alone do not tell.

    Attributes
    ----------
    voxels : (N,) ndarray of intp
        Flat indices in the volume.
    beliefs : (K, N) ndarray of float32
        Probability of each label.
    weight : float
        Smoothness weight at the end.
    """

    voxels: NDArray[np.intp]
    beliefs: NDArray[np.float32]
    weight: float


@dataclass(frozen=True)
class Optima:
    """Where S runs of EM ended.

    Attributes
    ----------
    theta : (J, K, S, K) ndarray
    prior : (S, K), (P, 1, K) or (P, S, K) ndarray
    responsibilities, log_joint : (P, S, K) ndarray
    log_likelihood, log_posterior : (S,) ndarray
    iterations : (S,) ndarray of int64
        Index of the iteration that met the stop rule, or the cap: SimpleITK's count.
    converged : (S,) ndarray of bool
    trace : (iterations, S) ndarray
        Log posterior after each iteration; NaN once a start has stopped.
    voxels : VoxelBeliefs or None
        If the E-step was spatial.
    """

    theta: Floats
    prior: Floats
    responsibilities: Floats
    log_joint: Floats
    log_likelihood: Floats
    log_posterior: Floats
    iterations: NDArray[np.int64]
    converged: NDArray[np.bool_]
    trace: Floats
    voxels: VoxelBeliefs | None = None


def maximize(
    model: ConfusionModel,
    starts: Starts,
    stop: StopRule,
    *,
    damping: float = 0.0,
    observer: IterationObserver | None = None,
) -> Optima:
    """Run EM from every start until each has met the stop rule."""
    number = starts.responsibilities.shape[1]
    theta, prior = starts.theta.copy(), starts.prior.copy()
    responsibilities = starts.responsibilities.copy()
    log_joint, log_likelihood = np.empty_like(responsibilities), np.full(number, np.nan)
    if stop.maximum_iterations == 0:
        _, log_joint, log_likelihood = model.e_step(theta, prior)
        with np.errstate(divide="ignore"):
            from_votes = np.isnan(theta).all(axis=(0, 1, 3))
            log_joint[:, from_votes] = np.log(responsibilities[:, from_votes])
    iterations = np.full(number, stop.maximum_iterations, dtype=np.int64)
    converged = np.zeros(number, dtype=bool)
    trace: list[Floats] = []
    step = 0
    while not converged.all() and step < stop.maximum_iterations:
        active = _still_active(converged)
        old_theta = theta[:, :, active]
        new_theta, new_prior, expectation = em_step(
            model, responsibilities[:, active], old_theta, _of(prior, active), damping
        )
        done = largest_change(new_theta, old_theta) <= stop.tolerance
        theta[:, :, active] = new_theta
        if model.estimate_prior:
            prior[_at(prior, active)] = new_prior
        responsibilities[:, active] = expectation.responsibilities
        log_joint[:, active] = expectation.log_joint
        log_likelihood[active] = expectation.log_likelihood
        trace.append(np.full(number, np.nan))
        trace[-1][active] = model.log_posterior(expectation.log_likelihood, new_theta)
        iterations[active] = np.where(done, step, iterations[active])
        converged[active] = done
        step += 1
        if observer is not None and not observer(step):
            iterations[~converged] = step
            break
    return Optima(
        theta,
        prior,
        responsibilities,
        log_joint,
        log_likelihood,
        model.log_posterior(log_likelihood, theta),
        iterations,
        converged,
        np.array(trace).reshape(-1, number),
    )


def _still_active(converged: NDArray[np.bool_]) -> slice | NDArray[np.int64]:
    """Index of the starts that go on; a slice while all do, which saves copying every array."""
    return slice(None) if not converged.any() else np.flatnonzero(~converged)


def em_step(
    model: ConfusionModel,
    responsibilities: Floats,
    theta: Floats,
    prior: Floats,
    damping: float,
) -> tuple[Floats, Floats, Expectation]:
    """One M-step, damped (eq. 17: theta <- (1-g) new + g old), and one E-step."""
    new_theta, new_prior = model.m_step(responsibilities, prior)
    if damping:
        # Only columns that are distributions can be leaned on: a start made from votes has none,
        # and ITK's seed sums to one along its rows instead.
        proper = np.abs(theta.sum(axis=1, keepdims=True) - 1) < 1e-6
        old = np.where(proper, theta, new_theta)
        new_theta = (1 - damping) * new_theta + damping * old
    return new_theta, new_prior, model.e_step(new_theta, new_prior)


def largest_change(new: Floats, old: Floats) -> Floats:
    """(S,) largest |change| of theta; infinite for a start that had no theta before."""
    # fmax skips NaN: what stays undefined does not change.
    change = np.fmax.reduce(np.abs(new - old), axis=(0, 1, 3))
    hopeless = np.isnan(new).all(axis=(0, 1, 3))
    return np.where(np.isnan(change), np.where(hopeless, 0.0, np.inf), change)


def _of(prior: Floats, active: slice | NDArray[np.int64]) -> Floats:
    shared = prior.ndim == 3 and prior.shape[1] == 1
    return prior if shared else prior[_at(prior, active)]


def _at(prior: Floats, active: slice | NDArray[np.int64]) -> Any:
    """Index of these starts in a prior, which may differ from pattern to pattern."""
    return (slice(None), active) if prior.ndim == 3 else active
