"""Spatial STAPLE: raters whose performance varies from place to place.

Asman & Landman, IEEE TMI 31(6):1326-1336, 2012. Equation numbers are those of "When Does Consensus
Beat Voting?", section 2.5.

Unanimous voxels keep their label with certainty, so EM runs on disputed voxels only, and adding
background outside their windows changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Floats32
from itk_consensus.fusing.estimates import AnswerFacts, Estimate
from itk_consensus.fusing.iteration import Step, StopRule, iterate
from itk_consensus.methods.staple.spatial.performance_field import (
    FieldSettings,
    RegularizationTarget,
)
from itk_consensus.methods.voting.majority_vote import VoteResult, majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import CHUNK, DisputedVoxels, chunks, decide_voxels
from itk_consensus.votes.fields.window_frame import WindowFrame
from itk_consensus.votes.label_weights import LabelWeights
from itk_consensus.votes.ties import SAME_SINGLE

PriorMode = Literal["local", "global", "fixed"]
PRIOR_MODES: tuple[PriorMode, ...] = get_args(PriorMode)

#: Lower bound on a vote's probability, so that a seemingly perfect rater can still be overruled;
#: also the threshold below which a label's posterior is set to 0, which keeps sums over labels
#: short.
LEAST_PROBABILITY = 1e-10

_STOP = StopRule(tolerance=1e-4, maximum_iterations=200)


@dataclass(frozen=True)
class SpatialSettings:
    """Settings of Spatial STAPLE."""

    fields: FieldSettings
    #: Label prior: the mean posterior over the window, that over all voxels, or `fixed_prior`.
    prior: PriorMode = "local"
    fixed_prior: Floats | None = None  #: (K,) label prior; None: uniform
    stop: StopRule = _STOP  #: Tolerance on the mean change of a disputed voxel's posterior


@dataclass(frozen=True, kw_only=True)
class SpatialEstimate(Estimate):
    """Spatial STAPLE's estimate of rater performance over all voxels, and how EM terminated."""

    theta: Floats  #: (J, K, K) confusion of each rater [rater, observed, true], over all voxels
    #: (iterations,) log likelihood of the votes at disputed voxels in each iteration.
    log_likelihood: Floats
    change: Floats  #: (iterations,) mean change of the disputed voxels' posteriors
    converged: bool
    settings: SpatialSettings

    @property
    def iterations(self) -> int:
        """Number of completed iterations."""
        return len(self.change)

    @property
    def target(self) -> RegularizationTarget:
        """Regularisation target in use at the end."""
        return self.settings.fields.valid_target(self.theta)

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Return performances over all voxels, and whether the target was replaced."""
        fields = self.settings.fields
        return AnswerFacts(
            theta=self.theta,
            pseudo_counts=fields.alpha(patterns.number_of_labels),
            replaced_target=self.target != fields.target,
        )


@dataclass(frozen=True, kw_only=True)
class SpatialResult(SpatialEstimate):
    """Spatial STAPLE's result."""

    voxels: DisputedVoxels
    posterior: LabelWeights  #: (K, N) probability of each label at the disputed voxels
    decision: NDArray[np.int32]  #: (N,) label index; undecided on a tie
    vote: VoteResult  #: Result at all other voxels

    @property
    def estimate(self) -> SpatialEstimate:
        """This estimate without the posterior."""
        return SpatialEstimate.of(self)


def spatial_staple(
    patterns: DecisionPatterns,
    settings: SpatialSettings,
) -> SpatialResult:
    """Fuse label maps, estimating every rater's confusion matrix at every voxel."""
    # Ties are initialised with the lowest label, background, since the paper's vote requires a
    # majority.
    vote = majority_vote(patterns, ties="lowest")
    model = _SpatialModel(patterns, settings)
    number = len(model.frame)

    def step(previous: Floats32) -> Step[Floats32, tuple[float, float]]:
        posterior, evidence, moved = model.step(previous)
        change = moved / number
        return Step(posterior, (evidence, change), settings.stop.met(change))

    most = settings.stop.most_iterations if number else 0
    run = iterate(step, model.start(vote), most)
    log_likelihood, change = np.array(run.trace).reshape(-1, 2).T
    posterior = model.frame.by_label(run.state)
    return SpatialResult(
        voxels=model.frame.voxels,
        posterior=posterior,
        decision=decide_voxels(posterior, patterns.labels, "undecided", tolerance=SAME_SINGLE),
        vote=vote,
        theta=model.global_theta(run.state),
        log_likelihood=log_likelihood,
        change=change,
        converged=run.converged or not run.trace,
        settings=settings,
    )


