"""Raters as the rules about them see them: sizes and overlaps, label by label."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding, Severity
from itk_consensus.core.array_types import Floats
from itk_consensus.fusing.reader_limits import ReaderLimits
from itk_consensus.fusing.vote_facts import VoteFacts
from itk_consensus.space.boxes import voxel_volume
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.pair_counts import PairCounts

#: A sentence names so many labels or raters; of the others it says how many.
MOST_NAMED = 3


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

    def name(self, label: np.integer[Any] | int) -> str:
        """Which label a sentence is about; nothing where there is only one."""
        return f"label {self.patterns.labels[label]}: " if (self.drawers > 0).sum() > 1 else ""

    def volume(self, *voxels: float) -> str:
        """Volumes in ml, or in mm^2 of a 2D image: "23.7 to 45.9 ml"."""
        one, unit = voxel_volume(self.spacing)
        texts = [f"{n:.0f}" if n >= 100 else f"{n:.3g}" for n in (one * count for count in voxels)]
        return f"{' to '.join(texts)} {unit}"


def about_raters(
    rule: str, value: float | None, severity: Severity, message: str, advice: str = ""
) -> Finding:
    """A finding about the raters, not about their fusion."""
    return Finding(rule, value, severity, message, advice, about="raters")


def listed(items: Iterable[object]) -> str:
    """1, 2 and 3; of many the first ones and how many more there are."""
    every = [str(item) for item in items]
    if len(every) > MOST_NAMED + 1:
        every = [*every[:MOST_NAMED], f"{len(every) - MOST_NAMED} more"]
    return " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)


def sentence(parts: Sequence[str]) -> str:
    """Some parts as one sentence."""
    text = "; ".join(parts[:3]) + (f"; and {len(parts) - 3} more" if len(parts) > 3 else "")
    return f"{text[0].upper()}{text[1:]}." if text else ""
