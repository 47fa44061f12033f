"""Gain of a trained network over other fusers on held-out cases, and detection of unfamiliar
images.

An image is unfamiliar if it is unlike the training images. This module does not use torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from itk_consensus.deep.cases import normalise, sampled_voxels

#: Two-sided confidence level; gives a one-sided error of .05 for the claim that a network is
#: better.
_CONFIDENCE = 0.9
#: False-positive rate, per summary statistic, of reporting an image as unlike the training images.
_FALSE_ALARMS = 1e-3
#: Lower bound of standard deviations: of the logarithms of lengths, and of intensities relative to
#: their range.
_LEAST_DEVIATION = 0.05
#: Finite limit that stands for infinity; used if there is only one training image.
_NO_LIMIT = 1e300
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


#: Name of the vote among the fusers in `Gain.over`.
VOTE = "the vote"


class Interval(NamedTuple):
    """A mean over cases with its confidence interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Interval:
        """Return Student's 90 % interval; infinite for a single case."""
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
    """Gain in Dice over other fusers on each held-out case."""

    by_truth: bool  #: Whether the reference is the truth; otherwise it is a held-out rater
    #: Gain on each case, keyed by the name of the other fuser ("the vote" and others); the first
    #: one is the fallback.
    over: Mapping[str, tuple[float, ...]]

    @property
    def instead(self) -> str:
        """Name of the fuser that is used if no gain is shown."""
        return next(iter(self.over))

    @property
    def is_shown(self) -> bool:
        """Whether the network is significantly better than the vote, and better on average than all
        others.

        A significant gain over joint fusion is not required, since it would take dozens of cases.
        """
        better = all(Interval.of(values).mean > 0 for values in self.over.values())
        return better and Interval.of(self.over[VOTE]).low > 0

    def __str__(self) -> str:
        cases = len(self.over[self.instead])
        if not cases:
            return f"no case was held out: the gain over {self.instead} is unknown"
        judge = "the truths" if self.by_truth else "held-out raters"
        beyond = [f"beyond {name} {Interval.of(values)}" for name, values in self.over.items()]
        return f"Dice with {judge} of {cases} held-out cases, {', '.join(beyond)}"


@dataclass(frozen=True)
class Likeness:
    """Limits of the summary statistics of images that are like the training images."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, figures: Iterable[Sequence[float]], dimension: int) -> Likeness:
        """Compute limits from the `image_figures` of all training images.

        They are prediction intervals, wider for fewer images, extended to include all observed
        values.
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
        """Return the properties in which an image differs from the training images."""
        odd = (np.array(figures) < self.low) | (np.array(figures) > self.high)
        parts = {
            "spacing": odd[:dimension],
            "field of view": odd[dimension : 2 * dimension],
            "intensities": odd[2 * dimension :],
        }
        return tuple(name for name, found in parts.items() if found.any())


def number_of_figures(dimension: int, channels: int) -> int:
    """Return the number of summary statistics of an image."""
    return 2 * dimension + 2 * len(_QUANTILES) * channels


def image_figures(channels: Sequence[NDArray[Any]], spacing: Sequence[float]) -> tuple[float, ...]:
    """Return summary statistics: log spacing, log extent, and quantiles of each channel."""
    extent = np.multiply(spacing, channels[0].shape)
    figures = [*np.log(spacing), *np.log(extent)]
    for channel in channels:
        sample = sampled_voxels(channel)
        figures += [*np.quantile(sample, _QUANTILES), *np.quantile(normalise(sample), _QUANTILES)]
    return tuple(float(figure) for figure in figures)
