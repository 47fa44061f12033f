"""The generative model of every STAPLE: confusion matrices, raters independent given the truth.

Warfield, Zou & Wells (2004); equation numbers are those of "When Does Consensus Beat Voting?",
sections 2.1 and 2.2. Everything runs on decision patterns weighted by their counts, in the log
domain, for many starts at once.

Array layout: P patterns, J raters, S starts, K labels. ``theta[j, d, s, t]`` is the probability
that rater j says d where the truth is t; keeping the starts beside the truth makes both steps one
sparse product.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from itk_consensus.array_types import Floats
from itk_consensus.labels.decision_patterns import DecisionPatterns


class Expectation(NamedTuple):
    """What one E-step yields."""

    responsibilities: Floats  #: (P, S, K) posterior of the truth, W of eq. 7; zero if impossible
    log_joint: Floats  #: (P, S, K) log of prior times likelihood
    log_likelihood: Floats  #: (S,) of the weighted voxels


@dataclass(frozen=True)
class ConfusionModel:
    """Patterns, their weights, and the priors of section 2.1.5.

    Attributes
    ----------
    patterns : DecisionPatterns
    weights : (P,) ndarray
        Voxels each pattern counts for; 0 excludes it.
    pseudo_counts : (K, K) ndarray
        alpha[d, t], added to the counts of eq. 13.
    estimate_prior : bool
        Whether eq. 16 updates the label prior; else it stays as given.
    groups : (P,) ndarray of int or None
        Patterns of one group, such as one case of a cohort, share a prior; None: all do.
    """

    patterns: DecisionPatterns
    weights: Floats
    pseudo_counts: Floats
    estimate_prior: bool
    groups: NDArray[np.int64] | None = None

    def step(self, theta: Floats, prior: Floats) -> tuple[Floats, Floats, Floats]:
        """One iteration of EM: the next theta and prior, and the (S,) log likelihood of these.

        All that the loop asks of a model; what is believed of each pattern stays in here.
        """
        expected = self.e_step(theta, prior)
        return *self.m_step(expected.responsibilities, prior), expected.log_likelihood

    def e_step(self, theta: Floats, prior: Floats) -> Expectation:
        """Posterior of the truth given the parameters, eq. 7.

        Parameters
        ----------
        theta : (J, K, S, K) ndarray
            NaN, an undefined column, counts as impossible: such a class has no mass to lose.
        prior : (S, K), (P, 1, K) or (P, S, K) ndarray
        """
        raters, labels, starts, _ = theta.shape
        with np.errstate(divide="ignore"):
            log_theta = np.log(np.fmax(theta, 0.0))  # fmax turns NaN into 0
            log_prior = np.log(prior)
        votes = self.patterns.sum_over_raters(log_theta.reshape(raters * labels, starts * labels))
        log_joint = votes.reshape(-1, starts, labels) + log_prior
        peak = _over_labels(np.maximum, log_joint)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        joint = np.exp(log_joint - peak)
        total = _over_labels(np.add, joint)
        with np.errstate(divide="ignore"):
            log_evidence = np.log(total[..., 0]) + peak[..., 0]
        responsibilities = joint / np.where(total > 0, total, 1.0)
        log_likelihood = self.weights[self._counted] @ log_evidence[self._counted]
        return Expectation(responsibilities, log_joint, log_likelihood)

    @cached_property
    def _counted(self) -> NDArray[np.int64] | slice:
        """Patterns with weight; one of weight 0 must not turn an impossible -inf into NaN."""
        return slice(None) if (self.weights > 0).all() else np.flatnonzero(self.weights > 0)

    @cached_property
    def _absent(self) -> NDArray[np.int64]:
        """Raters who gave no vote at all."""
        return np.flatnonzero(~self.patterns.present.any(axis=0))

    def m_step(self, responsibilities: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """Parameters that maximise the expected log posterior, eqs. 13 and 16."""
        weighted = self.weights[:, None, None] * responsibilities
        counts = self.patterns.tally(weighted) + self.pseudo_counts[:, None, :]
        with np.errstate(invalid="ignore"):
            theta = counts / counts.sum(axis=1, keepdims=True)
        # A prior alone says nothing of a rater who gave no vote at all.
        theta[self._absent] = np.nan
        if self.estimate_prior:
            prior = self._estimated_prior(weighted, prior)
        return theta, prior

    def _estimated_prior(self, weighted: Floats, prior: Floats) -> Floats:
        """Eq. 16, in every group by itself; a group without weight keeps its prior."""
        if self.groups is None:
            mass = weighted.sum(axis=0)
        else:
            mass = np.zeros((int(self.groups.max()) + 1, *weighted.shape[1:]))
            np.add.at(mass, self.groups, weighted)
            mass = mass[self.groups]
        total = mass.sum(axis=-1, keepdims=True)
        return np.asarray(np.divide(mass, total, out=prior.copy(), where=total > 0))

    def log_posterior(self, log_likelihood: Floats, theta: Floats) -> Floats:
        """(S,) log likelihood plus the log of the parameters' prior, up to a constant."""
        if not self.pseudo_counts.any():
            return log_likelihood
        penalty = xlogy(self.pseudo_counts[:, None, :], np.where(np.isnan(theta), 1.0, theta))
        return np.asarray(log_likelihood + penalty.sum(axis=(0, 1, 3)))


def _over_labels(combine: np.ufunc, values: Floats) -> Floats:
    """Combine (P, S, K) values over K into (P, S, 1); NumPy is slow along so short an axis."""
    labels = (values[..., label] for label in range(values.shape[2]))
    return np.asarray(reduce(combine, labels))[..., None]
