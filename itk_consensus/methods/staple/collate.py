"""COLLATE: raters rarely err at easy voxels; at hard ones, they err by a confusion matrix.

After Asman & Landman, "Robust statistical label fusion through consensus level, labeler accuracy,
and truth estimation (COLLATE)", IEEE TMI 30(10):1779-1794, 2011, with multiple levels as in Xu,
Asman & Landman, SPIE Medical Imaging 2012. A voxel has a true label t and a consensus level c of
known ease e_c; rater j assigns label d to it with probability

    M_c[j, d, t] = e_c A[d, t] + (1 - e_c) theta[j, d, t],

where A is a confusion matrix with a small error rate, the same for all raters. A single level of
ease 1 gives the majority vote, a single level of ease 0 gives STAPLE, and the levels (0, 1) give
COLLATE. The linear mixture and the estimation of label frequencies per level are our interpretation
of the papers: easy voxels are mostly background, and with one prior for all levels the confusion
matrices would have to account for that.

Array layout: P patterns, J raters, L levels, K labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.estimates import AnswerFacts, Estimate
from itk_consensus.fusing.iteration import ConvergenceTest, Step, StopRule, iterate
from itk_consensus.methods.staple.confusion_model import EstimatedTruth
from itk_consensus.methods.staple.extrapolation import Leaps
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.expected_counts import ROUNDING, VoteTable
from itk_consensus.votes.fusions import PatternShares
from itk_consensus.votes.ties import SAME_LOG_POSTERIOR, decide

#: Number of (pattern, true label) pairs processed at once, which bounds memory.
_PAIRS_AT_ONCE = 1 << 21

#: Fraction of the initial shares that is distributed evenly over all levels.
_MIXED = 0.01

#: EM converges slowly if levels and confusions explain the votes equally well: with a tolerance of
#: 1e-6 it stopped so early that rounding, and thus the order of raters, changed probabilities by
#: 0.06.
_STOP = StopRule(tolerance=1e-10, maximum_iterations=10_000)


@dataclass(frozen=True)
class CollateSettings:
    """Settings of COLLATE."""

    #: Ease e_c of each level, from 0 (errors follow the confusion matrices) to 1 (`error_rate`).
    ease: tuple[float, ...] = (0.0, 1.0)
    error_rate: float = 1e-4  #: Probability that a rater errs at an easy voxel
    #: Pseudo-counts added on and off the diagonals of the confusion matrices.
    pseudo_counts: tuple[float, float] = (2.0, 0.0)
    prior: Floats | None = None  #: (K,) fixed label prior; None: estimated
    stop: StopRule = _STOP


@dataclass(frozen=True)
class LevelsAndTruth(PatternShares):
    """Posterior of each pattern; each true class is a (level, label) pair."""

    estimated: EstimatedTruth
    sizes: tuple[int, int]  #: (L, K)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.estimated.table.weights), self.sizes[1]

    def of_label(self, label: int) -> Floats:
        """Return the (P,) probability of a label, summed over levels."""
        levels, labels = self.sizes
        at_levels = self.estimated.probabilities([k * labels + label for k in range(levels)])
        # Rounding may make the sum exceed one.
        return np.asarray(at_levels[:, 0].sum(axis=1).clip(max=1.0))

    def rows(self, part: slice) -> Floats:
        """Return the (n, K) label probabilities of some patterns, summed over levels."""
        return np.asarray(self._pairs(part).sum(axis=1).clip(max=1.0))

    def levels(self) -> Floats:
        """Return the (P, L) probability of each level."""
        return np.concatenate(
            [self._pairs(part).sum(axis=2).clip(max=1.0) for part in self._parts()]
        )

    def decisions(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """Return the (P,) most probable labels; undecided on a tie."""
        with np.errstate(divide="ignore"):
            scores = (np.log(self._pairs(part).sum(axis=1)) for part in self._parts())
            return np.concatenate(
                [decide(of, labels, tolerance=SAME_LOG_POSTERIOR) for of in scores]
            )

    def _parts(self) -> Iterator[slice]:
        """Yield chunks of patterns small enough for a table of all (level, label) pairs."""
        return chunks(self.shape[0], max(1, _PAIRS_AT_ONCE // math.prod(self.sizes)))

    def _pairs(self, part: slice) -> Floats:
        """Return the (n, L, K) probability of each (level, label) pair."""
        return self.estimated.probabilities(part=part).reshape(-1, *self.sizes)


@dataclass(frozen=True, kw_only=True)
class CollateEstimate(Estimate):
    """COLLATE's estimate of rater performance and levels."""

    #: (J, K, K) confusion matrices [rater, observed, true] at hard voxels.
    theta: Floats
    shares: Floats  #: (L, K) estimated proportion of voxels with each level and label
    trace: Floats  #: (iterations,) log posterior after each iteration
    converged: bool
    settings: CollateSettings

    @property
    def iterations(self) -> int:
        """Number of completed iterations."""
        return len(self.trace)

    @property
    def level_shares(self) -> Floats:
        """(L,) proportion of voxels at each level."""
        return np.asarray(self.shares.sum(axis=1))

    @property
    def prior(self) -> Floats:
        """(K,) label prior."""
        return np.asarray(self.shares.sum(axis=0))

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Return rater performances, and a function that fuses other votes."""
        same = np.eye(patterns.number_of_labels, dtype=bool)
        return AnswerFacts(
            theta=self.theta,
            pseudo_counts=np.where(same, *self.settings.pseudo_counts),
            refit=lambda other: collate(other, self.settings).decision,
        )


@dataclass(frozen=True, kw_only=True)
class CollateResult(CollateEstimate):
    """COLLATE's result on patterns."""

    #: Probability of each level and label given each pattern, computed lazily
    truth: LevelsAndTruth
    decision: NDArray[np.int64]  #: (P,) label index; undecided on a tie

    @property
    def estimate(self) -> CollateEstimate:
        """This estimate without the posterior."""
        return CollateEstimate.of(self)


