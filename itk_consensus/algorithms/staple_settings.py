"""What STAPLE can be told, and the variants of it that have a name.

`StapleSettings()` gives the answer of SimpleITK's binary STAPLE. `MULTILABEL` follows the
multi-label filter of ITK's main branch, which seeds from the vote without its ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from itk_consensus.algorithms.confusion_model import with_diagonal
from itk_consensus.algorithms.initialization import StartPlan
from itk_consensus.algorithms.iteration import StopRule
from itk_consensus.array_types import Floats

#: What each named variant changes (section 2.1.5).
VARIANTS: dict[str, dict[str, Any]] = {
    "basic": {},
    "restricted": {"exclude_consensus": True},
    "advanced": {
        "estimate_prior": True,
        "pseudo_counts": (2.0, 0.0),
        "plan": StartPlan("majority_vote"),
    },
}


@dataclass(frozen=True)
class StapleSettings:
    """Everything that STAPLE can be told."""

    #: Two labels by the rules of SimpleITK's STAPLE: label 1 is the foreground, and wins from
    #: probability 0.5; a class without votes is undefined. False: any number of labels by the rules
    #: of the multi-label filter, which leaves ties undecided.
    binary: bool = True
    confidence_weight: float = 1.0  #: Scales a binary frequency prior, as in SimpleITK
    #: Fixed label prior; None: label frequencies. If binary that of the foreground, one or (P,),
    #: else (K,) or (P, K).
    prior: float | Floats | None = None
    estimate_prior: bool = False  #: Update the prior in every M-step (eq. 16).
    #: Leave out voxels where all raters agree; they keep their label.
    exclude_consensus: bool = False
    #: (diagonal, other) or (K, K) alpha[d, t] of eq. 13, added to the counts.
    pseudo_counts: tuple[float, float] | Floats = (0.0, 0.0)
    damping: float = 0.0  #: Share of the old theta kept in each step (eq. 17).
    stop: StopRule = field(default_factory=lambda: StopRule(1e-7, 2**32 - 1))
    plan: StartPlan = field(default_factory=StartPlan)

    def for_variant(self, variant: str, **changes: Any) -> StapleSettings:
        """These settings in a named variant, with changes."""
        return replace(self, **{**VARIANTS[variant], **changes})

    def pseudo_count_table(self, labels: int) -> Floats:
        """(K, K) alpha[d, t]."""
        if isinstance(self.pseudo_counts, np.ndarray):
            return self.pseudo_counts
        return with_diagonal(labels, *self.pseudo_counts)


MULTILABEL = StapleSettings(
    binary=False, stop=StopRule(1e-5, 2**32 - 1), plan=StartPlan("label_voting")
)


def beta_pseudo_counts(sensitivity: Sequence[float], specificity: Sequence[float]) -> Floats:
    """(2, 2) alpha[d, t] of Beta(a, b) priors, which add a-1 and b-1 (eqs. 14, 15)."""
    (sa, sb), (ca, cb) = sensitivity, specificity
    return np.array([[ca - 1, sb - 1], [cb - 1, sa - 1]], dtype=np.float64)
