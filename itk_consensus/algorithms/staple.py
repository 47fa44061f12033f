"""Binary STAPLE: sensitivity and specificity of every rater, and the hidden truth, by EM.

Warfield, Zou & Wells, IEEE TMI 23(7):903-921, 2004, with the variants of Van Leemput & Sabuncu
(MICCAI 2014) and the Beta priors of Commowick & Warfield (MICCAI 2010). Equation numbers are those
of "When Does Consensus Beat Voting?". The defaults give SimpleITK's answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, Literal, get_args

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
from itk_consensus.errors import ParameterError
from itk_consensus.labels.decision_patterns import DecisionPatterns

Variant = Literal["Basic", "Restricted", "Advanced"]
VARIANT_NAMES: tuple[str, ...] = get_args(Variant)

#: What each named variant sets; a parameter given explicitly always wins (section 2.1.5).
VARIANTS: dict[str, dict[str, Any]] = {
    "Basic": {
        "ExcludeConsensusVoxels": False,
        "EstimatePrior": False,
        "SensitivityPrior": (1.0, 1.0),
        "SpecificityPrior": (1.0, 1.0),
        "Initialization": "Mean",
    },
}
VARIANTS["Restricted"] = VARIANTS["Basic"] | {"ExcludeConsensusVoxels": True}
VARIANTS["Advanced"] = VARIANTS["Basic"] | {
    "EstimatePrior": True,
    "SensitivityPrior": (3.0, 1.0),
    "SpecificityPrior": (3.0, 1.0),
    "Initialization": "MajorityVote",
}


@dataclass(frozen=True)
class StapleSettings:
    """Everything that binary STAPLE can be told.

    Attributes
    ----------
    confidence_weight : float
        Scales the frequency prior, as in SimpleITK.
    prior : float, (P,) ndarray or None
        Fixed foreground probability, one or one per pattern; None: the mean of the masks.
    estimate_prior : bool
        Update the prior in every M-step (eq. 16).
    exclude_consensus : bool
        Leave out voxels where all raters agree; they keep their label.
    sensitivity_prior, specificity_prior : (a, b)
        Beta priors; (1, 1) is flat.
    damping : float
        Share of the old theta kept in each step (eq. 17).
    stop : StopRule
    plan : StartPlan
    """

    confidence_weight: float = 1.0
    prior: float | Floats | None = None
    estimate_prior: bool = False
    exclude_consensus: bool = False
    sensitivity_prior: tuple[float, float] = (1.0, 1.0)
    specificity_prior: tuple[float, float] = (1.0, 1.0)
    damping: float = 0.0
    stop: StopRule = dataclass_field(default_factory=lambda: StopRule(1e-7, 2**32 - 1))
    plan: StartPlan = dataclass_field(default_factory=StartPlan)

    @classmethod
    def for_variant(cls, variant: Variant, **changes: Any) -> StapleSettings:
        """Settings of a named variant, with changes."""
        named = VARIANTS[variant]
        settings = cls(
            estimate_prior=named["EstimatePrior"],
            exclude_consensus=named["ExcludeConsensusVoxels"],
            sensitivity_prior=named["SensitivityPrior"],
            specificity_prior=named["SpecificityPrior"],
            plan=StartPlan(named["Initialization"]),
        )
        return replace(settings, **changes)

    @property
    def pseudo_counts(self) -> Floats:
        """(2, 2) alpha[d, t]: Beta(a, b) adds a-1 and b-1 (eqs. 14, 15)."""
        (sa, sb), (ca, cb) = self.sensitivity_prior, self.specificity_prior
        return np.array([[ca - 1, sb - 1], [cb - 1, sa - 1]], dtype=np.float64)


@dataclass(frozen=True)
class StapleResult:
    """Binary STAPLE's answer on patterns.

    Attributes
    ----------
    posterior : (P,) ndarray
        Foreground probability of each pattern.
    sensitivity, specificity : (J,) ndarray
        NaN where undefined.
    positive_predictive_value, negative_predictive_value : (J,) ndarray
        Probability that a rater's foreground (background) vote is right.
    prior : float
        Foreground prior at the end; the mean of a spatial prior.
    log_likelihood, log_posterior : float
    iterations : int
    converged : bool
    starts : StartSummary
    settings : StapleSettings
    voxels : VoxelBeliefs or None
        With a Markov field: what differs from voxel to voxel. A pattern's posterior is their mean.
    """

    posterior: Floats
    sensitivity: Floats
    specificity: Floats
    positive_predictive_value: Floats
    negative_predictive_value: Floats
    prior: float
    log_likelihood: float
    log_posterior: float
    iterations: int
    converged: bool
    starts: StartSummary
    settings: StapleSettings
    voxels: VoxelBeliefs | None = None

    @property
    def decision(self) -> NDArray[np.int64]:
        """(P,) label index of each pattern (section 2.2.5)."""
        return (self.posterior >= 0.5).astype(np.int64)

    @property
    def theta(self) -> Floats:
        """(J, 2, 2) confusion matrices [rater, observed, true]."""
        s, t = self.sensitivity, self.specificity
        return np.stack([np.stack([t, 1 - s], axis=-1), np.stack([1 - t, s], axis=-1)], axis=-2)


def staple(
    patterns: DecisionPatterns,
    settings: StapleSettings | None = None,
    *,
    field: MarkovField | None = None,
    observer: IterationObserver | None = None,
    owner: str = "staple",
) -> StapleResult:
    """Fuse binary patterns.

    Parameters
    ----------
    patterns : DecisionPatterns
        Of a binary stack: label 1 is the foreground.
    settings : StapleSettings
        Default: SimpleITK's.
    field : MarkovField
        Makes neighbouring voxels of these patterns tend to one label; the field then stands for
        the prior, unless `settings` give one.
    observer : callable
        Called after each iteration; returning False stops with the current estimate.
    owner : str
        Who is named in errors.
    """
    settings = settings or StapleSettings()
    if field is not None:
        even = 0.5 if settings.prior is None else settings.prior
        settings = replace(settings, prior=even, estimate_prior=False)
    weights = counted_voxels(patterns, settings)
    if one_class(patterns, weights):
        return nothing_to_estimate(patterns, weights, settings)
    shares = mean_of_votes(patterns)
    annotated = ~np.isnan(shares[:, 0])
    frequencies = label_frequencies(weights[annotated], shares[annotated, None])[0]
    prior = _label_prior(patterns, settings, frequencies, owner)
    model = ConfusionModel(patterns, weights, settings.pseudo_counts, settings.estimate_prior)
    starts = make_starts(model, settings.plan, frequencies, prior)
    search = maximize if field is None else field.maximize
    optima = search(model, starts, settings.stop, damping=settings.damping, observer=observer)
    return staple_result(patterns, weights, optima, settings)


def counted_voxels(patterns: DecisionPatterns, settings: StapleSettings) -> Floats:
    """(P,) voxels that each pattern counts for."""
    excluded = settings.exclude_consensus & patterns.unanimous
    return np.where(excluded, 0.0, patterns.counts)


def one_class(patterns: DecisionPatterns, weights: Floats) -> bool:
    """Whether no rater disputes that all that counts is background, or all of it foreground."""
    counted = patterns.present & (weights > 0)[:, None]
    votes = patterns.patterns[counted]
    return votes.size == 0 or bool((votes == votes[0]).all())


def _label_prior(
    patterns: DecisionPatterns, settings: StapleSettings, frequencies: Floats, owner: str
) -> Floats:
    if settings.prior is None:
        foreground = frequencies[1] * settings.confidence_weight
        if not 0 < foreground < 1:
            raise ParameterError(
                f"{owner}: ConfidenceWeight must keep the prior g = mean * weight inside (0, 1), "
                f"got g = {frequencies[1]:.6g} * {settings.confidence_weight:g} = {foreground:.6g}"
            )
        return np.array([1 - foreground, foreground])
    given = np.asarray(settings.prior, dtype=np.float64)
    return np.stack([1 - given, given], axis=-1)


def staple_result(
    patterns: DecisionPatterns, weights: Floats, optima: Optima, settings: StapleSettings
) -> StapleResult:
    """The best start's answer, and what the others found."""
    winner = best_start(optima)
    responsibilities = _keep_consensus(patterns, optima.responsibilities[:, :, 1], settings)
    posterior = responsibilities[:, winner]
    priors = foreground_prior(optima, winner)
    foreground = priors[0] if optima.prior.ndim == 2 else np.average(priors, weights=weights)
    summary = StartSummary(
        winner,
        optima.log_likelihood,
        optima.log_posterior,
        optima.iterations,
        label_switched(optima),
        pairwise_dice(responsibilities >= 0.5, patterns.counts),
        optima.trace,
    )
    annotated = patterns.present.any(axis=0)
    return StapleResult(
        posterior,
        np.where(annotated, optima.theta[:, 1, winner, 1], np.nan),
        np.where(annotated, optima.theta[:, 0, winner, 0], np.nan),
        *_predictive_values(patterns, posterior),
        float(foreground),
        float(optima.log_likelihood[winner]),
        float(optima.log_posterior[winner]),
        int(optima.iterations[winner]),
        bool(optima.converged[winner]),
        summary,
        settings,
        optima.voxels,
    )