class _Parameters(NamedTuple):
    """Confusion matrices theta (J, K, K), and (L, K) joint prior of level and label."""

    theta: Floats
    shares: Floats


def collate(
    patterns: DecisionPatterns,
    settings: CollateSettings | None = None,
) -> CollateResult:
    """Fuse patterns of any number of labels by EM, initialised from the votes."""
    settings = settings or CollateSettings()
    model = _Model(patterns, settings)
    stillness = ConvergenceTest(model.settings.stop.tolerance)
    leaps = Leaps(model.step, model.from_arrays, tuple)

    def step(given: _Parameters) -> Step[_Parameters, float]:
        old, new, score = leaps.step(given)
        moved = new.theta[:, :, None], old.theta[:, :, None]
        done = bool(stillness.reached(*moved, new.shares[:, None])[0])
        return Step(new if done else leaps.onwards(old, new, score), score, done)

    run = iterate(step, model.start(), model.settings.stop.most_iterations)
    # A step returns the score of its input, so the final score requires one more step.
    now, _, last = leaps.step(run.state)
    truth = LevelsAndTruth(model.truth(now), (len(now.shares), patterns.number_of_labels))
    return CollateResult(
        truth=truth,
        decision=truth.decisions(patterns.labels),
        theta=now.theta,
        shares=now.shares,
        trace=np.array([*run.trace[1:], last]) if run.trace else np.empty(0),
        converged=run.converged,
        settings=settings,
    )


