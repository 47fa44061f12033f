"""A fused result as the diagnostics see it, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from itk_consensus.array_types import Floats, Labels
from itk_consensus.display import Displayed
from itk_consensus.fusion.staple.staple_result import StartSummary
from itk_consensus.fusion.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion

#: How much a finding matters; None: all is well.
Severity = Literal["note", "caution", "do not use"] | None

_GRADES: tuple[Severity, ...] = (None, "note", "caution", "do not use")


@dataclass(frozen=True)
class Finding:
    """What one rule saw."""

    rule: str  #: Name of the rule
    value: float | None  #: The number it looks at; None if it does not apply here
    #: {"note", "caution", "do not use"} or None; A note is a fact to know; a caution asks to look
    #: before use.
    severity: Severity
    message: str  #: The number in a plain sentence
    advice: str = ""  #: What to do; empty if all is well

    def __post_init__(self) -> None:
        if self.severity is None and self.advice:
            object.__setattr__(self, "advice", "")

    @property
    def concern(self) -> bool:
        """Whether the number gives reason for doubt: it is more than a note."""
        return self.grade > _GRADES.index("note")

    @property
    def grade(self) -> int:
        """0 if all is well, then rising with severity."""
        return _GRADES.index(self.severity)

    def __str__(self) -> str:
        head = f"{self.severity}: " if self.severity else ""
        return f"{head}{self.rule}: {self.message}" + (f" {self.advice}" if self.advice else "")


@dataclass(frozen=True)
class Diagnostics(Displayed):
    """All findings of one result."""

    findings: tuple[Finding, ...]

    @property
    def concerns(self) -> tuple[Finding, ...]:
        """The findings that give reason for doubt: cautions, and "do not use"."""
        return tuple(finding for finding in self.findings if finding.concern)

    @property
    def severity(self) -> Severity:
        """The highest of all findings."""
        return _GRADES[max((finding.grade for finding in self.findings), default=0)]

    def __getitem__(self, rule: str) -> Finding:
        for finding in self.findings:
            if finding.rule == rule:
                return finding
        raise KeyError(rule)

    def __str__(self) -> str:
        noted = [finding for finding in self.findings if finding.severity is not None]
        lines = [str(finding) for finding in sorted(noted, key=lambda finding: -finding.grade)]
        return "\n".join(lines if self.concerns else ["nothing gives reason for doubt", *lines])

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; NaN and infinite numbers become None."""
        rows = [asdict(finding) for finding in self.findings]
        for row in rows:
            if row["value"] is not None and not np.isfinite(row["value"]):
                row["value"] = None
        return {"severity": self.severity, "concerns": len(self.concerns), "findings": rows}


@dataclass(frozen=True)
class Estimate:
    """A fused result as the rules see it."""

    patterns: DecisionPatterns
    decision: Labels  #: (P,) label index per pattern, or a code of `votes.ties`
    posterior: Floats  #: (P, K)
    #: (J, K, K) confusion matrices [rater, observed, true], if the method estimates them.
    theta: Floats | None = None
    starts: StartSummary | None = None
    #: Gives the decision for other counts of the same patterns; None if the answer cannot depend on
    #: how much background there is.
    fuse_again: Callable[[DecisionPatterns], Labels] | None = None
    #: Dice to what the raters share; None if the result is that.
    consensus_dice: float | None = None
    #: Settings of the same filter, in words, and the Dice to what the raters share of each.
    alternatives: Mapping[str, Callable[[], float]] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()  #: Names of the filter's parameters
    looks_at_neighbours: bool = False  #: Whether voxels with equal votes may get different labels
    #: Groups of raters who are nearly copies of each other.
    copies: tuple[tuple[int, ...], ...] = ()
    merges_copies: bool = False  #: Whether the method counts nearly identical raters once
    vote_dice: float | None = None  #: Dice to the plain vote, where the method may leave it
    vote_is_noise: bool = False  #: Whether the vote has specks that the result does not

    @classmethod
    def of(cls, fusion: Fusion, patterns: DecisionPatterns) -> Estimate:
        """A fusion of these patterns; where it has no probabilities by pattern, the vote's."""
        table = fusion.as_table(patterns)
        posterior = table.probabilities
        if posterior is None:
            posterior = majority_vote(table.patterns).probabilities
        return cls(table.patterns, table.decision, posterior)

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
