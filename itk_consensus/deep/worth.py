"""Whether a trained network is worth asking: its gain on held-out cases, and images unlike its own.

No torch here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from itk_consensus.deep.cases import normalised

_CONFIDENCE = 0.95
#: One of so many images of the training's own kind is called unlike it, for each figure.
_FALSE_ALARMS = 1e-3
#: Deviations are taken for no smaller: lengths may differ by a twentieth, and intensities by that
#: share of their range.
_LEAST_DEVIATION = 0.05
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


#: The fuser that every gain is over.
VOTE = "the vote"


class Interval(NamedTuple):
    """A mean over cases, and where the mean of all such cases lies."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """Student's, at 95 %; of one case nothing is known but its own value."""
        if not values:
            return cls(np.nan, -np.inf, np.inf)
        mean = float(np.mean(values))
        if len(values) == 1:
            return cls(mean, -np.inf, np.inf)
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        reach = float(error * t.ppf((1 + _CONFIDENCE) / 2, len(values) - 1))
        return cls(mean, mean - reach, mean + reach)

    def __str__(self) -> str:
        return f"{self.mean:+.4f} (95 % interval {self.low:+.4f} to {self.high:+.4f})"


@dataclass(frozen=True)
class Gain:
    """Dice beyond that of other fusers, of each case that training did not see."""

    by_truth: bool  #: Whether truths judge; else raters whom nobody was shown
    #: Of each case, by the name of the fuser: "the vote" and others, of which the first is the one
    #: to fall back on.
    over: Mapping[str, tuple[float, ...]]

    @property
    def instead(self) -> str:
        """The fuser that answers where no gain is shown."""
        return next(iter(self.over))

    @property
    def is_shown(self) -> bool:
        """Whether it is clearly better than the vote, and on average than all the others.

        Joint fusion is so good that its interval would take dozens of cases.
        """
        better = all(Interval.of(values).mean > 0 for values in self.over.values())
        return better and Interval.of(self.over[VOTE]).low > 0

    def __str__(self) -> str:
        cases = len(self.over[self.instead])
        if not cases:
            return f"no case was held out: nothing is known of a gain over the {self.instead}"
        judge = "the truths" if self.by_truth else "held-out raters"
        beyond = [f"beyond {name} {Interval.of(values)}" for name, values in self.over.items()]
        return f"Dice with {judge} of {cases} held-out cases, {', '.join(beyond)}"


@dataclass(frozen=True)
class Likeness:
    """What the images of a training have in common: figures with their means and deviations."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    images: int

    @classmethod
    def of(cls, figures: Iterable[Sequence[float]]) -> Likeness:
        """Of the `image_figures` of all images."""
        table = np.array(list(figures))
        spread = table.std(0, ddof=1) if len(table) > 1 else np.zeros(table.shape[1])
        return cls(tuple(map(float, table.mean(0))), tuple(map(float, spread)), len(table))

    def unlike(self, figures: Sequence[float], dimension: int) -> tuple[str, ...]:
        """What of an image with these figures is unlike the training, in words."""
        if self.images < 2 or len(figures) != len(self.mean):
            return ()
        mean, deviation = np.array(self.mean), np.array(self.deviation)
        least = np.full(len(mean), _LEAST_DEVIATION)
        raw = mean[2 * dimension :].reshape(-1, 2, len(_QUANTILES))
        ranges = np.ptp(raw, axis=2, keepdims=True) * np.ones_like(raw)
        least[2 * dimension :] *= ranges.ravel()
        # A prediction interval: the fewer images there were, the wider.
        reach = t.ppf(1 - _FALSE_ALARMS / 2, self.images - 1) * np.sqrt(1 + 1 / self.images)
        odd = np.abs(np.array(figures) - mean) > reach * np.maximum(deviation, least)
        parts = {
            "spacing": odd[:dimension],
            "field of view": odd[dimension : 2 * dimension],
            "intensities": odd[2 * dimension :],
        }
        return tuple(name for name, found in parts.items() if found.any())


def number_of_figures(dimension: int, channels: int) -> int:
    """Of an image with so many channels."""
    return 2 * dimension + 2 * len(_QUANTILES) * channels


def image_figures(channels: Sequence[NDArray[Any]], spacing: Sequence[float]) -> tuple[float, ...]:
    """Logarithms of spacing and extent; quantiles of each channel, as it is and normalised."""
    extent = np.multiply(spacing, channels[0].shape)
    figures = [*np.log(spacing), *np.log(extent)]
    for channel in channels:
        figures += [
            *np.quantile(channel, _QUANTILES),
            *np.quantile(normalised(channel), _QUANTILES),
        ]
    return tuple(float(figure) for figure in figures)
