"""A fused result as the diagnostics see it, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Labels
from itk_consensus.core.display import Displayed
from itk_consensus.fusing.estimates import Told
from itk_consensus.fusing.reader_limits import Agreement
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion

#: How much a finding matters; None: all is well.
Severity = Literal["note", "caution", "do not use"] | None

#: What a finding is about.
Subject = Literal["fusion", "raters"]

#: How much it matters how far raters agree.
SEVERITY_OF: dict[Agreement, Severity] = {"good": None, "moderate": "note", "poor": "caution"}

#: The rules that grade it.
GRADED_RULES = ("pairwise Dice", "surface Dice", "volume spread")

_GRADES: tuple[Severity, ...] = (None, "note", "caution", "do not use")


#: A number that was not looked for, since that takes long.
UNKNOWN = float("nan")


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
    #: {"fusion", "raters"}; Whether it says if the result can be believed, or how raters agree.
    about: Subject = "fusion"

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
    """All findings of one result: about the fusion, and about the raters whatever became of it."""

    findings: tuple[Finding, ...]

    @property
    def fusion(self) -> Diagnostics:
        """Whether the result can be believed."""
        return self._about("fusion")

    @property
    def raters(self) -> Diagnostics:
        """How far the raters agree, and who of them may have slipped."""
        return self._about("raters")

    def _about(self, subject: Subject) -> Diagnostics:
        return Diagnostics(tuple(one for one in self.findings if one.about == subject))

    @property
    def concerns(self) -> tuple[Finding, ...]:
        """The findings that give reason for doubt: cautions, and "do not use"."""
        return tuple(finding for finding in self.findings if finding.concern)

    @property
    def severity(self) -> Severity:
        """The highest of all findings."""
        return _GRADES[max((finding.grade for finding in self.findings), default=0)]

    def reaches(self, severity: Severity) -> bool:
        """Whether a finding is as grave as that."""
        return _GRADES.index(self.severity) >= _GRADES.index(severity)

    @property
    def agreement(self) -> Agreement | None:
        """How far the raters agree in the worst of their labels; None if nobody can tell."""
        graded = [one for one in self.findings if one.rule in GRADED_RULES]
        if not graded:
            return None
        worst = max(graded, key=lambda one: one.grade).severity
        return next(grade for grade, severity in SEVERITY_OF.items() if severity == worst)

    def __getitem__(self, rule: str) -> Finding:
        for finding in self.findings:
            if finding.rule == rule:
                return finding
        raise KeyError(rule)

    def __str__(self) -> str:
        return "\n".join([*self.fusion.lines(), *self.raters.lines()])

    @property
    def verdict(self) -> str:
        """What the findings about one subject come to, in a sentence."""
        checks, doubts = len(self.findings), len(self.concerns)
        if not doubts:
            return f"All {checks} automatic checks passed; they do not judge clinical plausibility."
        give = "gives" if doubts == 1 else "give"
        return f"{doubts} of {checks} automatic checks {give} reason for doubt."

    def lines(self) -> list[str]:
        """The findings about one subject as text, under what they come to."""
        if not self.findings:
            return []
        subject = self.findings[0].about.capitalize()
        agreement = f"{self.agreement} agreement. " if self.agreement else ""
        noted = [finding for finding in self.findings if finding.severity is not None]
        ordered = sorted(noted, key=lambda finding: -finding.grade)
        return [f"{subject}: {agreement}{self.verdict}", *(f"  {one}" for one in ordered)]

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; NaN and infinite numbers become None."""
        rows = [asdict(finding) for finding in self.findings]
        for row in rows:
            if row["value"] is not None and not np.isfinite(row["value"]):
                row["value"] = None
        return {
            "severity": self.severity,
            "concerns": len(self.concerns),
            "agreement": self.agreement,
            "findings": rows,
        }


@dataclass(frozen=True)
class JudgedFusion:
    """A fused result as the rules see it."""

    patterns: DecisionPatterns
    decision: Labels  #: (P,) label index per pattern, or a code of `votes.ties`
    posterior: Callable[[], Floats]  #: Gives (P, K), which may be many
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
