"""A fused result as the diagnostics see it, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.initialization import StartSummary
from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.array_types import Floats, Labels
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.fusions import Fusion


@dataclass(frozen=True)
class Finding:
    """What one rule saw.

    Attributes
    ----------
    rule : str
        Name of the rule.
    value : float or None
        The number it looks at; None if it does not apply here.
    concern : bool
        Whether the number gives reason for doubt.
    message : str
        The number in a plain sentence.
    advice : str
        What to do; empty without concern.
    """

    rule: str
    value: float | None
    concern: bool
    message: str
    advice: str = ""

    def __str__(self) -> str:
        mark = "!" if self.concern else " "
        return f"{mark} {self.rule}: {self.message}" + (f" {self.advice}" if self.advice else "")


@dataclass(frozen=True)
class Diagnostics:
    """All findings of one result."""

    findings: tuple[Finding, ...]

    @property
    def concerns(self) -> tuple[Finding, ...]:
        """The findings that give reason for doubt."""
        return tuple(finding for finding in self.findings if finding.concern)

    def __getitem__(self, rule: str) -> Finding:
        for finding in self.findings:
            if finding.rule == rule:
                return finding
        raise KeyError(rule)

    def __str__(self) -> str:
        ordered = sorted(self.findings, key=lambda finding: not finding.concern)
        head = f"{len(self.concerns)} of {len(self.findings)} checks give reason for doubt"
        return "\n".join([head, *(str(finding) for finding in ordered)])

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON; NaN and infinite numbers become None."""
        rows = [asdict(finding) for finding in self.findings]
        for row in rows:
            if row["value"] is not None and not np.isfinite(row["value"]):
                row["value"] = None
        return {"concerns": len(self.concerns), "findings": rows}


@dataclass(frozen=True)
class Estimate:
    """A fused result as the rules see it.

    Attributes
    ----------
    patterns : DecisionPatterns
    decision : (P,) ndarray of int64
        Label index per pattern, or a code of `labels.ties`.
    posterior : (P, K) ndarray
    theta : (J, K, K) ndarray or None
        Confusion matrices [rater, observed, true], if the method estimates them.
    starts : StartSummary or None
    fuse_again : callable or None
        Gives the decision for other counts of the same patterns; None if the answer cannot depend
        on how much background there is.
    """

    patterns: DecisionPatterns
    decision: Labels
    posterior: Floats
    theta: Floats | None = None
    starts: StartSummary | None = None
    fuse_again: Callable[[DecisionPatterns], Labels] | None = None

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
