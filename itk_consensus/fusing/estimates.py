"""What a method estimates besides its answer, and facts about the answer for its assessment."""

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
    """Facts about an answer that its assessment needs; each method fills in those it knows."""

    #: (J, K, K) confusion matrices [rater, observed, true], if the method estimates them.
    theta: Floats | None = None
    starts: Any = None  #: A `StartSummary`, if there were several initialisations
    #: (K, K) alpha[d, t] and (K,) alpha[k]: pseudo-counts of performance and of labels.
    pseudo_counts: Floats | float = 0.0
    prior_counts: Floats | float = 0.0
    #: Whether the label prior is fixed to the mean of the masks, for all voxels of the image.
    holds_prior: bool = False
    #: Whether the requested global performance was unusable as a target, so another was used.
    replaced_target: bool = False
    #: Recomputes the decision with other counts of the same patterns, to test whether it depends on
    #: the amount of background; None if it cannot.
    refit: Callable[[DecisionPatterns], Labels] | None = None
    #: Functions that compute the answer with other settings, by a description of the setting.
    alternatives: Mapping[str, Callable[[], Fusion]] = field(default_factory=dict)
    merges_copies: bool = False  #: Whether the method counts nearly identical raters once
    vote_dice: float | None = None  #: Dice to the plain vote, if the method may deviate from it
    vote_is_noise: bool = False  #: Whether the vote has specks that the result does not have
    #: Whether comparing the answer with Consensus would be pointless.
    is_shared: bool = False


class Estimate:
    """Base of a method's estimates: numbers without voxels, cheap to pickle and send."""

    @classmethod
    def of(cls: type[E], result: Any) -> E:
        """Copy the numbers from a result that also has voxels."""
        names = [one.name for one in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: getattr(result, name) for name in names})

    def answer_facts(self, patterns: DecisionPatterns) -> AnswerFacts:
        """Facts about the answer for its assessment; `patterns` are the votes."""
        return AnswerFacts()
