"""STAPLE: estimate each rater's confusion matrix and the hidden truth by EM.

Warfield, Zou & Wells, IEEE TMI 23(7):903-921, 2004, for two labels; Rohlfing, Russakoff & Maurer,
IEEE TMI 23(6):983-994, 2004, for any number; with the variants of Van Leemput & Sabuncu (MICCAI
2014) and the priors of Commowick & Warfield (MICCAI 2010). Equation numbers are those of "When
Does Consensus Beat Voting?".

`StapleSettings()` reproduces SimpleITK's binary STAPLE. `MULTILABEL` follows the multi-label filter
of ITK's main branch, which is initialised from the majority vote without tied voxels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.core.errors import ParameterError
from itk_consensus.fusing.estimates import AnswerFacts
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.staple.confusion_model import ConfusionModel, with_diagonal
from itk_consensus.methods.staple.expectation_maximization import (
    FROM_VOTES,
    Optima,
    StartPlan,
    Starts,
    first_theta,
    make_starts,
    maximize,
)
from itk_consensus.methods.staple.staple_result import (
    StapleEstimate,
    StapleResult,
    StartSummary,
    nothing_to_estimate,
    scores_of_start,
    staple_result,
)
from itk_consensus.methods.staple.votes_without_patterns import (
    CountedModel,
    CountedVotes,
    PackedFusion,
    SoftTable,
    in_pairs,
)
from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.expected_counts import UNDERFLOW, vote_frequencies
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.packed_votes import PackedVotes

if TYPE_CHECKING:
    from itk_consensus.methods.staple.markov_field import MarkovField

#: Settings changed by the named variants (section 2.1.5).
_ADVANCED = {"estimate_prior": True, "pseudo_counts": (2.0, 0.0)}
VARIANTS: dict[str, dict[str, Any]] = {
    "basic": {},
    "restricted": {"exclude_consensus": True},
    "advanced": {**_ADVANCED, "plan": StartPlan("majority_vote")},
    # Section 5.2, R2, but without excluding unanimous voxels: without these voxels labels may
    # switch.
    "careful": {**_ADVANCED, "plan": StartPlan("majority_vote", 10)},
}


@dataclass(frozen=True)
class StapleSettings:
    """Settings of STAPLE."""

    #: True: two labels, following SimpleITK's STAPLE: label 1 is the foreground and is assigned
    #: where its probability is >= 0.5; a class without votes is undefined. False: any number of
    #: labels, following the multi-label filter, which leaves ties undecided.
    binary: bool = True
    confidence_weight: float = 1.0  #: Scales a binary frequency prior, as in SimpleITK
    #: Fixed label prior; None: label frequencies. If binary, the foreground prior as a scalar or
    #: (P,); else (K,) or (P, K).
    prior: float | Floats | None = None
    estimate_prior: bool = False  #: Whether to update the prior in every M-step (eq. 16)
    #: alpha[k] of eq. 16, one for all labels or one per label; used only if the prior is estimated.
    prior_pseudo_counts: float | tuple[float, ...] = 0.0
    #: Whether to leave out voxels where all raters agree, which then keep their label.
    exclude_consensus: bool = False
    #: (diagonal, other) or (K, K) alpha[d, t] of eq. 13, added to the counts.
    pseudo_counts: tuple[float, float] | Floats = (0.0, 0.0)
    damping: float = 0.0  #: Fraction of the old theta kept in each step (eq. 17)
    stop: StopRule = field(default_factory=lambda: StopRule(1e-7, 2**32 - 1))
    plan: StartPlan = field(default_factory=StartPlan)

    def for_variant(self, variant: str, **changes: Any) -> StapleSettings:
        """Return a copy of these settings updated with a named variant and then with `changes`."""
        return replace(self, **{**VARIANTS[variant], **changes})

    def pseudo_count_table(self, labels: int) -> Floats:
        """Return the (K, K) pseudo-counts alpha[d, t]."""
        if isinstance(self.pseudo_counts, np.ndarray):
            return self.pseudo_counts
        return with_diagonal(labels, *self.pseudo_counts)

    def prior_counts(self, labels: int) -> Floats:
        """Return the (K,) pseudo-counts alpha[k]."""
        return np.broadcast_to(np.asarray(self.prior_pseudo_counts, np.float64), (labels,))


MULTILABEL = StapleSettings(
    binary=False, stop=StopRule(1e-5, 2**32 - 1), plan=StartPlan("label_voting")
)


def beta_pseudo_counts(sensitivity: Sequence[float], specificity: Sequence[float]) -> Floats:
    """Return (2, 2) alpha[d, t] for Beta(a, b) priors, which add a-1 and b-1 (eqs. 14, 15)."""
    (sa, sb), (ca, cb) = sensitivity, specificity
    return np.array([[ca - 1, sb - 1], [cb - 1, sa - 1]], dtype=np.float64)


def staple(
    votes: DecisionPatterns | PackedVotes | SoftVotes,
    settings: StapleSettings | None = None,
    *,
    field: MarkovField | None = None,
    owner: str = "staple",
) -> StapleResult:
    """Fuse votes by STAPLE.

    Parameters
    ----------
    votes : DecisionPatterns, PackedVotes or SoftVotes
        With `settings.binary`, votes for two labels, label 1 being the foreground. Packed and soft
        votes must have two labels; they are fused from the plan's first start only, with one prior
        for all voxels.
    settings : StapleSettings
        Settings; by default those of SimpleITK's binary STAPLE.
    field : MarkovField
        Markov field over the voxels of these patterns, which favours equal labels in neighbouring
        voxels. It replaces the prior unless `settings` give one.
    owner : str
        Name with which error messages begin.
    """
    settings = settings or StapleSettings()
    if not isinstance(votes, DecisionPatterns):
        return _from_one_start(votes, settings, owner)
    patterns = votes
    if field is not None:
        settings = replace(settings, estimate_prior=False)
    weights = counted_voxels(patterns, settings)
    if settings.binary and has_one_class(patterns, weights):
        return nothing_to_estimate(patterns, weights, settings)
    frequencies = vote_frequencies(patterns, weights)
    even = np.full_like(frequencies, 1 / len(frequencies))
    prior = _label_prior(settings, frequencies if field is None else even, owner)
    optima = run_em(patterns, weights, settings, frequencies, prior, field=field)
    return staple_result(patterns, weights, optima, settings)


def run_em(
    patterns: DecisionPatterns,
    weights: Floats,
    settings: StapleSettings,
    frequencies: Floats,
    prior: Floats,
    *,
    prior_rows: NDArray[np.uint32] | None = None,
    negligible: float = UNDERFLOW,
    field: MarkovField | None = None,
) -> Optima:
    """Run EM from every start of the plan.

    Parameters
    ----------
    weights : (P,) ndarray
        Number of voxels that each pattern represents.
    frequencies, prior : (K,) or (R, K) ndarray
        See `make_starts`.
    prior_rows : (P,) ndarray of uint32
        See `ConfusionModel`; by default a 2D prior has one row per pattern.
    negligible : float
        See `VoteTable`.
    """
    labels = patterns.number_of_labels
    pseudo_counts, prior_counts = settings.pseudo_count_table(labels), settings.prior_counts(labels)
    if prior.ndim == 2 and prior_rows is None:
        prior_rows = np.arange(len(weights), dtype=np.uint32)
    model = ConfusionModel(
        patterns,
        weights,
        pseudo_counts,
        settings.estimate_prior,
        prior_rows,
        negligible,
        prior_counts,
    )
    starts = make_starts(model, settings.plan, frequencies, prior)
    search = maximize if field is None else field.maximize
    return search(model, starts, settings.stop, damping=settings.damping)


@dataclass(frozen=True, kw_only=True)
class StapleModel(StapleEstimate):
    """STAPLE's estimate of rater performance, with facts used by diagnostics and explanations."""

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Return performances, starts, and functions to fuse other votes or use another variant."""
        # Refitting is not offered if agreed voxels are excluded (this fixes the analysed region, as
        # a mask does), nor with a Markov field or soft votes, which patterns cannot reproduce.
        is_plain = self.follows_votes and not self.settings.exclude_consensus
        labels, settings = patterns.number_of_labels, self.settings
        return AnswerFacts(
            theta=self.theta,
            starts=self.starts,
            pseudo_counts=settings.pseudo_count_table(labels),
            prior_counts=settings.prior_counts(labels),
            holds_prior=self.holds_prior and patterns.strata is None,
            refit=self._decision_of if is_plain else None,
            alternatives=self._alternatives(patterns),
        )

    @property
    def holds_prior(self) -> bool:
        """Whether the label prior was fixed to the mean of the masks."""
        settings = self.settings
        estimated = settings.estimate_prior or self.smoothness is not None
        return settings.prior is None and not estimated

    def _decision_of(self, patterns: DecisionPatterns) -> Labels:
        return staple(patterns, self.settings).decision

    def _alternatives(self, patterns: DecisionPatterns) -> dict[str, Callable[[], Fusion]]:
        soft = self.smoothness is None and not self.follows_votes
        if soft or self.settings.estimate_prior or patterns.strata is not None:
            return {}
        defaults = StapleSettings() if self.settings.binary else MULTILABEL
        advanced = defaults.for_variant("advanced")
        return {"Variant=advanced": lambda: staple(patterns, advanced).fusion}


def _from_one_start(
    votes: PackedVotes | SoftVotes,
    settings: StapleSettings,
    owner: str,
) -> StapleResult:
    """Run binary EM on packed or soft votes from the plan's first start."""
    counted = SoftTable.of(votes) if isinstance(votes, SoftVotes) else votes
    model = CountedModel(
        counted,
        settings.pseudo_count_table(2),
        settings.estimate_prior,
        settings.prior_counts(2),
    )
    name, frequencies = settings.plan.initialization, counted.frequencies()
    starts = Starts(
        first_theta(votes.number_of_raters, 2, name, settings.plan.performance),
        binary_prior(settings, frequencies, owner)[None],
        (FROM_VOTES[name],) if name in FROM_VOTES else (),
        frequencies,
    )
    end = maximize(model, starts, settings.stop, damping=settings.damping)
    fusion: Fusion
    expected_votes = partial(_expected_votes, counted, end)
    if isinstance(counted, SoftTable):
        fusion = counted.fusion(counted.truth(end.theta, end.prior)[0][:, 0])
        # Compute this now, so that the large soft votes need not be kept.
        expected_votes = partial(np.array, expected_votes())
    else:
        fusion = PackedFusion(counted, end.theta, end.prior)
        # Votes of a chunked volume are given as patterns, so the result is also stored by pattern.
        fusion = fusion if counted.patterns is None else fusion.on(counted.patterns)
    return StapleResult(
        fusion=fusion,
        theta=end.theta[:, :, 0],
        prior=end.prior[0],
        **scores_of_start(end, 0),
        starts=StartSummary.of(end, 0, dice=np.ones((1, 1))),
        settings=settings,
        follows_votes=fusion.follows_votes,
        smoothness=None,
        expected_votes=expected_votes,
    )


