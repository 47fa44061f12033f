"""Verdict: use, look or do not use, and the one or two findings that determined it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from itk_consensus.assessment.findings import GRADED_RULES, Diagnostics, Finding
from itk_consensus.fusing.agreement_limits import Agreement

#: The possible verdicts.
Word = Literal["use", "look", "do not use"]

WORDS: tuple[Word, ...] = ("use", "look", "do not use")

#: Maximum number of findings named with a verdict.
MOST_DECIDING = 2


@dataclass(frozen=True)
class Verdict:
    """Whether a result may be used, according to the findings about fusion and raters."""

    word: Word
    decided_by: tuple[Finding, ...]  #: The one or two findings that determined it; () for "use"
    agreement: Agreement | None  #: Grade of the raters' agreement; None if unknown
    #: The finding that grades the agreement, if raters agree only moderately or poorly; set for
    #: "use".
    agreed: Finding | None = None

    @classmethod
    def of(cls, found: Diagnostics) -> Verdict:
        """Return the verdict given by the most severe finding; notes are ignored."""
        word: Word = WORDS[max(0, max((one.grade for one in found.findings), default=0) - 1)]
        causes = [one for one in found.causes if one.concern]
        gravest = [one for one in causes if one.severity == word]
        # A finding that determines the verdict may be a consequence of a less severe finding.
        deciding = gravest or [one for one in found.concerns if one.severity == word]
        graded = [one for one in found.findings if one.rule in GRADED_RULES and one.severity]
        agreed = next(iter(graded), None) if word == "use" else None
        return cls(word, tuple(deciding[:MOST_DECIDING]), found.agreement, agreed)

    @property
    def grade(self) -> int:
        """Severity: 0 for use, 1 for look, 2 for do not use."""
        return WORDS.index(self.word)

    @property
    def why(self) -> str:
        """The findings that determined the verdict, or else the readers' agreement, as text."""
        if self.decided_by:
            return " ".join(one.sentence for one in self.decided_by)
        if self.agreed is not None:
            fine = "no slip of a reader and no fault of the result was found"
            return f"{self.agreed.what} Usable all the same: {fine}."
        if self.agreement is None:
            return "Nothing speaks against it."
        return "Readers agree well, and nothing speaks against it."

    def __str__(self) -> str:
        return f"{self.word.capitalize()}. {self.why}"

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain types for JSON."""
        return {
            "verdict": self.word,
            "why": self.why,
            "decided_by": [one.rule for one in self.decided_by],
            "agreement": self.agreement,
        }


def grade_of(word: str) -> int:
    """Return 0 for use, 1 for look, 2 for do not use, and 0 for any other text."""
    return WORDS.index(word) if word in WORDS else 0


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the most severe of several verdicts; on ties, the first."""
    return max(verdicts, key=lambda one: one.grade)
