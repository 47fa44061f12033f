"""The input of all rules about a fusion: the vote patterns, and the result for each pattern."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.fusing.estimates import AnswerFacts
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion

#: Placeholder for a value that is too expensive to compute here.
UNKNOWN = float("nan")


@dataclass(frozen=True)
class JudgedFusion:
    """A fused result with all data that the rules need."""

    patterns: DecisionPatterns
    decision: Labels  #: (P,) label index per pattern, or a code of `votes.ties`
    #: Returns (P, K) probabilities; computed lazily, since they may be large
    posterior: Callable[[], Floats]
    spacing: Sequence[float] = ()  #: Voxel size per array axis
    answer_facts: AnswerFacts = field(default_factory=AnswerFacts)  #: Values reported by the method
    #: Dice with Consensus; None if the result is Consensus, `UNKNOWN` if not computed.
    consensus_dice: float | None = None
    agreement: float = UNKNOWN  #: Mean Dice of pairs of raters for the label with the lowest mean
    #: Other settings of the same filter, each with a function that returns its Dice with Consensus.
    alternatives: Mapping[str, Callable[[], float]] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()  #: Names of the filter's parameters
    looks_at_neighbours: bool = False  #: Whether voxels with equal votes may get different labels
    #: Groups of raters who are nearly copies of each other.
    copies: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, fusion: Fusion, patterns: DecisionPatterns, **known: Any) -> JudgedFusion:
        """Create from a fusion; the vote's probabilities are used if it has none per pattern."""
        table = fusion.as_table(patterns)

        def of_the_vote() -> Floats:
            return majority_vote(table.patterns).probabilities

        posterior = table.probabilities or of_the_vote
        return cls(table.patterns, table.decision, posterior, **known)

    @property
    def foreground(self) -> NDArray[np.bool_]:
        """(P,) whether the result of a pattern is foreground; False for ties."""
        values = np.append(self.patterns.labels, [0, 0])
        return np.asarray(values[self.decision] != 0)

    @property
    def voted(self) -> NDArray[np.bool_]:
        """(P, J) whether the rater voted for a label other than 0."""
        values = np.append(self.patterns.labels, 0)
        return np.asarray(values[self.patterns.patterns] != 0)

    def volume(self, chosen: NDArray[np.bool_]) -> int:
        """Return the number of voxels whose pattern is among the chosen ones."""
        return int(self.patterns.counts[chosen].sum())
