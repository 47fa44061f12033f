"""STAPLE for any number of labels: a K x K confusion matrix per rater.

Rohlfing, Russakoff & Maurer, IEEE TMI 23(6):983-994, 2004, as ITK's MultiLabelSTAPLEImageFilter
implements it; equation numbers are those of "When Does Consensus Beat Voting?", section 2.2.
The defaults follow ITK's main branch, which seeds from the vote without its ties.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.confusion_model import ConfusionModel, Floats, label_frequencies
from itk_consensus.algorithms.expectation_maximization import (
    IterationObserver,
    Optima,
    StopRule,
    VoxelBeliefs,
    maximize,
)
from itk_consensus.algorithms.initialization import (
    StartPlan,
    StartSummary,
    best_start,
    label_switched,
    make_starts,
    mean_of_votes,
)
from itk_consensus.algorithms.markov_field import MarkovField
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.ties import decide

#: Log posteriors this close are a tie (ITK compares products exactly; logs round).
TIE_TOLERANCE = 1e-12

#: What each named variant sets; a parameter given explicitly always wins.
MULTILABEL_VARIANTS: dict[str, dict[str, Any]] = {
    "Basic": {
        "ExcludeConsensusVoxels": False,
        "EstimatePrior": False,
        "PseudoCounts": (0.0, 0.0),
        "Initialization": "LabelVoting",
    },
}
MULTILABEL_VARIANTS["Restricted"] = MULTILABEL_VARIANTS["Basic"] | {"ExcludeConsensusVoxels": True}
MULTILABEL_VARIANTS["Advanced"] = MULTILABEL_VARIANTS["Basic"] | {
    "EstimatePrior": True,
    "PseudoCounts": (2.0, 0.0),
    "Initialization": "MajorityVote",
}


@dataclass(frozen=True)
class MultiLabelSettings:
    """Everything that multi-label STAPLE can be told.

    Attributes
    ----------
    prior : (K,) or (P, K) ndarray or None
        Fixed label prior, one or one per pattern; None: pooled label frequencies.
    estimate_prior : bool
        Update the prior in every M-step (eq. 16).
    exclude_consensus : bool
        Leave out voxels where all raters agree; they keep their label.
    pseudo_counts : (K, K) ndarray or None
        alpha[d, t] of eq. 13; None adds nothing.
    damping : float
    stop : StopRule
    plan : StartPlan
    """

    prior: Floats | None = None
    estimate_prior: bool = False
    exclude_consensus: bool = False
    pseudo_counts: Floats | None = None
    damping: float = 0.0
    stop: StopRule = dataclass_field(default_factory=lambda: StopRule(1e-5, 2**32 - 1))
    plan: StartPlan = dataclass_field(default_factory=lambda: StartPlan("LabelVoting"))


@dataclass(frozen=True)
class MultiLabelResult:
    """Multi-label STAPLE's answer on patterns.

    Attributes
    ----------
    posterior : (P, K) ndarray
        Probability of each label. Votes that no label explains, because some rater never said
        this where the truth was that, leave the model without an answer: such rows hold the shares
        of the votes, and their decision is undecided.
    decision : (P,) ndarray of int64
        Label index, or undecided on a tie.
    theta : (J, K, K) ndarray
        Confusion matrices [rater, observed, true].
    prior : (K,) ndarray
    log_likelihood, log_posterior : float
    iterations : int
    converged : bool
    starts : StartSummary
    settings : MultiLabelSettings
    voxels : VoxelBeliefs or None
        With a Markov field: what differs from voxel to voxel. A pattern's posterior is their mean.
    """

    posterior: Floats
    decision: NDArray[np.int64]
    theta: Floats
    prior: Floats
    log_likelihood: float
    log_posterior: float
    iterations: int
    converged: bool
    starts: StartSummary
    settings: MultiLabelSettings
    voxels: VoxelBeliefs | None = None


def multilabel_staple(
    patterns: DecisionPatterns,
    settings: MultiLabelSettings | None = None,
    *,
    field: MarkovField | None = None,
    observer: IterationObserver | None = None,
) -> MultiLabelResult:
    """Fuse patterns of any number of labels.

    Parameters
    ----------
    patterns : DecisionPatterns
    settings : MultiLabelSettings
        Default: ITK's.
    field : MarkovField
        Makes neighbouring voxels of these patterns tend to one label; the field then stands for
        the prior, unless `settings` give one.
    observer : callable
        Called after each iteration; returning False stops with the current estimate.
    """
    settings = settings or MultiLabelSettings()
    labels = patterns.number_of_labels
    if field is not None:
        even = np.full(labels, 1 / labels) if settings.prior is None else settings.prior
        settings = replace(settings, prior=even, estimate_prior=False)
    weights = patterns.counts.astype(np.float64)
    shares = mean_of_votes(patterns)
    annotated = ~np.isnan(shares[:, 0])
    disputed = annotated & ~patterns.unanimous
    if settings.exclude_consensus and disputed.any():
        weights = np.where(patterns.unanimous, 0.0, weights)
    frequencies = label_frequencies(weights[annotated], shares[annotated, None])[0]
    prior = frequencies if settings.prior is None else settings.prior
    pseudo = (
        np.zeros((labels, labels)) if settings.pseudo_counts is None else settings.pseudo_counts
    )
    model = ConfusionModel(patterns, weights, pseudo, settings.estimate_prior)
    starts = make_starts(model, settings.plan, frequencies, prior)
    search = maximize if field is None else field.maximize
    optima = search(model, starts, settings.stop, damping=settings.damping, observer=observer)
    return _result(patterns, weights, optima, settings)


def _result(
    patterns: DecisionPatterns, weights: Floats, optima: Optima, settings: MultiLabelSettings
) -> MultiLabelResult:
    winner = best_start(optima)
    log_joint = optima.log_joint
    if settings.exclude_consensus:
        log_joint = np.where(patterns.unanimous[:, None, None], _agreed(patterns), log_joint)
    decisions = np.stack(
        [
            decide(log_joint[:, start], patterns.labels, tolerance=TIE_TOLERANCE)
            for start in range(log_joint.shape[1])
        ],
        axis=1,
    )
    posterior = optima.responsibilities[:, winner]
    if settings.exclude_consensus:
        posterior = np.where(patterns.unanimous[:, None], np.exp(log_joint[:, winner]), posterior)
    impossible = posterior.sum(axis=1) == 0
    posterior = np.where(impossible[:, None], mean_of_votes(patterns), posterior)
    prior = optima.prior
    summary = StartSummary(
        winner,
        optima.log_likelihood,
        optima.log_posterior,
        optima.iterations,
        label_switched(optima),
        pairwise_overlap(decisions, patterns.counts),
        optima.trace,
    )
    annotated = np.asarray(patterns.present.any(axis=0))[:, None, None]
    return MultiLabelResult(
        posterior,
        decisions[:, winner],
        # A label that no truth explains has no column to normalise; ITK reports zeros there.
        np.where(annotated, np.nan_to_num(optima.theta[:, :, winner], nan=0.0), np.nan),
        prior[winner] if prior.ndim == 2 else np.average(prior[:, 0], axis=0, weights=weights),
        float(optima.log_likelihood[winner]),
        float(optima.log_posterior[winner]),
        int(optima.iterations[winner]),
        bool(optima.converged[winner]),
        summary,
        settings,
        optima.voxels,
    )


def _agreed(patterns: DecisionPatterns) -> Floats:
    """(P, 1, K) log of one for the label that all raters gave."""
    agreed = (patterns.votes() > 0).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(agreed)[:, None, :])


def pairwise_overlap(decisions: NDArray[np.int64], counts: NDArray[np.int64]) -> Floats:
    """(S, S) generalised Dice between label maps: twice the agreeing non-zero-label voxels.

    With the first label as background this is the Dice of everything else pooled; for two labels
    it is the ordinary Dice.
    """
    foreground = decisions != 0
    sizes = counts @ foreground
    starts = decisions.shape[1]
    both = np.empty((starts, starts))
    for start in range(starts):
        same = (decisions == decisions[:, [start]]) & foreground
        both[start] = counts @ same
    total = sizes[:, None] + sizes[None, :]
    return np.asarray(np.divide(2 * both, total, out=np.ones_like(both), where=total > 0))