def _expected_votes(votes: CountedVotes, end: Optima) -> Floats:
    """Return (J, K, K) expected votes under the final parameters of the first start."""
    return votes.expectation(end.theta, end.prior).counts[:, :, 0]


def counted_voxels(patterns: DecisionPatterns, settings: StapleSettings) -> Floats:
    """Return the (P,) number of voxels that each pattern represents; 0 if it is excluded."""
    disputed = patterns.present.any(axis=1) & ~patterns.unanimous
    # The multi-label filter estimates from the unanimous voxels if there are no others.
    excludes = settings.exclude_consensus and (settings.binary or bool(disputed.any()))
    return np.where(excludes & patterns.unanimous, 0.0, patterns.counts)


def has_one_class(patterns: DecisionPatterns, weights: Floats) -> bool:
    """Return whether all counted votes are for the same label."""
    counted = patterns.present & (weights > 0)[:, None]
    votes = patterns.patterns[counted]
    return votes.size == 0 or bool((votes == votes[0]).all())


def _label_prior(settings: StapleSettings, frequencies: Floats, owner: str) -> Floats:
    """Return the (K,) or (P, K) label prior."""
    if settings.binary:
        return binary_prior(settings, frequencies, owner)
    return frequencies if settings.prior is None else np.asarray(settings.prior)


def binary_prior(settings: StapleSettings, frequencies: Floats, owner: str) -> Floats:
    """Return the (2,) or (P, 2) prior of background and foreground."""
    if settings.prior is not None:
        return in_pairs(np.asarray(settings.prior, dtype=np.float64))
    foreground = frequencies[1] * settings.confidence_weight
    if not 0 < foreground < 1:
        raise ParameterError(
            f"must keep the prior g = mean * weight inside (0, 1), "
            f"got g = {frequencies[1]:.6g} * {settings.confidence_weight:g} = {foreground:.6g}",
            owner=owner,
            parameter="ConfidenceWeight",
        )
    return in_pairs(foreground)
