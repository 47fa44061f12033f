"""Spatial STAPLE: raters whose performance varies from place to place.

Asman & Landman, IEEE TMI 31(6):1326-1336, 2012. Equation numbers are those of "When Does Consensus
Beat Voting?", section 2.5.

Voxels that all raters give to one label are certain of it, so EM runs on disputed voxels only, and
more background beyond their windows changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.iteration import IterationObserver, Step, StopRule, iterate
from itk_consensus.algorithms.majority_vote import VoteResult, majority_vote
from itk_consensus.algorithms.spatial_staple.performance_field import (
    FieldSettings,
    regularised,
    scale_factors,
)
from itk_consensus.algorithms.spatial_staple.window_pooling import WindowPool
from itk_consensus.array_types import Floats, Floats32
from itk_consensus.labels.box_sum import box_sum
from itk_consensus.labels.boxes import Box
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import CHUNK, DisputedVoxels, chunks, decide_voxels

PriorMode = Literal["local", "global", "fixed"]
PRIOR_MODES: tuple[PriorMode, ...] = get_args(PriorMode)

#: A vote is never less probable, so a performance that looks perfect can still be refuted; a label
#: that is less probable has none, so it takes no part in sums far from where it is disputed.
LEAST_PROBABILITY = np.float32(1e-10)

#: Posteriors that float32 sums cannot tell apart.
TIE_TOLERANCE = 1e-5

_STOP = StopRule(tolerance=1e-4, maximum_iterations=200)


@dataclass(frozen=True)
class SpatialSettings:
    """Everything that Spatial STAPLE can be told.

    Attributes
    ----------
    fields : FieldSettings
    prior : PriorMode
        Label prior: the posterior's mean over the window, over all voxels, or `fixed_prior`.
    fixed_prior : (K,) ndarray or None
        None: equal shares.
    stop : StopRule
        The tolerance is on the mean change of a disputed voxel's posterior.
    """

    fields: FieldSettings
    prior: PriorMode = "local"
    fixed_prior: Floats | None = None
    stop: StopRule = _STOP


@dataclass(frozen=True)
class SpatialResult:
    """Spatial STAPLE's answer.

    Attributes
    ----------
    voxels : DisputedVoxels
    posterior : (K, N) ndarray of float32
        Probability of each label at the disputed voxels.
    decision : (N,) ndarray of int32
        Label index, or undecided on a tie.
    vote : VoteResult
        The answer at all other voxels.
    theta : (J, K, K) ndarray
        Confusion of each rater [rater, observed, true], over all voxels.
    log_likelihood : (iterations,) ndarray
        Of the disputed voxels' votes, under the fields and prior of each iteration.
    change : (iterations,) ndarray
        Mean change of the disputed voxels' posteriors in each iteration.
    converged : bool
    settings : SpatialSettings
    """

    voxels: DisputedVoxels
    posterior: Floats32
    decision: NDArray[np.int32]
    vote: VoteResult
    theta: Floats
    log_likelihood: Floats
    change: Floats
    converged: bool
    settings: SpatialSettings


def spatial_staple(
    patterns: DecisionPatterns,
    settings: SpatialSettings,
    *,
    observer: IterationObserver | None = None,
) -> SpatialResult:
    """Fuse label maps, estimating every rater's confusion matrix at every voxel."""
    # A tie starts as the lowest label, background: the paper's vote asks for more than half.
    vote = majority_vote(patterns, ties="lowest")
    model = _SpatialModel(patterns, settings)

    def step(previous: Floats32) -> Step[Floats32, tuple[float, float]]:
        posterior, evidence = model.step(previous)
        change = _mass_moved(previous, posterior)
        return Step(posterior, (evidence, change), change <= settings.stop.tolerance)

    start = model.start(vote)
    most = settings.stop.maximum_iterations if start.size else 0
    run = iterate(step, start, most, observer)
    posterior = run.state
    log_likelihood, change = np.array(run.trace).reshape(-1, 2).T
    return SpatialResult(
        model.pool.voxels,
        posterior,
        decide_voxels(posterior, patterns.labels, "undecided", tolerance=TIE_TOLERANCE),
        vote,
        model.global_theta(posterior),
        log_likelihood,
        change,
        run.converged or not run.trace,
        settings,
    )


def confusion_field(result: SpatialResult, rater: int, observed: int, true: int) -> Floats32:
    """Probability, at every voxel, that the rater says `observed` where the truth is `true`.

    It is the M-step (eqs. 2.5.3 and 2.5.4) of the result's posterior, over the whole volume. Where
    nothing is known about the rater, nor any regularisation, it is the target.
    """
    patterns, fields = result.voxels.patterns, result.settings.fields
    labels = patterns.number_of_labels
    truth = patterns.expand(result.vote.fractions[:, true].astype(np.float32))
    result.voxels.write(result.posterior[true], truth)

    def pooled(volume: Floats32) -> Floats32:
        return box_sum(volume, fields.radii, threads=patterns.threads)

    def says(label: int) -> Floats32:
        return patterns.expand((patterns.patterns[:, rater] == label).astype(np.float32))

    counts = np.stack([pooled(says(label)) for label in range(labels)])
    sigma = scale_factors(counts, fields.kappa)
    present = patterns.expand(patterns.present[:, rater].astype(np.float32))
    return regularised(
        pooled(truth * says(observed)),
        pooled(truth * present),
        sigma,
        fields.targets(result.theta)[rater, :, true],
        fields.alpha(labels)[:, true].astype(np.float32),
        observed,
    )


