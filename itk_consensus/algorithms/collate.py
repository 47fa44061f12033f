"""COLLATE: raters hardly err at easy voxels; each has a confusion matrix for hard ones.

After Asman & Landman, "Robust statistical label fusion through consensus level, labeler accuracy,
and truth estimation (COLLATE)", IEEE TMI 30(10):1779-1794, 2011, with the several levels of Xu,
Asman & Landman, SPIE Medical Imaging 2012. A voxel has a truth t and a consensus level c of known
ease e_c; a rater says d there with probability

    M_c[j, d, t] = e_c A[d, t] + (1 - e_c) theta[j, d, t],

where A holds the small error rate, the same for all, that is left where voxels are easy. Ease 1
alone is the vote, ease 0 alone STAPLE, and (0, 1) COLLATE. That levels mix linearly, and that
each level has label frequencies of its own, which are estimated, is our reading: easy voxels are
mostly background, and one prior for all would have confusion matrices explain them.

Array layout: P patterns, J raters, L levels, K labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from itk_consensus.algorithms.confusion_model import Expectation
from itk_consensus.algorithms.initialization import mean_of_votes
from itk_consensus.algorithms.iteration import (
    IterationObserver,
    Step,
    Stillness,
    StopRule,
    iterate,
)
from itk_consensus.algorithms.staple import TIE_TOLERANCE
from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.ties import decide

#: How much of the first shares is the same at all levels.
_MIXED = 0.01

_STOP = StopRule(tolerance=1e-6, maximum_iterations=10_000)


@dataclass(frozen=True)
class CollateSettings:
    """Everything that COLLATE can be told.

    Attributes
    ----------
    ease : tuple of float
        e_c of each level, from 0, where confusion matrices rule, to 1.
    error_rate : float
        Probability that a rater errs where a voxel is easy.
    pseudo_counts : tuple of float
        Added to the counts of the confusion matrices on and off their diagonals.
    prior : (K,) ndarray or None
        Fixed label prior; None estimates it.
    stop : StopRule
    """

    ease: tuple[float, ...] = (0.0, 1.0)
    error_rate: float = 1e-4
    pseudo_counts: tuple[float, float] = (2.0, 0.0)
    prior: Floats | None = None
    stop: StopRule = _STOP


@dataclass(frozen=True)
class CollateResult:
    """COLLATE's answer on patterns.

    Attributes
    ----------
    posterior : (P, K) ndarray
    levels : (P, L) ndarray
        Probability of each consensus level.
    decision : (P,) ndarray of int64
        Label index, or undecided on a tie.
    theta : (J, K, K) ndarray
        Confusion matrices [rater, observed, true] where voxels are not easy.
    shares : (L, K) ndarray
        Estimated share of the voxels at each level with each label.
    trace : (iterations,) ndarray
        Log posterior after each iteration.
    converged : bool
    """

    posterior: Floats
    levels: Floats
    decision: NDArray[np.int64]
    theta: Floats
    shares: Floats
    trace: Floats
    converged: bool


@dataclass(frozen=True)
class _Parameters:
    """theta (J, K, K), and the joint prior of level and truth (L, K)."""

    theta: Floats
    shares: Floats


#: Parameters, and what they say of the patterns.
_State = tuple[_Parameters, Expectation]


def collate(
    patterns: DecisionPatterns,
    settings: CollateSettings | None = None,
    *,
    observer: IterationObserver | None = None,
) -> CollateResult:
    """Fuse patterns of any number of labels by EM, which starts from the votes.

    Parameters
    ----------
    patterns : DecisionPatterns
    settings : CollateSettings
    observer : callable
        Called after each iteration; returning False stops with the current estimate.
    """
    model = _Model(patterns, settings or CollateSettings())
    stillness = Stillness(model.settings.stop.tolerance)

    def step(state: _State) -> Step[_State, float]:
        old, expected = state
        new = model.m_step(expected.responsibilities, old)
        expected = model.e_step(new)
        trace = float(expected.log_likelihood) + model.log_prior_of(new.theta)
        moved = new.theta[:, :, None], old.theta[:, :, None]
        done = stillness.reached(*moved, new.shares[:, None])
        return Step((new, expected), trace, bool(done[0]))

    first = model.start()
    run = iterate(step, (first, model.e_step(first)), model.settings.stop.most_iterations, observer)
    now, expected = run.state
    return CollateResult(
        # Sums of probabilities may exceed one by rounding.
        expected.responsibilities.sum(1).clip(max=1.0),
        expected.responsibilities.sum(2).clip(max=1.0),
        decide(logsumexp(expected.log_joint, axis=1), patterns.labels, tolerance=TIE_TOLERANCE),
        now.theta,
        now.shares,
        np.array(run.trace),
        run.converged,
    )


class _Model:
    """The patterns, what is known beforehand, and the two steps of EM."""

    def __init__(self, patterns: DecisionPatterns, settings: CollateSettings) -> None:
        self.patterns, self.settings = patterns, settings
        labels = patterns.number_of_labels
        same = np.eye(labels, dtype=bool)
        self.weights = patterns.counts.astype(np.float64)
        self.ease = np.array(settings.ease)[:, None]
        self.easy = np.where(
            same, 1 - settings.error_rate, settings.error_rate / max(1, labels - 1)
        )
        self.pseudo_counts = np.where(same, *settings.pseudo_counts)
        self.absent = np.flatnonzero(~patterns.present.any(axis=0))

    def start(self) -> _Parameters:
        """Parameters that fit the vote, disputed voxels being the hardest and the others easy."""
        shares = mean_of_votes(self.patterns)
        annotated = ~np.isnan(shares[:, 0])
        frequencies = self.weights[annotated] @ shares[annotated]
        shares = np.where(annotated[:, None], shares, frequencies / frequencies.sum())
        chosen = np.where(self.patterns.unanimous, self.ease.argmax(), self.ease.argmin())
        at_level = chosen[:, None] == np.arange(len(self.ease))
        # At the start nothing tells what is confusion from what is error: all is confusion.
        first = self.m_step(at_level[:, :, None] * shares[:, None, :], None)
        # A share of zero would stay zero, however well its level explained a voxel later.
        even = first.shares.sum(axis=0) / len(self.ease)
        return replace(first, shares=(1 - _MIXED) * first.shares + _MIXED * even)

    def e_step(self, now: _Parameters) -> Expectation:
        """Probability of level and truth; levels take the place of the starts' axis."""
        raters, labels, _ = now.theta.shape
        with np.errstate(divide="ignore"):
            log_rates = np.log(self.rates(now.theta)).reshape(raters * labels, -1)
            log_prior = np.log(now.shares)
        votes = self.patterns.sum_over_raters(log_rates)
        log_joint = np.asarray(votes.reshape(-1, *log_prior.shape) + log_prior)
        log_evidence = logsumexp(log_joint, axis=(1, 2))
        responsibilities = np.exp(log_joint - log_evidence[:, None, None])
        return Expectation(responsibilities, log_joint, self.weights @ log_evidence)

    def rates(self, theta: Floats) -> Floats:
        """(J, K, L, K) probability M_c[j, d, t] of what a rater says at each level."""
        defined = np.nan_to_num(theta, nan=0.0)[:, :, None, :]
        return self.ease * self.easy[:, None, :] + (1 - self.ease) * defined

    def m_step(self, responsibilities: Floats, now: _Parameters | None) -> _Parameters:
        """Parameters that maximise the expected log posterior.

        At a level of ease between 0 and 1 a rater's word counts as confusion with probability
        (1 - e_c) theta / M_c, given what was said and what is true.
        """
        weighted = self.weights[:, None, None] * responsibilities
        said = self.patterns.tally(weighted)
        if now is not None:
            rates = self.rates(now.theta)
            hard = (1 - self.ease) * np.nan_to_num(now.theta, nan=0.0)[:, :, None, :]
            said *= np.divide(hard, rates, out=np.zeros_like(rates), where=rates > 0)
        counts = said.sum(axis=2) + self.pseudo_counts
        total = counts.sum(axis=1, keepdims=True)
        chance = np.full_like(counts, 1 / counts.shape[1])
        theta = np.divide(counts, total, out=chance, where=total > 0)
        theta[self.absent] = np.nan
        return _Parameters(theta, self._shares(weighted.sum(axis=0)))

    def _shares(self, mass: Floats) -> Floats:
        """(L, K) joint prior of level and truth from the voxels' (L, K) expected numbers."""
        if self.settings.prior is None:
            return np.asarray(mass / mass.sum())
        total = mass.sum(axis=0)
        even = np.full_like(mass, 1 / len(mass))
        levels = np.divide(mass, total, out=even, where=total > 0)
        return np.asarray(levels * self.settings.prior)

    def log_prior_of(self, theta: Floats) -> float:
        """Log of the confusion matrices' prior, up to a constant."""
        known = ~np.isnan(theta) & (self.pseudo_counts > 0)
        counts = np.broadcast_to(self.pseudo_counts, theta.shape)
        return float(counts[known] @ np.log(theta[known]))
