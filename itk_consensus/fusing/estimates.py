"""Estimates of a method besides its fused result, and facts about the result for its assessment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion

E = TypeVar("E", bound="Estimate")


@dataclass(frozen=True)
class AnswerFacts:
    """Facts about a result required for its assessment; each method fills in those it knows."""

    #: (J, K, K) confusion matrices [rater, observed, true], if the method estimates them.
    theta: Floats | None = None
    starts: Any = None  #: A `StartSummary`, if there were several initialisations
    #: (K, K) alpha[d, t] and (K,) alpha[k]: pseudo-counts for performance and for labels.
    pseudo_counts: Floats | float = 0.0
    prior_counts: Floats | float = 0.0
    #: Whether the label prior is fixed to the mean of the masks, for all voxels of the image.
    holds_prior: bool = False
    #: Whether the requested global performance was unusable as a target, so that another was used.
    replaced_target: bool = False
    #: Recomputes the decision with other counts for the same patterns, to test whether it depends
    #: on the amount of background; None if this is not possible.
    refit: Callable[[DecisionPatterns], Labels] | None = None
    #: Functions that compute the result with other settings, keyed by a description of the setting.
    alternatives: Mapping[str, Callable[[], Fusion]] = field(default_factory=dict)
    merges_copies: bool = False  #: Whether the method counts nearly identical raters once
    #: Dice with the majority vote, if the method may deviate from it
    vote_dice: float | None = None
    vote_is_noise: bool = False  #: Whether the vote contains specks that the result lacks
    #: Whether comparing the result with that of Consensus would be pointless.
    is_shared: bool = False


class Estimate:
    """Base class of a method's estimates: values without voxels, which are cheap to pickle."""

    @classmethod
    def of(cls: type[E], result: Any) -> E:
        """Copy the estimates from a result that also contains voxels."""
        names = [one.name for one in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: getattr(result, name) for name in names})

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Return facts about the result for its assessment; `patterns` are the votes."""
        return AnswerFacts()
