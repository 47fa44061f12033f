"""A fused result as the rules see it: patterns of votes, and the answer of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.fusing.estimates import Told
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion

#: A number that was not looked for, since that takes long.
UNKNOWN = float("nan")


@dataclass(frozen=True)
class JudgedFusion:
    """A fused result as the rules see it."""

    patterns: DecisionPatterns
    decision: Labels  #: (P,) label index per pattern, or a code of `votes.ties`
    posterior: Callable[[], Floats]  #: Gives (P, K), which may be many
    spacing: Sequence[float] = ()  #: Voxel size per array axis
    told: Told = field(default_factory=Told)  #: What the method knows
    #: Dice to what the raters share; None if the result is that, `UNKNOWN` if nobody looked.
    consensus_dice: float | None = None
    #: Settings of the same filter, in words, and the Dice to what the raters share of each.
    alternatives: Mapping[str, Callable[[], float]] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()  #: Names of the filter's parameters
    looks_at_neighbours: bool = False  #: Whether voxels with equal votes may get different labels
    #: Groups of raters who are nearly copies of each other.
    copies: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, fusion: Fusion, patterns: DecisionPatterns, **known: Any) -> JudgedFusion:
        """A fusion of these patterns; where it has no probabilities by pattern, the vote's."""
        table = fusion.as_table(patterns)

        def of_the_vote() -> Floats:
            return majority_vote(table.patterns).probabilities

        posterior = table.probabilities or of_the_vote
        return cls(table.patterns, table.decision, posterior, **known)

    @property
    def foreground(self) -> NDArray[np.bool_]:
        """(P,) patterns whose result is a label other than background 0."""
        values = np.append(self.patterns.labels, [0, -1])
        return np.asarray(values[self.decision] != 0)

    @property
    def voted(self) -> NDArray[np.bool_]:
        """(P, J) whether the rater voted for a label other than 0."""
        values = np.append(self.patterns.labels, 0)
        return np.asarray(values[self.patterns.patterns] != 0)

    def volume(self, chosen: NDArray[np.bool_]) -> int:
        """Voxels of the chosen patterns."""
        return int(self.patterns.counts[chosen].sum())