class _SpatialModel:
    """EM whose state is the (M,) posterior of the frame's (voxel, label) pairs."""

    def __init__(self, patterns: DecisionPatterns, settings: SpatialSettings) -> None:
        self.patterns = patterns
        self.settings = settings
        self.frame = WindowFrame(patterns, settings.fields.radii)

    def start(self, vote: VoteResult) -> Floats32:
        """Return the initial posterior: 1 for the voted label of each disputed voxel."""
        posterior = np.empty(len(self.frame.mentions), np.float32)
        for part, voxels, labels in self._mentions():
            posterior[part] = vote.decision[self.frame.pattern_of_voxel[voxels]] == labels
        return posterior

    def _mentions(self) -> Iterator[tuple[slice, NDArray[np.uint32], NDArray[np.intp]]]:
        """Yield chunks of (voxel, label) pairs: their slice, voxels and labels."""
        for part in chunks(len(self.frame.mentions), CHUNK):
            yield part, self.frame.mentions[part], self.frame.labels_of(part)

    def step(self, posterior: Floats32) -> tuple[Floats32, float, float]:
        """Run M-step and E-step; return the posterior, the log likelihood and the total change."""
        return self.frame.step(
            posterior,
            kappa=self.settings.fields.kappa,
            targets=self._targets(posterior),
            pseudo_counts=self.settings.fields.pseudo_counts,
            log_prior=self._log_prior(posterior),
            least=LEAST_PROBABILITY,
        )

    def _targets(self, posterior: Floats32) -> Floats32:
        raters, labels = self.patterns.number_of_raters, self.patterns.number_of_labels
        fields = self.settings.fields
        known = fields.target == "global"
        theta = self.global_theta(posterior) if known else np.empty((raters, labels, labels))
        return fields.targets(theta)

    def _log_prior(self, posterior: Floats32) -> Floats | None:
        """Return the (K,) log label prior of all voxels; None if each window has its own."""
        labels = self.patterns.number_of_labels
        if self.settings.prior == "local":
            return None
        if self.settings.prior == "global":
            shares = self._agreed.copy()
            for part, _, true in self._mentions():
                shares += np.bincount(true, posterior[part], labels)
        else:
            fixed = self.settings.fixed_prior
            shares = np.full(labels, 1 / labels) if fixed is None else np.asarray(fixed)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares / shares.sum()))

    @cached_property
    def _agreed(self) -> Floats:
        """(K,) number of voxels unanimously given each label."""
        unanimous, patterns = self.patterns.unanimous, self.patterns
        return np.asarray(
            np.bincount(
                patterns.lowest_vote[unanimous],
                patterns.counts[unanimous],
                patterns.number_of_labels,
            ),
            np.float64,
        )

    def global_theta(self, posterior: Floats32) -> Floats:
        """Return each rater's (J, K, K) confusion over all voxels (eq. 13); NaN if undefined."""
        patterns, labels = self.patterns, self.patterns.number_of_labels
        agreed = patterns.unanimous
        counts = np.empty((patterns.number_of_raters, labels, labels))
        for rater, votes in enumerate(patterns.patterns.T):
            own = np.bincount(votes[agreed], patterns.counts[agreed], labels + 1)[:labels]
            counts[rater] = self.settings.fields.alpha(labels) + np.diag(own)
        for part, voxels, true in self._mentions():
            rows = patterns.patterns[self.frame.pattern_of_voxel[voxels]]
            for rater, votes in enumerate(rows.T):
                cells = votes.astype(np.intp) * labels + true
                found = np.bincount(cells, posterior[part], (labels + 1) * labels)
                counts[rater] += found.reshape(-1, labels)[:labels]
        with np.errstate(invalid="ignore"):
            return np.asarray(counts / counts.sum(axis=1, keepdims=True))
