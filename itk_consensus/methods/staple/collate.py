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

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.estimates import Estimate, Told
from itk_consensus.fusing.iteration import Step, Stillness, StopRule, iterate
from itk_consensus.methods.staple.confusion_model import EstimatedTruth
from itk_consensus.methods.staple.leaps import Leaps
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.expected_counts import ROUNDING, VoteTable
from itk_consensus.votes.fusions import PatternShares
from itk_consensus.votes.ties import SAME_LOG_POSTERIOR, decide

#: Pairs of pattern and truth looked at together.
_PAIRS_AT_ONCE = 1 << 21

#: How much of the first shares is the same at all levels.
_MIXED = 0.01

#: Where levels and confusions explain voxels alike EM crawls: steps of 1e-6 end so far from where
#: they lead that rounding, and with it the order of raters, moved probabilities by .06.
_STOP = StopRule(tolerance=1e-10, maximum_iterations=10_000)


@dataclass(frozen=True)
class CollateSettings:
    """Everything that COLLATE can be told."""

    #: e_c of each level, from 0, where confusion matrices rule, to 1.
    ease: tuple[float, ...] = (0.0, 1.0)
    error_rate: float = 1e-4  #: Probability that a rater errs where a voxel is easy
    #: Added to the counts of the confusion matrices on and off their diagonals.
    pseudo_counts: tuple[float, float] = (2.0, 0.0)
    prior: Floats | None = None  #: (K,) fixed label prior; None estimates it
    stop: StopRule = _STOP


