"""What one way to fuse gains over another, case by case: a mean with its interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats

#: Of each side: above the usual .95, since the best of several candidates is often taken.
_CONFIDENCE = 0.975

#: Cases are left out one by one, or in so many groups.
_MOST_GROUPS = 25


class Gain(NamedTuple):
    """Mean Dice over cases beyond another answer, and its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, gains: Floats, comparisons: int = 1) -> Gain:
        """Student's, over two cases or more; of several comparisons all hold together."""
        number, mean = len(gains), float(gains.mean())
        error = float(gains.std(ddof=1)) / number**0.5
        level = 1 - (1 - _CONFIDENCE) / comparisons
        reach = float(scipy.special.stdtrit(number - 1, level)) * error
        return cls(mean, mean - reach, mean + reach)

    @property
    def is_shown(self) -> bool:
        """Whether it is above 0 by more than chance."""
        return self.low > 0

    def __str__(self) -> str:
        return f"{self.mean:+.4f} ({self.low:+.4f} to {self.high:+.4f})"


def left_out_groups(cases: int) -> list[NDArray[np.bool_]]:
    """(C,) flags of the cases that are left out together: of few each alone."""
    group = np.arange(cases) % min(cases, _MOST_GROUPS)
    return [group == one for one in range(group.max() + 1)]
