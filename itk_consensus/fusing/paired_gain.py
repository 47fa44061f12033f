"""Mean paired gain of one method over another, with a confidence interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats

#: One-sided confidence level; stricter than the usual 0.95, since the best of several candidates is
#: often chosen.
_CONFIDENCE = 0.975

#: Maximum number of groups for leaving cases out; with fewer cases, each case is a group.
_MOST_GROUPS = 25


class Gain(NamedTuple):
    """Mean difference in Dice over cases between two methods, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, gains: Floats, comparisons: int = 1) -> Gain:
        """Compute the t interval for several cases, Bonferroni-corrected for `comparisons`."""
        number, mean = len(gains), float(gains.mean())
        error = float(gains.std(ddof=1)) / number**0.5
        level = 1 - (1 - _CONFIDENCE) / comparisons
        reach = float(scipy.special.stdtrit(number - 1, level)) * error
        return cls(mean, mean - reach, mean + reach)

    @property
    def is_shown(self) -> bool:
        """Whether the gain is significantly greater than 0."""
        return self.low > 0

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ({self.low:+.4f} to {self.high:+.4f})"


def left_out_groups(cases: int) -> list[NDArray[np.bool_]]:
    """Return (C,) masks of the groups of cases to leave out; few cases form groups of one."""
    group = np.arange(cases) % min(cases, _MOST_GROUPS)
    return [group == one for one in range(group.max() + 1)]