class _Model:
    """The generative model on these patterns, and its EM step."""

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

    @cached_property
    def table(self) -> VoteTable:
        """Weighted patterns; nearly impossible labels are dropped (`ROUNDING`), to save time."""
        return VoteTable.of(self.patterns, self.weights, negligible=ROUNDING)

    def start(self) -> _Parameters:
        """Return parameters fitted to the vote, with disputed voxels assigned to the hardest level
        and all others to the easiest.
        """
        unanimous = self.patterns.unanimous
        agreed, disputed = (
            VoteTable.of(self.patterns, np.where(which, self.weights, 0.0)).expectation_of_votes(
                "mean"
            )
            for which in (unanimous, ~unanimous)
        )
        frequencies = (agreed.mass + disputed.mass)[0, 0]
        nobody = self.weights[~self.patterns.present.any(axis=1)].sum()
        mass = np.zeros((len(self.ease), self.patterns.number_of_labels))
        mass[self.ease.argmax()] += agreed.mass[0, 0]
        mass[self.ease.argmin()] += disputed.mass[0, 0] + nobody * frequencies / frequencies.sum()
        # Initially every vote counts as confusion, since it cannot yet be distinguished from error.
        first = self._maximum((agreed.counts + disputed.counts)[:, :, 0], mass)
        # EM cannot increase a share of zero, so every level receives a small share.
        even = first.shares.sum(axis=0) / len(self.ease)
        return first._replace(shares=(1 - _MIXED) * first.shares + _MIXED * even)

    def step(self, now: _Parameters) -> tuple[_Parameters, float]:
        """Run one EM step; return the new parameters and the log posterior of `now`.

        The new parameters maximise the expected log posterior. At a level with an ease between 0
        and 1, a vote is attributed to confusion, rather than to the error rate, with probability
        (1 - e_c) theta / M_c, given the vote and the true label.
        """
        confused = self._confusion_rates(now.theta)
        rates = self._easy_rates + confused
        sums = self.table.expectation(*self._as_truths(rates, now.shares))
        np.divide(confused, rates, out=confused, where=rates > 0)
        confused *= sums.counts.reshape(rates.shape)
        new = self._maximum(confused.sum(axis=2), sums.mass.reshape(now.shares.shape))
        return new, float(sums.log_likelihood[0]) + self.log_prior_of(now.theta)

    def from_arrays(self, arrays: Sequence[Floats]) -> _Parameters:
        """Normalise non-negative (J, K, K) and (L, K) arrays into parameters."""
        theta, shares = arrays
        return _Parameters(theta / theta.sum(axis=1, keepdims=True), self._shares(shares))

    def truth(self, now: _Parameters) -> EstimatedTruth:
        """Return the posterior over levels and labels for the patterns."""
        rates = self._easy_rates + self._confusion_rates(now.theta)
        return EstimatedTruth(self.table, *self._as_truths(rates, now.shares))

    def _as_truths(self, rates: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """Reshape so that each (level, label) pair is one class: (J, K, 1, L K) and (1, L K)."""
        return rates.reshape(*rates.shape[:2], 1, -1), shares.reshape(1, -1)

    @cached_property
    def _easy_rates(self) -> Floats:
        """(K, L, K) first term of M_c[j, d, t]: the error rate at easy voxels."""
        return np.asarray(self.ease * self.easy[:, None, :])

    def _confusion_rates(self, theta: Floats) -> Floats:
        """Return the (J, K, L, K) second term of M_c[j, d, t]; 0 for absent raters."""
        confused = (1 - self.ease) * theta[:, :, None, :]
        confused[self.absent] = 0.0
        return np.asarray(confused)

    def _maximum(self, votes: Floats, mass: Floats) -> _Parameters:
        """Run the M-step on (J, K, K) expected confusion votes and (L, K) expected voxels."""
        counts = votes + self.pseudo_counts
        total = counts.sum(axis=1, keepdims=True)
        chance = np.full_like(counts, 1 / counts.shape[1])
        theta = np.divide(counts, total, out=chance, where=total > 0)
        theta[self.absent] = np.nan
        return _Parameters(theta, self._shares(mass))

    def _shares(self, mass: Floats) -> Floats:
        """Return the (L, K) joint prior of level and label, given (L, K) expected voxels."""
        if self.settings.prior is None:
            return np.asarray(mass / mass.sum())
        total = mass.sum(axis=0)
        even = np.full_like(mass, 1 / len(mass))
        levels = np.divide(mass, total, out=even, where=total > 0)
        return np.asarray(levels * self.settings.prior)

    def log_prior_of(self, theta: Floats) -> float:
        """Return the log prior of the confusion matrices, up to a constant."""
        known = ~np.isnan(theta) & (self.pseudo_counts > 0)
        counts = np.broadcast_to(self.pseudo_counts, theta.shape)
        return float(counts[known] @ np.log(theta[known]))
