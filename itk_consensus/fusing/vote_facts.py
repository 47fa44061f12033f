"""VoteFacts: what is known of raters from their votes alone, counted once for all who ask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from itk_consensus.fusing.near_copies import near_copies
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.pair_counts import PairCounts


@dataclass(frozen=True)
class VoteFacts:
    """What methods and the assessment both ask of the votes."""

    patterns: DecisionPatterns

    @cached_property
    def pairs(self) -> PairCounts:
        """What every two raters have in common."""
        return PairCounts.of(self.patterns)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Raters who are near copies of each other, in one group; most groups are one rater."""
        return near_copies(self.patterns)

    @property
    def copies(self) -> tuple[tuple[int, ...], ...]:
        """The groups of two raters and more."""
        return tuple(tuple(group) for group in self.groups if len(group) > 1)
