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

from itk_consensus.deep.cases import normalised, sampled_voxels

#: Whether a network is better is a one-sided question, with a chance of .05 to be wrong.
_CONFIDENCE = 0.9
#: One of so many images of the training's own kind is called unlike it, for each figure.
_FALSE_ALARMS = 1e-3
#: Deviations are taken for no smaller: lengths may differ by a twentieth, and intensities by that
#: share of their range.
_LEAST_DEVIATION = 0.05
#: What one image says of others.
_NO_LIMIT = 1e300
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
        """Student's, at 90 %; of one case nothing is known but its own value."""
        if not values:
            return cls(np.nan, -np.inf, np.inf)
        mean = float(np.mean(values))
        if len(values) == 1:
            return cls(mean, -np.inf, np.inf)
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        reach = float(error * t.ppf((1 + _CONFIDENCE) / 2, len(values) - 1))
        return cls(mean, mean - reach, mean + reach)

    def __str__(self) -> str:
        return f"{self.mean:+.4f} (90 % interval {self.low:+.4f} to {self.high:+.4f})"


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
            return f"no case was held out: nothing is known of a gain over {self.instead}"
        judge = "the truths" if self.by_truth else "held-out raters"
        beyond = [f"beyond {name} {Interval.of(values)}" for name, values in self.over.items()]
        return f"Dice with {judge} of {cases} held-out cases, {', '.join(beyond)}"


@dataclass(frozen=True)
class Likeness:
    """Between what limits the figures of an image lie that is of a training's kind."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, figures: Iterable[Sequence[float]], dimension: int) -> Likeness:
        """Of the `image_figures` of all images, in so many dimensions.

        A prediction interval, the wider the fewer images there were, and all that occurred.
        """
        table = np.array(list(figures))
        images, mean = len(table), table.mean(0)
        least = np.ones(len(mean))
        quantiles = mean[2 * dimension :].reshape(-1, len(_QUANTILES))
        least[2 * dimension :] = np.repeat(np.ptp(quantiles, axis=1), len(_QUANTILES))
        spread = table.std(0, ddof=1) if images > 1 else np.full(len(mean), np.inf)
        reach = t.ppf(1 - _FALSE_ALARMS / 2, max(1, images - 1)) * np.sqrt(1 + 1 / images)
        reach = np.minimum(reach * np.maximum(spread, _LEAST_DEVIATION * least), _NO_LIMIT)
        low = np.minimum(mean - reach, table.min(0))
        high = np.maximum(mean + reach, table.max(0))
        return cls(tuple(map(float, low)), tuple(map(float, high)))

    def unlike(self, figures: Sequence[float], dimension: int) -> tuple[str, ...]:
        """What of an image with these figures is unlike the training, in words."""
        odd = (np.array(figures) < self.low) | (np.array(figures) > self.high)
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
        sample = sampled_voxels(channel)
        figures += [*np.quantile(sample, _QUANTILES), *np.quantile(normalised(sample), _QUANTILES)]
    return tuple(float(figure) for figure in figures)
