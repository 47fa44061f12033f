"""The EM loop that every STAPLE shares: step, trace, stop rule, damping, many starts at once.

Starts are an array axis, not a loop: twenty cost little more than one. A start that has converged
is set aside, so its numbers do not depend on how long the others take.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
    prior : (S, K) or (P, 1, K) ndarray
    theta : (J, K, S, K) ndarray
        The parameters that made the responsibilities; NaN where a start came from votes instead,
        which keeps such a start from stopping at its first iteration.
    """

    responsibilities: Floats
    prior: Floats
    theta: Floats


@dataclass(frozen=True)
class Optima:
    """Where S runs of EM ended.

    Attributes
    ----------
    theta : (J, K, S, K) ndarray
    prior : (S, K) or (P, 1, K) ndarray
    responsibilities, log_joint : (P, S, K) ndarray
    log_likelihood, log_posterior : (S,) ndarray
    iterations : (S,) ndarray of int64
        Index of the iteration that met the stop rule, or the cap: SimpleITK's count.
    converged : (S,) ndarray of bool
    trace : (iterations, S) ndarray
        Log posterior after each iteration; NaN once a start has stopped.
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
    final = model.e_step(theta, prior) if stop.maximum_iterations == 0 else None
    responsibilities = starts.responsibilities.copy()
    log_joint = np.empty_like(responsibilities) if final is None else final.log_joint
    log_likelihood = np.full(number, np.nan) if final is None else final.log_likelihood
    iterations = np.full(number, stop.maximum_iterations, dtype=np.int64)
    converged = np.zeros(number, dtype=bool)
    trace: list[Floats] = []
    active = np.arange(number)
    step = 0
    while active.size and step < stop.maximum_iterations:
        new_theta, new_prior, expectation = em_step(
            model, responsibilities[:, active], theta[:, :, active], _of(prior, active), damping
        )
        change = largest_change(new_theta, theta[:, :, active])
        theta[:, :, active] = new_theta
        if model.estimate_prior:
            prior[active] = new_prior
        responsibilities[:, active] = expectation.responsibilities
        log_joint[:, active] = expectation.log_joint
        log_likelihood[active] = expectation.log_likelihood
        row = np.full(number, np.nan)
        row[active] = model.log_posterior(expectation.log_likelihood, new_theta)
        trace.append(row)
        done = change <= stop.tolerance
        iterations[active[done]] = step
        converged[active[done]] = True
        step += 1
        active = active[~done]
        if observer is not None and not observer(step):
            iterations[active] = step
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
        # A start made from votes has no old theta to lean on; its first step is undamped.
        old = np.where(np.isnan(theta), new_theta, theta)
        new_theta = (1 - damping) * new_theta + damping * old
    return new_theta, new_prior, model.e_step(new_theta, new_prior)


def largest_change(new: Floats, old: Floats) -> Floats:
    """(S,) largest |change| of theta; infinite for a start that had no theta before."""
    difference = np.abs(new - old)
    fresh = np.isnan(old).all(axis=(0, 1, 3))
    return np.where(fresh, np.inf, np.nan_to_num(difference, nan=0.0).max(axis=(0, 1, 3)))


def _of(prior: Floats, active: NDArray[np.int64]) -> Floats:
    return prior if prior.ndim == 3 else prior[active]