def foreground_prior(optima: Optima, start: int) -> Floats:
    """(P,) foreground prior of each pattern that a start ended with."""
    prior = optima.prior
    of_start = prior[start] if prior.ndim == 2 else prior[:, min(start, prior.shape[1] - 1)]
    return np.broadcast_to(of_start[..., 1], len(optima.responsibilities))


def _keep_consensus(
    patterns: DecisionPatterns, posterior: Floats, settings: StapleSettings
) -> Floats:
    """Voxels left out of the analysis keep the label that all their raters gave."""
    if not settings.exclude_consensus:
        return posterior
    agreed = np.where(patterns.unanimous, (patterns.patterns == 1).any(axis=1), 0.0)
    return np.where(patterns.unanimous[:, None], agreed[:, None], posterior)


def _predictive_values(patterns: DecisionPatterns, posterior: Floats) -> tuple[Floats, Floats]:
    truth = np.stack([1 - posterior, posterior], axis=1) * patterns.counts[:, None]
    table = patterns.tally(truth)
    with np.errstate(invalid="ignore"):
        right = table / table.sum(axis=2, keepdims=True)
    return right[:, 1, 1], right[:, 0, 0]


def pairwise_dice(masks: NDArray[np.bool_], counts: NDArray[np.int64]) -> Floats:
    """(S, S) Dice between label maps given as (P, S) masks over patterns; two empty maps agree."""
    weighted = masks.T @ (counts[:, None] * masks.astype(np.float64))
    sizes = np.diag(weighted)
    total = sizes[:, None] + sizes[None, :]
    return np.asarray(np.divide(2 * weighted, total, out=np.ones_like(total), where=total > 0))


def nothing_to_estimate(
    patterns: DecisionPatterns, weights: Floats, settings: StapleSettings
) -> StapleResult:
    """Every counted vote is the same: the answer is that class, and its opposite is undefined."""
    shares = mean_of_votes(patterns)[:, 1]
    counted = shares[(weights > 0) & ~np.isnan(shares)]
    fallback = float(counted[0]) if counted.size else 0.0
    posterior = np.where(np.isnan(shares), fallback, shares)
    truth = np.stack([1 - posterior, posterior], axis=1) * patterns.counts[:, None]
    table = patterns.tally(truth)
    with np.errstate(invalid="ignore"):
        theta = table / table.sum(axis=1, keepdims=True)
    only = np.zeros(1)
    prior = float(np.average(posterior, weights=patterns.counts))
    summary = StartSummary(
        0, only, only, np.zeros(1, np.int64), np.zeros(1, bool), np.ones((1, 1)), np.zeros((0, 1))
    )
    return StapleResult(
        posterior,
        theta[:, 1, 1],
        theta[:, 0, 0],
        *_predictive_values(patterns, posterior),
        prior,
        0.0,
        0.0,
        0,
        True,
        summary,
        settings,
    )
