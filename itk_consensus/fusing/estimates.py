"""What a method estimates beside its answer, and what it tells those who judge the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion

E = TypeVar("E", bound="Estimate")


@dataclass(frozen=True)
class Told:
    """What a method tells about its answer, as far as it knows."""

    #: (J, K, K) confusion matrices [rater, observed, true], if the method estimates them.
    theta: Floats | None = None
    starts: Any = None  #: A `StartSummary`, if there were several ways to begin
    #: (K, K) alpha[d, t] and (K,) alpha[k]: what was counted of performance and labels beforehand.
    pseudo_counts: Floats | float = 0.0
    prior_counts: Floats | float = 0.0
    #: Whether one label prior, the mean of the masks, is held for all voxels of the image.
    holds_prior: bool = False
    #: Whether a global performance that was asked for was no target, so that another was taken.
    replaced_target: bool = False
    #: Gives the decision for other counts of the same patterns; None if the answer cannot depend on
    #: how much background there is.
    refit: Callable[[DecisionPatterns], Labels] | None = None
    #: Settings of the same filter, in words, and what makes the answer by each.
    alternatives: Mapping[str, Callable[[], Fusion]] = field(default_factory=dict)
    merges_copies: bool = False  #: Whether the method counts nearly identical raters once
    vote_dice: float | None = None  #: Dice to the plain vote, where the method may leave it
    vote_is_noise: bool = False  #: Whether the vote has specks that the result does not
    #: Whether to compare the answer with what raters share would say nothing.
    is_shared: bool = False


class Estimate:
    """Base of what methods estimate: numbers, no voxels, so that a scheduler can send it."""

    @classmethod
    def of(cls: type[E], result: Any) -> E:
        """The numbers alone of a result that has voxels, too."""
        names = [one.name for one in fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: getattr(result, name) for name in names})

    def told(self, patterns: DecisionPatterns) -> Told:
        """What those who judge the answer should know; `patterns` are the votes."""
        return Told()
