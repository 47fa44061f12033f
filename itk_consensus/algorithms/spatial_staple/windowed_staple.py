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
    scale_factor,
)
from itk_consensus.array_types import Floats, Floats32
from itk_consensus.labels.box_sum import box_sum
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import CHUNK, DisputedVoxels, chunks, decide_voxels
from itk_consensus.labels.label_weights import LabelWeights, Weighted
from itk_consensus.labels.tiles import Progress
from itk_consensus.labels.window_frame import WindowFrame

PriorMode = Literal["local", "global", "fixed"]
PRIOR_MODES: tuple[PriorMode, ...] = get_args(PriorMode)

#: A vote is never less probable, so a performance that looks perfect can still be refuted; a label
#: that is less probable has none, so it takes no part in sums far from where it is disputed.
LEAST_PROBABILITY = 1e-10

#: A label whose log joint is so much below another's is less probable than that.
_CUT = 24.0

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
    posterior : LabelWeights
        (K, N) probability of each label at the disputed voxels.
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
    posterior: LabelWeights
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
    tick: Progress = lambda _: None,
) -> SpatialResult:
    """Fuse label maps, estimating every rater's confusion matrix at every voxel.

    Parameters
    ----------
    patterns : DecisionPatterns
    settings : SpatialSettings
    observer : callable
        Called after each iteration; returning False stops with the current estimate.
    tick : callable
        Called during long iterations with the share of the iteration that is done.
    """
    # A tie starts as the lowest label, background: the paper's vote asks for more than half.
    vote = majority_vote(patterns, ties="lowest")
    model = _SpatialModel(patterns, settings, tick)

    def step(previous: LabelWeights) -> Step[LabelWeights, tuple[float, float]]:
        posterior, evidence, moved = model.step(previous)
        change = moved / previous.number
        return Step(posterior, (evidence, change), settings.stop.met(change))

    start = model.start(vote)
    most = settings.stop.most_iterations if start.number else 0
    run = iterate(step, start, most, observer)
    log_likelihood, change = np.array(run.trace).reshape(-1, 2).T
    return SpatialResult(
        model.frame.voxels,
        run.state,
        _decision(run.state, patterns),
        vote,
        model.global_theta(run.state),
        log_likelihood,
        change,
        run.converged or not run.trace,
        settings,
    )