@dataclass(frozen=True)
class LevelsAndTruth(PatternShares):
    """What the parameters say of each pattern; (level, label) pairs are the truths of the table."""

    estimated: EstimatedTruth
    sizes: tuple[int, int]  #: (L, K)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.estimated.table.weights), self.sizes[1]

    def of_label(self, label: int) -> Floats:
        """(P,) probability of a label, whatever the level."""
        levels, labels = self.sizes
        at_levels = self.estimated.probabilities([k * labels + label for k in range(levels)])
        # Sums of probabilities may exceed one by rounding.
        return np.asarray(at_levels[:, 0].sum(axis=1).clip(max=1.0))

    def rows(self, part: slice) -> Floats:
        """(n, K) probabilities of some patterns, whatever the level."""
        return np.asarray(self._pairs(part).sum(axis=1).clip(max=1.0))

    def levels(self) -> Floats:
        """(P, L) probability of each level."""
        return np.concatenate(
            [self._pairs(part).sum(axis=2).clip(max=1.0) for part in self._parts()]
        )

    def decisions(self, labels: NDArray[Any]) -> NDArray[np.int64]:
        """(P,) most probable label, or undecided on a tie."""
        with np.errstate(divide="ignore"):
            scores = (np.log(self._pairs(part).sum(axis=1)) for part in self._parts())
            return np.concatenate(
                [decide(of, labels, tolerance=SAME_LOG_POSTERIOR) for of in scores]
            )

    def _parts(self) -> Iterator[slice]:
        """Patterns whose pairs take little memory."""
        return chunks(self.shape[0], max(1, _PAIRS_AT_ONCE // math.prod(self.sizes)))

    def _pairs(self, part: slice) -> Floats:
        """(n, L, K) probability of each pair."""
        return self.estimated.probabilities(part=part).reshape(-1, *self.sizes)


@dataclass(frozen=True, kw_only=True)
class CollateEstimate(Estimate):
    """What COLLATE says of raters and levels."""

    #: (J, K, K) confusion matrices [rater, observed, true] where voxels are not easy.
    theta: Floats
    shares: Floats  #: (L, K) estimated share of the voxels at each level with each label
    trace: Floats  #: (iterations,) log posterior after each iteration
    converged: bool
    settings: CollateSettings

    @property
    def iterations(self) -> int:
        """How many were run."""
        return len(self.trace)

    @property
    def level_shares(self) -> Floats:
        """(L,) share of the voxels at each level."""
        return np.asarray(self.shares.sum(axis=1))

    @property
    def prior(self) -> Floats:
        """(K,) label prior."""
        return np.asarray(self.shares.sum(axis=0))

    def told(self, patterns: DecisionPatterns) -> Told:
        """Performances, and the answer to other votes."""
        same = np.eye(patterns.number_of_labels, dtype=bool)
        return Told(
            theta=self.theta,
            pseudo_counts=np.where(same, *self.settings.pseudo_counts),
            refit=lambda other: collate(other, self.settings).decision,
        )


@dataclass(frozen=True, kw_only=True)
class CollateResult(CollateEstimate):
    """COLLATE's answer on patterns."""

    truth: LevelsAndTruth  #: Probabilities of each pattern and level, made when asked for
    decision: NDArray[np.int64]  #: (P,) label index, or undecided on a tie

    @property
    def estimate(self) -> CollateEstimate:
        """The numbers alone."""
        return CollateEstimate.of(self)


class _Parameters(NamedTuple):
    """theta (J, K, K), and the joint prior of level and truth (L, K)."""

    theta: Floats
    shares: Floats


def collate(
    patterns: DecisionPatterns,
    settings: CollateSettings | None = None,
) -> CollateResult:
    """Fuse patterns of any number of labels by EM, which starts from the votes."""
    settings = settings or CollateSettings()
    model = _Model(patterns, settings)
    stillness = Stillness(model.settings.stop.tolerance)
    leaps = Leaps(model.step, model.leapt, tuple)

    def step(given: _Parameters) -> Step[_Parameters, float]:
        old, new, score = leaps.step(given)
        moved = new.theta[:, :, None], old.theta[:, :, None]
        done = bool(stillness.reached(*moved, new.shares[:, None])[0])
        return Step(new if done else leaps.onwards(old, new, score), score, done)

    run = iterate(step, model.start(), model.settings.stop.most_iterations)
    # A step tells the score of what it was given: that of the iteration before.
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

    @cached_property
    def table(self) -> VoteTable:
        """The patterns; where voxels are easy nearly all labels are nearly impossible."""
        return VoteTable.of(self.patterns, self.weights, negligible=ROUNDING)

    def start(self) -> _Parameters:
        """Parameters that fit the vote, disputed voxels being the hardest and the others easy."""
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
        # At the start nothing tells what is confusion from what is error: all is confusion.
        first = self._maximum((agreed.counts + disputed.counts)[:, :, 0], mass)
        # A share of zero would stay zero, however well its level explained a voxel later.
        even = first.shares.sum(axis=0) / len(self.ease)
        return first._replace(shares=(1 - _MIXED) * first.shares + _MIXED * even)

    def step(self, now: _Parameters) -> tuple[_Parameters, float]:
        """Parameters that maximise the expected log posterior, and the log posterior of `now`.

        At a level of ease between 0 and 1 a rater's word counts as confusion with probability
        (1 - e_c) theta / M_c, given what was said and what is true.
        """
        confused = self._confused(now.theta)
        rates = self._easy_rates + confused
        sums = self.table.expectation(*self._as_truths(rates, now.shares))
        np.divide(confused, rates, out=confused, where=rates > 0)
        confused *= sums.counts.reshape(rates.shape)
        new = self._maximum(confused.sum(axis=2), sums.mass.reshape(now.shares.shape))
        return new, float(sums.log_likelihood[0]) + self.log_prior_of(now.theta)

    def leapt(self, there: Sequence[Floats]) -> _Parameters:
        """Parameters near (J, K, K) and (L, K) numbers that are not negative."""
        theta, shares = there
        return _Parameters(theta / theta.sum(axis=1, keepdims=True), self._shares(shares))

    def truth(self, now: _Parameters) -> EstimatedTruth:
        """What parameters say of the patterns' levels and labels."""
        rates = self._easy_rates + self._confused(now.theta)
        return EstimatedTruth(self.table, *self._as_truths(rates, now.shares))

    def _as_truths(self, rates: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """A level and a label together are one truth: (J, K, 1, L K) and (1, L K)."""
        return rates.reshape(*rates.shape[:2], 1, -1), shares.reshape(1, -1)

    @cached_property
    def _easy_rates(self) -> Floats:
        """(K, L, K) what error gives to the rates M_c[j, d, t]."""
        return np.asarray(self.ease * self.easy[:, None, :])

    def _confused(self, theta: Floats) -> Floats:
        """(J, K, L, K) what confusion gives to the rates; nothing where it is undefined."""
        confused = (1 - self.ease) * theta[:, :, None, :]
        confused[self.absent] = 0.0
        return np.asarray(confused)

    def _maximum(self, said: Floats, mass: Floats) -> _Parameters:
        """From (J, K, K) expected votes in confusion and (L, K) expected voxels."""
        counts = said + self.pseudo_counts
        total = counts.sum(axis=1, keepdims=True)
        chance = np.full_like(counts, 1 / counts.shape[1])
        theta = np.divide(counts, total, out=chance, where=total > 0)
        theta[self.absent] = np.nan
        return _Parameters(theta, self._shares(mass))

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
