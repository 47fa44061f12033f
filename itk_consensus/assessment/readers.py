"""The input of all rules about raters: volumes and overlaps, label by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.agreement_limits import AgreementLimits
from itk_consensus.fusing.vote_facts import VoteFacts
from itk_consensus.space.boxes import format_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.pair_counts import PairCounts


@dataclass(frozen=True)
class Readers:
    """The votes of raters and derived quantities, independent of any fusion."""

    facts: VoteFacts
    spacing: Sequence[float]  #: Voxel size per array axis
    limits: AgreementLimits = field(default_factory=AgreementLimits)

    @property
    def patterns(self) -> DecisionPatterns:
        """The decision patterns of the raters' votes."""
        return self.facts.patterns

    @cached_property
    def annotating(self) -> NDArray[np.intp]:
        """Indices of the raters who annotated anything, that is, who are not missing."""
        return np.flatnonzero(self.patterns.present.any(axis=0))

    @property
    def pairs(self) -> PairCounts:
        """Volumes and overlaps of all pairs of raters."""
        return self.facts.pairs

    @cached_property
    def drawers(self) -> NDArray[np.int64]:
        """(K,) number of raters who drew each label; 0 for background."""
        drew = (self.pairs.sizes > 0).sum(axis=1)
        return np.where(self.patterns.labels == 0, 0, drew)

    @cached_property
    def shared_labels(self) -> NDArray[np.intp]:
        """Indices of labels drawn by at least two raters for which the Dice of some pair is
        defined.
        """
        return np.flatnonzero((self.drawers > 1) & np.isfinite(self.dice).any(axis=(1, 2)))

    @cached_property
    def is_complete(self) -> bool:
        """Whether all raters annotated the whole image; only then are volumes comparable."""
        return bool(self.patterns.present[:, self.annotating].all())

    @cached_property
    def dice(self) -> Floats:
        """(K, J, J) Dice; NaN if neither rater marked the label in the part that both annotated."""
        pairs = self.pairs
        either = pairs.marked + pairs.marked.transpose(0, 2, 1)
        dice = np.where(either > 0, pairs.dice, np.nan)
        every = np.arange(dice.shape[1])
        dice[:, every, every] = np.nan
        return dice

    @property
    def agreement(self) -> float:
        """Mean Dice of pairs for the label with the lowest mean; NaN if no Dice is defined."""
        labels = self.shared_labels
        return float(np.nanmean(self.dice[labels], axis=(1, 2)).min()) if len(labels) else np.nan

    def label(self, index: np.integer[Any] | int) -> int | None:
        """Return the label value for a finding; None if raters drew only one label."""
        several = (self.drawers > 0).sum() > 1
        return int(self.patterns.labels[index]) if several else None

    def volume(self, *voxels: float) -> str:
        """Format volumes in ml, or areas in mm^2 for a 2D image: "23.7 to 45.9 ml"."""
        return format_volume(self.spacing, *voxels)


def about_raters(
    rule: str,
    value: float | None,
    severity: Severity = None,
    kind: str = "fine",
    who: Iterable[int] = (),
    label: int | None = None,
    **facts: Any,
) -> Finding:
    """Make a finding about the raters; by default one that reports no problem."""
    raters = tuple(int(rater) for rater in who)
    return Finding(rule, value, severity, raters, label, facts, "raters", kind)


class _Swap(Protocol):
    """Labels or structures that a rater names differently from the others."""

    @property
    def used(self) -> Sequence[object]: ...
    @property
    def meant(self) -> Sequence[object]: ...
    @property
    def before(self) -> float: ...
    @property
    def after(self) -> float: ...
    @property
    def is_closed(self) -> bool: ...


def about_swap(rule: str, who: Sequence[int], swap: _Swap) -> Finding:
    """Make a finding about swapped or renamed labels or structures.

    `who` is the rater who swapped them or, if there are only two raters, both: either may be right.
    """
    kind = "renamed" if not swap.is_closed else "" if len(swap.used) == 2 else "circle"
    if swap.is_closed and len(who) == 2:
        kind = "pair"
    facts: dict[str, Any] = {"used": swap.used[0], "meant": swap.meant[0]}
    facts |= {"circle": [list(pair) for pair in zip(swap.used, swap.meant, strict=True)]}
    facts |= {"before": swap.before, "after": swap.after}
    return about_raters(rule, swap.after, "look", kind, who, **facts)


def or_fine(found: Sequence[Finding], rule: str) -> Iterator[Finding]:
    """Yield the findings of a rule or, if there are none, one that reports no problem."""
    yield from found or [about_raters(rule, 0)]