def _decision(posterior: LabelWeights, patterns: DecisionPatterns) -> NDArray[np.int32]:
    decision = np.empty(posterior.number, np.int32)
    for part in chunks(posterior.number, max(1, 16 * CHUNK // len(posterior))):
        decision[part] = decide_voxels(
            posterior.columns(part), patterns.labels, "undecided", tolerance=TIE_TOLERANCE
        )
    return decision


def confusion_field(result: SpatialResult, rater: int, observed: int, true: int) -> Floats32:
    """Probability, at every voxel, that the rater says `observed` where the truth is `true`.

    It is the M-step (eqs. 2.5.3 and 2.5.4) of the result's posterior, over the whole volume. Where
    nothing is known about the rater, nor any regularisation, it is the target.
    """
    patterns, fields = result.voxels.patterns, result.settings.fields
    labels = patterns.number_of_labels
    truth = patterns.expand(result.vote.of_label(true).astype(np.float32))
    result.voxels.write(result.posterior[true], truth)

    def pooled(volume: Floats32) -> Floats32:
        return box_sum(volume, fields.radii, threads=patterns.threads)

    def says(label: int) -> Floats32:
        return patterns.expand((patterns.patterns[:, rater] == label).astype(np.float32))

    present = patterns.expand(patterns.present[:, rater].astype(np.float32))
    share = pooled(present.copy()) / np.float32(labels)
    target = fields.targets(result.theta)[rater, :, true]
    leaning = np.zeros_like(share)
    for label in range(labels):
        sigma = scale_factor(pooled(says(label)), share, fields.kappa)
        leaning += target[label] * sigma
        if label == observed:
            own = sigma
    return regularised(
        pooled(truth * says(observed)),
        pooled(truth * present),
        own,
        leaning,
        target[observed],
        fields.alpha(labels)[:, true].astype(np.float32),
        observed,
    )


class _SpatialModel:
    """One EM iteration; EM reads W and yields W, its fields are never kept."""

    def __init__(
        self, patterns: DecisionPatterns, settings: SpatialSettings, tick: Progress
    ) -> None:
        self.patterns = patterns
        self.settings = settings
        self.frame = WindowFrame(patterns, settings.fields.radii)
        self._tick = tick
        self._alpha = settings.fields.alpha(patterns.number_of_labels)

    def start(self, vote: VoteResult) -> LabelWeights:
        """One for the voted label of each disputed voxel."""
        voted = vote.decision[self.frame.pattern_of_voxel]
        return LabelWeights.one_hot(voted, self.patterns.number_of_labels)

    def step(self, posterior: LabelWeights) -> tuple[LabelWeights, float, float]:
        """M-step and E-step: the new posterior, the log likelihood, and the posterior moved."""
        joints: list[Weighted] = []
        peaks = np.full(posterior.number, -np.inf, np.float32)
        targets = self._targets(posterior)
        log_prior = self._log_prior(posterior)
        number, threads = len(posterior), self.patterns.threads
        for part in chunks(number, 2 * threads):  # more is found than is left of it
            found = self.frame.joints(
                range(number)[part],
                posterior,
                kappa=self.settings.fields.kappa,
                scale_factors=self._scale_factors,
                targets=targets,
                alpha=self._alpha,
                log_prior=log_prior,
                least=LEAST_PROBABILITY,
                peaks=peaks,
                cut=_CUT,
            )
            for voxels, values in found:
                peaks[voxels] = np.maximum(peaks[voxels], values)
            _sift(found, peaks)
            joints += found
            if part.stop < number:
                self._tick(part.stop / number)
        _sift(joints, peaks)  # what is left must not depend on which labels were done together
        return LabelWeights.normalised(joints, posterior, LEAST_PROBABILITY, threads)

    @cached_property
    def _scale_factors(self) -> tuple[Floats32, Floats32]:
        return self.frame.scale_factors(self.settings.fields.kappa)

    def _targets(self, posterior: LabelWeights) -> Floats32:
        raters, labels = self.patterns.number_of_raters, self.patterns.number_of_labels
        fields = self.settings.fields
        known = fields.target == "global"
        theta = self.global_theta(posterior) if known else np.empty((raters, labels, labels))
        return fields.targets(theta)

    def _log_prior(self, posterior: LabelWeights) -> Floats | None:
        """(K,) log label prior common to all voxels; None: each window has its own."""
        labels = self.patterns.number_of_labels
        if self.settings.prior == "local":
            return None
        if self.settings.prior == "global":
            shares = self._agreed + [weights.sum(dtype=np.float64) for _, weights in posterior.of]
        else:
            fixed = self.settings.fixed_prior
            shares = np.full(labels, 1 / labels) if fixed is None else np.asarray(fixed)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares / shares.sum()))

    @cached_property
    def _agreed(self) -> Floats:
        """(K,) unanimous voxels of each label."""
        unanimous, patterns = self.patterns.unanimous, self.patterns
        return np.asarray(
            np.bincount(
                patterns.lowest_vote[unanimous],
                patterns.counts[unanimous],
                patterns.number_of_labels,
            ),
            np.float64,
        )

    def global_theta(self, posterior: LabelWeights) -> Floats:
        """(J, K, K) confusion of each rater over all voxels (eq. 13); NaN where undefined."""
        patterns, labels = self.patterns, self.patterns.number_of_labels
        agreed = patterns.unanimous
        counts = np.empty((patterns.number_of_raters, labels, labels))
        for rater, votes in enumerate(patterns.patterns.T):
            said = np.bincount(votes[agreed], patterns.counts[agreed], labels + 1)[:labels]
            counts[rater] = self.settings.fields.alpha(labels) + np.diag(said)
            for true, (voxels, weights) in enumerate(posterior.of):
                saying = votes[self.frame.pattern_of_voxel[voxels]]
                counts[rater, :, true] += np.bincount(saying, weights, labels + 1)[:labels]
        with np.errstate(invalid="ignore"):
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _sift(found: list[Weighted], peaks: Floats32) -> None:
    """Leave the joints that are not far below a voxel's highest, label by label."""
    for label, (voxels, joints) in enumerate(found):
        near = joints >= peaks[voxels] - np.float32(_CUT)
        if not near.all():
            found[label] = voxels[near], joints[near]
