"""Direct inference: find the most probable label map without estimating performance first.

Van Leemput & Sabuncu, "A cautionary analysis of STAPLE using direct inference of segmentation
truth", MICCAI 2014; equations 22-26 of "When Does Consensus Beat Voting?". The model is that of
STAPLE with its parameters integrated out; p(t, D) is maximised over maps t. The maps found by
STAPLE's EM are among the starts, so none of them has a higher evidence than the result. (With more
than two labels EM is stopped early, close to convergence.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.core.work import current, stage
from itk_consensus.fusing.estimates import AnswerFacts, Estimate
from itk_consensus.methods.direct_inference.block_scores import ConditionalShares
from itk_consensus.methods.direct_inference.evidence_search import (
    Climb,
    all_can_be_tried,
    choose_map,
    climb_best,
    finish,
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

#: Quantiles of each rater's performance that are reported.
QUANTILES = (0.025, 0.5, 0.975)


_PLAN = StartPlan(number=5)
_NO_SAMPLES = SamplingPlan()


@dataclass(frozen=True)
class DirectInferenceSettings:
    """Settings of direct inference."""

    #: (diagonal, off-diagonal) pseudo-counts for each column of a confusion matrix. The latter is
    #: divided among the other labels, so that the prior does not grow with the number of labels.
    pseudo_counts: tuple[float, float] = (4.0, 2.0)
    #: Starts of each EM run (number, seed and range); `initialization` depends on the variant.
    plan: StartPlan = _PLAN
    sampling: SamplingPlan = _NO_SAMPLES
    #: Dirichlet prior on the label prior: pseudo-counts for all labels, or one value per label.
    prior_pseudo_counts: float | tuple[float, ...] = 0.0

    def pseudo_count_table(self, labels: int) -> Floats:
        """Return the (K, K) pseudo-counts alpha[d, t]."""
        diagonal, others = self.pseudo_counts
        return with_diagonal(labels, diagonal, others / max(labels - 1, 1))


@dataclass(frozen=True)
class Performance:
    """Posterior of each rater's probability of recognising each label; NaN if never present."""

    mean: Floats  #: (J, K) posterior mean
    deviation: Floats  #: (J, K) posterior standard deviation
    quantiles: Floats  #: (J, K, 3) quantiles at `QUANTILES`


@dataclass(frozen=True, kw_only=True)
class DirectInferenceEstimate(Estimate):
    """Direct inference's estimate of rater performance, and the outcome of its search."""

    log_evidence: float  #: log p(t, D) of the map
    exact: bool  #: Whether all maps were evaluated, so that no map has a higher evidence
    #: (J, K, K) posterior mean of the confusion matrices [rater, observed, true]: over the samples
    #: or, without samples, given the map. NaN for a rater who is never present.
    theta: Floats
    prior: Floats  #: (K,) posterior mean of the label prior: over the samples, or given the map
    #: Posterior of the diagonal of the confusions; if conditional on the map, it is too narrow.
    performance: Performance
    #: Outcome of the starts; log likelihoods and log posteriors are log evidences.
    starts: StartSummary
    start_names: tuple[str, ...]
    #: Largest Monte-Carlo standard error of the probabilities; NaN unless sampled.
    sampling_error: float
    settings: DirectInferenceSettings

    @property
    def winning_start(self) -> str:
        """Name of the start that led to the returned map."""
        return self.start_names[self.starts.winner]

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Return performances, starts, and a function that fuses other votes."""
        unsampled = replace(self.settings, sampling=SamplingPlan())
        return AnswerFacts(
            theta=self.theta,
            starts=self.starts,
            pseudo_counts=self.settings.pseudo_count_table(patterns.number_of_labels),
            prior_counts=np.asarray(self.settings.prior_pseudo_counts),
            refit=lambda other: direct_inference(other, unsampled).decision,
        )


@dataclass(frozen=True, kw_only=True)
class DirectInferenceResult(DirectInferenceEstimate):
    """The most probable map of the patterns."""

    decision: Labels  #: (P,) label index of each pattern: the map with the highest evidence
    #: (P, K) marginal posterior of a voxel's label if sampled; otherwise its conditional posterior
    #: given the rest of the map (eq. 26).
    shares: Floats | PatternShares
    samples: GibbsSamples | None

    @property
    def estimate(self) -> DirectInferenceEstimate:
        """This estimate without the map."""
        return DirectInferenceEstimate.of(self)


def direct_inference(
    patterns: DecisionPatterns,
    settings: DirectInferenceSettings | None = None,
) -> DirectInferenceResult:
    """Find the label map with the highest evidence.

    With a single rater nothing can be inferred (a constant map has the highest evidence), so that
    rater's map is returned.

    Progress is reported after each EM iteration, round of moves and sample; on Abort the best map
    so far is returned.
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
    # Starts often coincide; each distinct map is climbed from only once.
    first: dict[bytes, int] = {}
    same_as = [first.setdefault(chosen.tobytes(), start) for start, chosen in enumerate(maps.T)]
    distinct, which = np.unique(same_as, return_inverse=True)
    search = climb_best(model, maps[:, distinct]).of(which)
    winner = choose_map(model, search.maps, search.log_evidence)
    best = finish(model, search.maps[:, winner])
    search.maps[:, winner], search.log_evidence[winner] = best
    current().on_iteration(1)  # Summarising the starts takes a while, so check Abort before.
    return _result(model, search, winner, names, settings)


def _several_raters(patterns: DecisionPatterns) -> bool:
    return int(patterns.present.any(axis=0).sum()) > 1


def _is_switched(model: LabelEvidence, maps: Maps) -> NDArray[np.bool_]:
    """Return (S,) whether the mean rater is worse than chance, i.e. labels are switched.

    A label without voxels counts as perfect.
    """
    right = []
    for prior, confusion in map(model.parameter_posterior, model.batches_of(maps)):
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
        performance = _performance_given_map(confusion)
    else:
        shares, theta, prior = samples.marginals, samples.confusion, samples.prior
        performance = _performance_from_samples(samples.performance)
    never = ~model.patterns.present.any(axis=0)
    for values in (theta, performance.mean, performance.deviation, performance.quantiles):
        values[never] = np.nan
    switched = _is_switched(model, search.maps)
    current().on_iteration(1)
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


def _performance_given_map(confusion: Floats) -> Performance:
    """Return the Beta marginals of the Dirichlet posterior with (J, K, K) parameters (eq. 21)."""
    right = np.einsum("jkk->jk", confusion)
    total = confusion.sum(axis=1)
    mean = right / total
    deviation = np.sqrt(mean * (1 - mean) / (total + 1))
    wrong = np.maximum(total - right, np.finfo(np.float64).tiny)
    quantiles = scipy.special.betaincinv(right[..., None], wrong[..., None], np.array(QUANTILES))
    return Performance(mean, deviation, quantiles)


def _performance_from_samples(draws: Floats) -> Performance:
    """Return moments and quantiles of (M, J, K) samples."""
    quantiles = np.moveaxis(np.quantile(draws, QUANTILES, axis=0), 0, -1).copy()
    return Performance(draws.mean(axis=0), draws.std(axis=0), quantiles)
