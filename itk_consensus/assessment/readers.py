"""Raters as the rules about them see them: sizes and overlaps, label by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.reader_limits import ReaderLimits
from itk_consensus.fusing.vote_facts import VoteFacts
from itk_consensus.space.boxes import shown_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.pair_counts import PairCounts


@dataclass(frozen=True)
class Readers:
    """The votes of some raters, before and apart from any fusion."""

    facts: VoteFacts
    spacing: Sequence[float]  #: Voxel size per array axis
    limits: ReaderLimits = field(default_factory=ReaderLimits)

    @property
    def patterns(self) -> DecisionPatterns:
        """What they said."""
        return self.facts.patterns

    @cached_property
    def annotating(self) -> NDArray[np.intp]:
        """Raters who annotated anything; a missing one has no opinion."""
        return np.flatnonzero(self.patterns.present.any(axis=0))

    @property
    def pairs(self) -> PairCounts:
        """What every two have in common."""
        return self.facts.pairs

    @cached_property
    def drawers(self) -> NDArray[np.int64]:
        """(K,) how many raters drew each label; background counts as drawn by nobody."""
        drew = (self.pairs.sizes > 0).sum(axis=1)
        return np.where(self.patterns.labels == 0, 0, drew)

    @cached_property
    def shared_labels(self) -> NDArray[np.intp]:
        """Indices of labels that two raters or more drew, some of whom met."""
        return np.flatnonzero((self.drawers > 1) & np.isfinite(self.dice).any(axis=(1, 2)))

    @cached_property
    def is_complete(self) -> bool:
        """Whether everybody annotated everywhere: only then are volumes comparable."""
        return bool(self.patterns.present[:, self.annotating].all())

    @cached_property
    def dice(self) -> Floats:
        """(K, J, J) NaN where neither drew the label, or both never annotated the same voxel."""
        pairs = self.pairs
        either = pairs.marked + pairs.marked.transpose(0, 2, 1)
        dice = np.where(either > 0, pairs.dice, np.nan)
        every = np.arange(dice.shape[1])
        dice[:, every, every] = np.nan
        return dice

    def label(self, index: np.integer[Any] | int) -> int | None:
        """Which label a finding is about; None where there is only one."""
        several = (self.drawers > 0).sum() > 1
        return int(self.patterns.labels[index]) if several else None

    def volume(self, *voxels: float) -> str:
        """Volumes in ml, or in mm^2 of a 2D image: "23.7 to 45.9 ml"."""
        return shown_volume(self.spacing, *voxels)


def about_raters(
    rule: str,
    value: float | None,
    severity: Severity = None,
    kind: str = "fine",
    who: Iterable[int] = (),
    label: int | None = None,
    **facts: Any,
) -> Finding:
    """A finding about the raters, not about their fusion; if only rule and value: all is well."""
    raters = tuple(int(rater) for rater in who)
    return Finding(rule, value, severity, raters, label, facts, "raters", kind)


class _Swap(Protocol):
    """Labels or structures that a rater calls otherwise than the others."""

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


def about_swap(rule: str, rater: int, swap: _Swap) -> Finding:
    """A finding about names that a rater uses for others."""
    kind = "renamed" if not swap.is_closed else "" if len(swap.used) == 2 else "circle"
    facts: dict[str, Any] = {"used": swap.used[0], "meant": swap.meant[0]}
    facts |= {"circle": [list(pair) for pair in zip(swap.used, swap.meant, strict=True)]}
    facts |= {"before": swap.before, "after": swap.after}
    return about_raters(rule, swap.after, "look", kind, [rater], **facts)


def or_fine(found: Sequence[Finding], rule: str) -> Iterator[Finding]:
    """What a rule found; if nothing, that all is well."""
    yield from found or [about_raters(rule, 0)]
