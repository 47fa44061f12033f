"""VoteFacts: facts about the raters that follow from their votes alone, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from itk_consensus.fusing.near_copies import near_copies
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.pair_counts import PairCounts

#: With more labels, explanations and pages omit the resolution of the raters' agreement and the
#: distances between their contours, which would take longer to compute than the fusion.
MANY_LABELS = 10


@dataclass(frozen=True)
class VoteFacts:
    """Facts about the votes that both methods and the assessment use."""

    patterns: DecisionPatterns
    #: Groups of near copies, if already known; they cannot be detected from votes that are not
    #: stored voxel by voxel.
    known_groups: list[list[int]] | None = None

    @cached_property
    def pairs(self) -> PairCounts:
        """Overlap counts for all pairs of raters."""
        return PairCounts.of(self.patterns)

    @cached_property
    def groups(self) -> list[list[int]]:
        """Groups of raters who are near copies of each other; most groups have one rater."""
        return near_copies(self.patterns) if self.known_groups is None else self.known_groups

    @property
    def copies(self) -> tuple[tuple[int, ...], ...]:
        """Groups with at least two raters."""
        return tuple(tuple(group) for group in self.groups if len(group) > 1)
