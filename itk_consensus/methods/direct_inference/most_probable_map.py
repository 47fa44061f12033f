"""Direct inference: the most probable label map itself, without estimating performance first.

Van Leemput & Sabuncu, "A cautionary analysis of STAPLE using direct inference of segmentation
truth", MICCAI 2014; equations 22-26 of "When Does Consensus Beat Voting?". STAPLE's model, but its
parameters are integrated out, and p(t, D) is maximised over maps t. EM's maps are among the starts,
so no map of theirs has a higher evidence than the answer; of more than two labels that is said of
maps at which EM nearly rests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.core.work import current, stage
from itk_consensus.fusing.estimates import Estimate, Told
from itk_consensus.methods.direct_inference.block_scores import ConditionalShares
from itk_consensus.methods.direct_inference.evidence_search import (
    Climb,
    all_can_be_tried,
    climb_best,
    finish,
    preferred,
)
from itk_consensus.methods.direct_inference.gibbs_sampling import (
    GibbsSamples,
    SamplingPlan,
    sample,
)
from itk_consensus.methods.direct_inference.label_evidence import LabelEvidence, Maps
from itk_consensus.methods.direct_inference.starting_maps import starting_maps, vote_map
from itk_consensus.methods.staple.confusion_model import with_diagonal
from itk_consensus.methods.staple.expectation_maximization import StartPlan
from itk_consensus.methods.staple.staple_result import StartSummary, pairwise_overlap
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import PatternShares

#: Quantiles reported of each rater's performance.
QUANTILES = (0.025, 0.5, 0.975)


_PLAN = StartPlan(number=5)
_NO_SAMPLES = SamplingPlan()


@dataclass(frozen=True)
class DirectInferenceSettings:
    """Everything that direct inference can be told."""

    #: (diagonal, off-diagonal) counts added to each column of a confusion matrix: on its diagonal,
    #: and off it, the latter shared by the other labels, so that the prior does not grow with their
    #: number.
    pseudo_counts: tuple[float, float] = (4.0, 2.0)
    #: Starts of each EM, by number, seed and range; its `initialization` follows the variant.
    plan: StartPlan = _PLAN
    sampling: SamplingPlan = _NO_SAMPLES
    #: Counts added to the voxels of every label, or of each: the label prior's own prior.
    prior_pseudo_counts: float | tuple[float, ...] = 0.0

    def pseudo_count_table(self, labels: int) -> Floats:
        """(K, K) alpha[d, t]."""
        diagonal, others = self.pseudo_counts
        return with_diagonal(labels, diagonal, others / max(labels - 1, 1))


@dataclass(frozen=True)
class Performance:
    """Posterior of the probability that each rater recognises each label; NaN if never present."""

    mean: Floats  #: (J, K)
    deviation: Floats  #: (J, K)
    quantiles: Floats  #: (J, K, 3) at `QUANTILES`


@dataclass(frozen=True, kw_only=True)
class DirectInferenceEstimate(Estimate):
    """What direct inference says of the raters, and of its search."""

    log_evidence: float  #: log p(t, D) of the map
    exact: bool  #: Whether all maps were tried, so that none has a higher evidence for certain
    #: (J, K, K) posterior mean of the confusion matrices [rater, observed, true]: over the samples,
    #: or given the map. NaN for a rater who is never present.
    theta: Floats
    prior: Floats  #: (K,) posterior mean of the label prior, likewise
    #: Of the confusions' diagonal, likewise; given the map alone it is the narrower one.
    performance: Performance
    #: Its log likelihoods and log posteriors are log evidences; the winner's is the final one.
    starts: StartSummary
    start_names: tuple[str, ...]
    #: Largest Monte-Carlo standard error of the probabilities; NaN unless sampled.
    sampling_error: float
    settings: DirectInferenceSettings

    @property
    def winning_start(self) -> str:
        """What the start was that led to the map."""
        return self.start_names[self.starts.winner]

    def told(self, patterns: DecisionPatterns) -> Told:
        """Performances, starts, and the answer to other votes."""
        unsampled = replace(self.settings, sampling=SamplingPlan())
        return Told(
            theta=self.theta,
            starts=self.starts,
            pseudo_counts=self.settings.pseudo_count_table(patterns.number_of_labels),
            prior_counts=np.asarray(self.settings.prior_pseudo_counts),
            refit=lambda other: direct_inference(other, unsampled).decision,
        )


@dataclass(frozen=True, kw_only=True)
class DirectInferenceResult(DirectInferenceEstimate):
    """The most probable map, on patterns."""

    decision: Labels  #: (P,) label index of each pattern: the map of highest evidence
    #: (P, K) marginal posterior of a voxel's label if sampled; else its conditional posterior given
    #: the rest of the map (eq. 26).
    shares: Floats | PatternShares
    samples: GibbsSamples | None

    @property
    def estimate(self) -> DirectInferenceEstimate:
        """The numbers alone."""
        return DirectInferenceEstimate.of(self)


def direct_inference(
    patterns: DecisionPatterns,
    settings: DirectInferenceSettings | None = None,
) -> DirectInferenceResult:
    """Find the label map of highest evidence.

    With a single rater nothing can be inferred (the evidence is highest for a map of one label
    only); the answer is then that rater's map.

    Who watches the work is told after each iteration of EM, round of moves and sample, and may
    stop it with the best map so far.
    """
    settings = settings or DirectInferenceSettings()
    table = settings.pseudo_count_table(patterns.number_of_labels)
    model = LabelEvidence(patterns, table, np.asarray(settings.prior_pseudo_counts))
    if not _several_raters(patterns):
        names, maps = ["majority_vote"], vote_map(patterns)[:, None]
        evidence = model.log_evidence(maps)
        search = Climb(maps, evidence, np.zeros(1, dtype=np.int64), np.empty((0, 1)))
        return _result(model, search, 0, names, settings)
    with stage(0.0, 0.5):
        names, maps = starting_maps(patterns, settings.plan)
    # Starts often coincide; each distinct map is climbed from once.
    first: dict[bytes, int] = {}
    same_as = [first.setdefault(chosen.tobytes(), start) for start, chosen in enumerate(maps.T)]
    distinct, which = np.unique(same_as, return_inverse=True)
    search = climb_best(model, maps[:, distinct]).of(which)
    winner = preferred(model, search.maps, search.log_evidence)
    best = finish(model, search.maps[:, winner])
    search.maps[:, winner], search.log_evidence[winner] = best
    current().iterated(1)  # What is told of all starts takes a while.
    return _result(model, search, winner, names, settings)


def _several_raters(patterns: DecisionPatterns) -> bool:
    return int(patterns.present.any(axis=0).sum()) > 1


def _switched(model: LabelEvidence, maps: Maps) -> NDArray[np.bool_]:
    """(S,) whether the mean rater does worse than chance: the labels have changed places.

    A label without voxels cannot have been switched.
    """
    right = []
    for prior, confusion in map(model.parameter_posterior, model.few_at_a_time(maps)):
        diagonal = np.einsum("jksk->jsk", confusion / confusion.sum(axis=1, keepdims=True))
        found = prior > model.prior_concentration
        right.append(np.where(found, diagonal.mean(axis=0), 1.0).sum(axis=1))
    return np.concatenate(right) < 1


def _result(
    model: LabelEvidence,
    search: Climb,
    winner: int,
    names: list[str],
    settings: DirectInferenceSettings,
) -> DirectInferenceResult:
    decision = search.maps[:, winner].astype(np.int64)
    labels = model.patterns.number_of_labels
    posterior = model.parameter_posterior(decision[:, None])
    prior, confusion = posterior.prior[0], posterior.confusion[:, :, 0]
    samples = None
    if settings.sampling.number:
        voxels = np.eye(labels)[decision] * model.patterns.counts[:, None]
        samples = sample(model, voxels, settings.sampling)
    if samples is None:
        shares: Floats | PatternShares = ConditionalShares.of(model, decision)
        theta, prior = confusion / confusion.sum(axis=1, keepdims=True), prior / prior.sum()
        performance = _given_map(confusion)
    else:
        shares, theta, prior = samples.marginals, samples.confusion, samples.prior
        performance = _sampled(samples.performance)
    never = ~model.patterns.present.any(axis=0)
    for values in (theta, performance.mean, performance.deviation, performance.quantiles):
        values[never] = np.nan
    switched = _switched(model, search.maps)
    current().iterated(1)
    summary = StartSummary(
        winner,
        search.log_evidence,
        search.log_evidence,
        search.rounds,
        switched,
        pairwise_overlap(search.maps, model.patterns.counts),
        search.trace,
    )
    return DirectInferenceResult(
        decision=decision,
        shares=shares,
        log_evidence=float(search.log_evidence[winner]),
        exact=_several_raters(model.patterns) and all_can_be_tried(model),
        theta=theta,
        prior=prior,
        performance=performance,
        starts=summary,
        start_names=tuple(names),
        sampling_error=np.nan if samples is None else float(samples.marginal_errors.max()),
        samples=samples,
        settings=settings,
    )


def _given_map(confusion: Floats) -> Performance:
    """Beta marginals of the Dirichlet posterior of (J, K, K) parameters (eq. 21)."""
    right = np.einsum("jkk->jk", confusion)
    total = confusion.sum(axis=1)
    mean = right / total
    deviation = np.sqrt(mean * (1 - mean) / (total + 1))
    wrong = np.maximum(total - right, np.finfo(np.float64).tiny)
    quantiles = scipy.special.betaincinv(right[..., None], wrong[..., None], np.array(QUANTILES))
    return Performance(mean, deviation, quantiles)


def _sampled(draws: Floats) -> Performance:
    """Moments and quantiles of (M, J, K) draws."""
    quantiles = np.moveaxis(np.quantile(draws, QUANTILES, axis=0), 0, -1).copy()
    return Performance(draws.mean(axis=0), draws.std(axis=0), quantiles)
