"""Finding: a problem, the raters and place concerned, and advice; Diagnostics: all findings
on a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from itk_consensus.assessment import sentences
from itk_consensus.assessment.places import Place
from itk_consensus.core.display import Displayed
from itk_consensus.fusing.agreement_limits import Agreement

#: Severity of a finding; None: no problem, "note": information that does not change the verdict.
Severity = Literal["note", "look", "do not use"] | None

#: Subject of a finding.
Subject = Literal["fusion", "raters"]

#: Severity of the finding for each grade of agreement between raters.
SEVERITY_OF: dict[Agreement, Severity] = {"good": None, "moderate": "note", "poor": "look"}

#: The rules that grade the agreement of raters.
GRADED_RULES = ("pairwise Dice", "surface Dice", "volume spread")

#: Rules about masks whose sides or labels are exchanged; these wrong files are reported before
#: other findings of the same severity.
SWAPS = ("swapped labels", "swapped structures", "mirrored mask")

_GRADES: tuple[Severity, ...] = (None, "note", "look", "do not use")


@dataclass(frozen=True)
class Finding:
    """The outcome of one rule as values, from which `sentences` generates text."""

    rule: str  #: Name of the rule
    value: float | None  #: The value that the rule tests; None if the rule does not apply
    #: "note", "look", "do not use" or None; a note is information and does not change the verdict.
    severity: Severity
    who: tuple[int, ...] = ()  #: Raters concerned; () for all
    label: int | None = None  #: Label concerned; None for all
    #: Values that are inserted into the text
    facts: Mapping[str, Any] = field(default_factory=dict)
    #: Subject: trust in the result ("fusion") or the agreement between raters ("raters").
    about: Subject = "fusion"
    kind: str = ""  #: Selects one of the rule's texts
    where: Place | None = None  #: The largest affected place; None if none is known
    because: str = ""  #: The rule of the finding that explains this one
    rater_names: tuple[str, ...] = ()  #: Names of all raters; () if they have no names
    label_names: Mapping[int, str] = field(default_factory=dict)  #: Names of labels

    @property
    def concern(self) -> bool:
        """Whether the severity is "look" or "do not use"."""
        return self.grade > _GRADES.index("note")

    @property
    def passed(self) -> bool:
        """Whether there is no problem, and no other finding contradicts this."""
        return self.severity is None and not self.because

    @property
    def grade(self) -> int:
        """Severity as a number: 0 for no problem, 1 for a note, 2 for look, 3 for do not use."""
        return _GRADES.index(self.severity)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the raters concerned."""
        return sentences.names(self)

    @property
    def what(self) -> str:
        """Statement of the problem, with its value and unit."""
        return sentences.what(self)

    @property
    def do(self) -> str:
        """Recommended action; empty if there is no problem."""
        return sentences.advice(self)

    def named(self, raters: Sequence[str] = (), labels: Mapping[int, str] | None = None) -> Finding:
        """Return a copy with names of raters and labels."""
        raters = tuple(raters) or self.rater_names
        # The mapping is shared if possible, since copies would use much memory with thousands of
        # labels.
        known = {**self.label_names, **labels} if self.label_names and labels else None
        return replace(self, rater_names=raters, label_names=known or labels or self.label_names)

    def __str__(self) -> str:
        head = f"{self.severity}: " if self.severity else ""
        return head + self.sentence

    @property
    def sentence(self) -> str:
        """A sentence with the problem, its place, and the recommended action."""
        place = f" See {self.where}." if self.where and self.concern else ""
        return f"{self.what}{place} {self.do}".strip()

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain types for JSON; NaN and infinite numbers become None."""
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
    """All findings on one result: on the fusion and on the raters."""

    findings: tuple[Finding, ...]

    @property
    def fusion(self) -> Diagnostics:
        """Findings on whether the result can be trusted."""
        return self._about("fusion")

    @property
    def raters(self) -> Diagnostics:
        """Findings on the agreement between raters and on files that may be wrong."""
        return self._about("raters")

    def _about(self, subject: Subject) -> Diagnostics:
        return Diagnostics(tuple(one for one in self.findings if one.about == subject))

    def of_label(self, label: int) -> Diagnostics:
        """Return the findings on one label and those on all labels."""
        return Diagnostics(tuple(one for one in self.findings if one.label in (None, label)))

    def named(
        self, raters: Sequence[str] = (), labels: Mapping[int, str] | None = None
    ) -> Diagnostics:
        """Return a copy with names of raters and labels."""
        return Diagnostics(tuple(one.named(raters, labels) for one in self.findings))

    @cached_property
    def noted(self) -> tuple[Finding, ...]:
        """Findings with a severity, the most severe first; at equal severity swaps come first."""
        said = [one for one in self.findings if one.severity is not None]
        return tuple(sorted(said, key=lambda one: (-one.grade, one.rule not in SWAPS)))

    @cached_property
    def causes(self) -> tuple[Finding, ...]:
        """Findings that are not explained by another finding, the most severe first."""
        return tuple(one for one in self.noted if not one.because)

    def consequences(self, cause: Finding) -> tuple[Finding, ...]:
        """Return the findings that a cause explains.

        If several findings with the same rule are causes, each explains the findings on its own
        raters, and the first explains all others.
        """
        places = self._places_explained.get((cause.rule, cause.who), ())
        if cause is self._first_causes[cause.rule]:
            places = (*places, *self._places_explained.get((cause.rule, None), ()))
        return tuple(self.noted[place] for place in sorted(places))

    @cached_property
    def _first_causes(self) -> dict[str, Finding]:
        """The most severe cause of each rule."""
        return {one.rule: one for one in reversed(self.causes)}

    @cached_property
    def _places_explained(self) -> dict[tuple[str, tuple[int, ...] | None], list[int]]:
        """Indices into `noted` by the rule and the raters of the cause; None if no cause
        has these raters.
        """
        causes = {(one.rule, one.who) for one in self.causes}
        places: dict[tuple[str, tuple[int, ...] | None], list[int]] = {}
        for place, one in enumerate(self.noted):
            if one.because:
                who = one.who if (one.because, one.who) in causes else None
                places.setdefault((one.because, who), []).append(place)
        return places

    @property
    def concerns(self) -> tuple[Finding, ...]:
        """Findings of severity "look" or "do not use", the most severe first."""
        return tuple(finding for finding in self.noted if finding.concern)

    @property
    def severity(self) -> Severity:
        """The highest severity among the findings."""
        return _GRADES[max((finding.grade for finding in self.findings), default=0)]

    def reaches(self, severity: Severity) -> bool:
        """Return whether any finding is at least as severe as the given severity."""
        return _GRADES.index(self.severity) >= _GRADES.index(severity)

    @property
    def agreement(self) -> Agreement | None:
        """Grade of the raters' agreement on the label with the worst agreement; None if unknown."""
        graded = [one for one in self.findings if one.rule in GRADED_RULES]
        if not graded:
            return None
        worst = max(graded, key=lambda one: one.grade).severity
        return next(grade for grade, severity in SEVERITY_OF.items() if severity == worst)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, rule: str) -> Finding:
        for finding in self.findings:
            if finding.rule == rule:
                return finding
        raise KeyError(rule)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return lines of text: causes (the most severe first), each with its consequences."""
        if not self.noted:
            checks = len({one.rule for one in self.findings})
            return [f"All {checks} automatic checks passed; they do not judge plausibility."]
        lines = []
        for cause in self.causes:
            lines.append(str(cause))
            lines += [f"  therefore: {one.what}" for one in self.consequences(cause)]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain types for JSON; NaN and infinite numbers become None."""
        return {
            "severity": self.severity,
            "concerns": len(self.concerns),
            "agreement": self.agreement,
            "findings": [finding.to_dict() for finding in self.findings],
        }