class _SpatialModel:
    """One EM iteration; EM reads W and yields W, its fields are never kept."""

    def __init__(self, patterns: DecisionPatterns, settings: SpatialSettings) -> None:
        self.patterns = patterns
        self.settings = settings
        self.pool = WindowPool(patterns, settings.fields)
        self._alpha = settings.fields.alpha(patterns.number_of_labels).astype(np.float32)

    def start(self, vote: VoteResult) -> Floats32:
        """(K, N) one for the voted label of each disputed voxel."""
        voted = vote.decision[self.pool.codes]
        labels = np.arange(self.patterns.number_of_labels)
        return np.asarray(labels[:, None] == voted, dtype=np.float32)

    def step(self, posterior: Floats32) -> tuple[Floats32, float]:
        """M-step and E-step at once, rater by rater: the new posterior and the log likelihood."""
        self._reach = [self.pool.reach(weights) for weights in posterior]
        mass = self._mass(posterior, None)
        log_joint = self._log_prior(posterior, mass)
        targets = self.settings.fields.targets(self.global_theta(posterior))
        for rater in np.flatnonzero(self.patterns.present.any(axis=0)).tolist():
            own = mass if self.pool.always_present(rater) else self._mass(posterior, rater)
            self._add_votes(rater, posterior, own, targets[rater], log_joint)
        return _normalised(log_joint)

    def _mass(self, posterior: Floats32, rater: int | None) -> Floats32:
        """(K, N) posterior mass in the window, of voxels that the rater (None: anybody) saw."""
        mass = self.pool.agreed(rater).copy()
        saw = True if rater is None else self.patterns.present[self.pool.codes, rater]
        for row, weights, reach in zip(mass, posterior, self._reach, strict=True):
            row += self.pool.disputed(weights * saw, reach)
        return mass

    def _add_votes(
        self, rater: int, posterior: Floats32, mass: Floats32, target: Floats32, log_joint: Floats32
    ) -> None:
        """Add the log probability of the rater's votes; each voxel needs its own label's row."""
        said = self.patterns.patterns[:, rater][self.pool.codes]
        sigma, agreed = self.pool.scale_factors(rater), self.pool.agreed(rater)
        for label, box in enumerate(self._boxes[rater]):
            if box is None:
                continue
            members = np.flatnonzero(said == label)
            for true, weights in enumerate(posterior):
                count = self.pool.disputed_among(weights, self._reach[true], members, box)
                if true == label:
                    count += agreed[true, members]
                performance = (target[:, true], self._alpha[:, true], label)
                # In chunks, because the equation makes many copies of what it is given.
                for part in chunks(len(members), CHUNK):
                    at = members[part]
                    theta = regularised(count[part], mass[true, at], sigma[:, at], *performance)
                    log_joint[true, at] += np.log(np.maximum(theta, LEAST_PROBABILITY))

    @cached_property
    def _boxes(self) -> list[list[Box | None]]:
        return [self.pool.boxes(rater) for rater in range(self.patterns.number_of_raters)]

    def _log_prior(self, posterior: Floats32, mass: Floats32) -> Floats32:
        """(K, N); minus infinity for a label that has no mass to be the prior of."""
        if self.settings.prior == "local":
            prior: Floats32 = mass / mass.sum(axis=0)
        else:
            prior = np.empty_like(posterior)
            prior[...] = self._shares(posterior)[:, None]
        with np.errstate(divide="ignore"):
            np.log(prior, out=prior)
        return prior

    def _shares(self, posterior: Floats32) -> Floats:
        """(K,) label prior common to all voxels."""
        labels = self.patterns.number_of_labels
        if self.settings.prior == "global":
            total = self._truth(posterior).sum(axis=0)
            return np.asarray(total / total.sum())
        fixed = self.settings.fixed_prior
        return np.full(labels, 1 / labels) if fixed is None else fixed

    def global_theta(self, posterior: Floats32) -> Floats:
        """(J, K, K) confusion of each rater over all voxels (eq. 13); NaN where undefined."""
        counts = self.patterns.tally(self._truth(posterior))
        counts += self.settings.fields.alpha(self.patterns.number_of_labels)
        with np.errstate(invalid="ignore"):
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def _truth(self, posterior: Floats32) -> Floats:
        """(P, K) voxels of each pattern that belong to each label."""
        truth = np.where(self.pool.certain, self.patterns.counts[:, None], 0.0)
        # In chunks, because bincount makes wide copies of all it is given.
        for part in chunks(posterior.shape[1], CHUNK):
            for label, weights in enumerate(posterior):
                truth[:, label] += np.bincount(self.pool.codes[part], weights[part], len(truth))
        return truth


def _normalised(log_joint: Floats32) -> tuple[Floats32, float]:
    """Turn (K, N) log joints into posteriors, in place; also their log evidence."""
    peak = log_joint.max(axis=0)
    log_joint -= peak
    joint = np.exp(log_joint, out=log_joint)
    total = joint.sum(axis=0)
    joint /= total
    joint[joint < LEAST_PROBABILITY] = 0
    evidence = np.log(total).sum(dtype=np.float64) + peak.sum(dtype=np.float64)
    return joint, float(evidence)


def _mass_moved(before: Floats32, after: Floats32) -> float:
    """Mean over voxels of the probability that went from some labels to others."""
    moved = 0.0
    for old, new in zip(before, after, strict=True):
        moved += float(np.abs(new - old).sum(dtype=np.float64)) / 2
    return moved / len(before[0])
