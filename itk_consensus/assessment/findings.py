"""Finding: who, what, where and what to do; Diagnostics: all findings of one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from itk_consensus.assessment import sentences
from itk_consensus.assessment.places import Place
from itk_consensus.core.display import Displayed
from itk_consensus.fusing.reader_limits import Agreement

#: How much a finding matters; None: all is well, "note": a fact to know, which changes no verdict.
Severity = Literal["note", "look", "do not use"] | None

#: What a finding is about.
Subject = Literal["fusion", "raters"]

#: How much it matters how far raters agree.
SEVERITY_OF: dict[Agreement, Severity] = {"good": None, "moderate": "note", "poor": "look"}

#: The rules that grade it.
GRADED_RULES = ("pairwise Dice", "surface Dice", "volume spread")

_GRADES: tuple[Severity, ...] = (None, "note", "look", "do not use")


@dataclass(frozen=True)
class Finding:
    """What one rule saw, in numbers; `sentences` puts it into words."""

    rule: str  #: Name of the rule
    value: float | None  #: The number it looks at; None if it does not apply here
    #: {"note", "look", "do not use"} or None; A note is a fact to know, and changes no verdict.
    severity: Severity
    who: tuple[int, ...] = ()  #: Raters it is about; () for all of them
    label: int | None = None  #: The label it is about; None for all
    facts: Mapping[str, Any] = field(default_factory=dict)  #: Numbers of its sentence
    #: {"fusion", "raters"}; Whether it says if the result can be believed, or how raters agree.
    about: Subject = "fusion"
    kind: str = ""  #: Which of the rule's sentences says it
    where: Place | None = None  #: The largest place of it; None if it has none, or nobody looked
    because: str = ""  #: The rule of the finding that explains this one
    rater_names: tuple[str, ...] = ()  #: What all raters are called; () if they have no names
    label_names: Mapping[int, str] = field(default_factory=dict)  #: What labels are called

    @property
    def concern(self) -> bool:
        """Whether the number gives reason for doubt: it is more than a note."""
        return self.grade > _GRADES.index("note")

    @property
    def grade(self) -> int:
        """0 if all is well, then rising with severity."""
        return _GRADES.index(self.severity)

    @property
    def names(self) -> tuple[str, ...]:
        """The raters it is about, by their names."""
        return sentences.names(self)

    @property
    def what(self) -> str:
        """What was seen, with its number and unit."""
        return sentences.what(self)

    @property
    def do(self) -> str:
        """What to do about it; empty if all is well."""
        return sentences.advice(self)

    def named(self, raters: Sequence[str] = (), labels: Mapping[int, str] | None = None) -> Finding:
        """The same in which raters and labels are called so."""
        raters = tuple(raters) or self.rater_names
        return replace(self, rater_names=raters, label_names={**self.label_names, **(labels or {})})

    def __str__(self) -> str:
        head = f"{self.severity}: " if self.severity else ""
        return head + self.sentence

    @property
    def sentence(self) -> str:
        """What was seen, where, and what to do."""
        place = f" See {self.where}." if self.where and self.concern else ""
        return f"{self.what}{place} {self.do}".strip()

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; NaN and infinite numbers become None."""
        known = self.value is not None and np.isfinite(self.value)
        return {
            "rule": self.rule,
            "severity": self.severity,
            "who": list(self.names),
            "what": self.what,
            "where": None if self.where is None else self.where.to_dict(),
            "do": self.do,
            "value": float(self.value) if known else None,  # type: ignore[arg-type]
            "label": self.label,
            "about": self.about,
            "because": self.because,
        }


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

    def of_label(self, label: int) -> Diagnostics:
        """Those about one label, and about all of them."""
        return Diagnostics(tuple(one for one in self.findings if one.label in (None, label)))

    def named(
        self, raters: Sequence[str] = (), labels: Mapping[int, str] | None = None
    ) -> Diagnostics:
        """The same in which raters and labels are called so."""
        return Diagnostics(tuple(one.named(raters, labels) for one in self.findings))

    @property
    def noted(self) -> tuple[Finding, ...]:
        """Those that say something, the gravest first."""
        said = [one for one in self.findings if one.severity is not None]
        return tuple(sorted(said, key=lambda one: -one.grade))

    @property
    def causes(self) -> tuple[Finding, ...]:
        """Those that no other one explains, the gravest first."""
        return tuple(one for one in self.noted if not one.because)

    def consequences(self, cause: Finding) -> tuple[Finding, ...]:
        """What a finding explains."""
        first = next(one for one in self.causes if one.rule == cause.rule)
        return tuple(
            one
            for one in self.noted
            if one.because == cause.rule
            and (one.who == cause.who or (cause is first and not self._has_own_cause(one)))
        )

    def _has_own_cause(self, one: Finding) -> bool:
        return any(other.rule == one.because and other.who == one.who for other in self.causes)

    @property
    def concerns(self) -> tuple[Finding, ...]:
        """The findings that give reason for doubt: "look" and "do not use", the gravest first."""
        return tuple(finding for finding in self.noted if finding.concern)

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
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """The findings as text: causes, the gravest first, with what they explain below them."""
        if not self.noted:
            checks = len({one.rule for one in self.findings})
            return [f"All {checks} automatic checks passed; they do not judge plausibility."]
        lines = []
        for cause in self.causes:
            lines.append(str(cause))
            lines += [f"  therefore: {one.what}" for one in self.consequences(cause)]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; NaN and infinite numbers become None."""
        return {
            "severity": self.severity,
            "concerns": len(self.concerns),
            "agreement": self.agreement,
            "findings": [finding.to_dict() for finding in self.findings],
        }
