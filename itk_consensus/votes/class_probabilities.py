"""Probabilities of several classes at each voxel: validation, and the most probable class.

A rater's opinion is a sequence of K arrays of the same shape, one per class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.votes.disputed_voxels import chunks

Opinion = Sequence[NDArray[Any]]
#: One opinion per rater; None for a missing rater.
Opinions = Sequence[Opinion | None]
#: Non-zero where each rater gave an opinion; None: everywhere.
Masks = Sequence[NDArray[Any] | None] | None


#: Number of voxels tested at a time, so that a search can stop early.
_LOOK_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class SoftVotes:
    """Votes of raters who assign a probability, i.e. a fraction of a vote, to each class."""

    opinions: Opinions
    annotated: Masks = None
    mask: NDArray[Any] | None = None  #: Zero at voxels to exclude; None: no voxel is excluded

    @property
    def labels(self) -> NDArray[Any]:
        """(K,) the label indices; a single class is treated as the foreground of two."""
        first = next(opinion for opinion in self.opinions if opinion is not None)
        return np.arange(max(len(first), 2))

    @property
    def number_of_raters(self) -> int:
        """Number of raters J, including missing ones."""
        return len(self.opinions)


#: Maximum deviation of a sum of probabilities from 1; networks with half precision reach it.
SUM_TOLERANCE = 0.01

_VOXELS_AT_ONCE = 1 << 16


def sum_to_one(opinion: Opinion, where: NDArray[Any] | None = None) -> bool:
    """Return whether the classes sum to 1 at every voxel, or wherever `where` is not 0.

    The test stops at the first part of the volume where the sum differs.
    """
    for part in _rows(opinion):
        near = np.abs(sum(classes.astype(np.float64) for classes in part[:-1]) - 1)
        wrong = ~(near <= SUM_TOLERANCE)
        if where is not None:
            wrong &= where[part[-1]] != 0
        if wrong.any():
            return False
    return True


def first_invalid_probability(opinion: Opinion, where: NDArray[Any] | None = None) -> float | None:
    """Return the first value that is not between 0 and 1, or None."""
    for classes in opinion:
        wrong = ~((classes >= 0) & (classes <= 1))
        if where is not None:
            wrong &= where != 0
        if wrong.any():
            return float(classes[wrong][0])
    return None


def most_probable_class(opinion: Opinion) -> NDArray[Any]:
    """Return the index of the most probable class at each voxel; the first one on ties."""
    best = opinion[0].copy()
    index = np.zeros(best.shape, np.uint8 if len(opinion) <= 256 else np.uint16)
    for number, classes in enumerate(opinion[1:], start=1):
        higher = classes > best
        index[higher] = number
        best[higher] = classes[higher]
    return index


def both_classes(opinion: Opinion) -> Opinion:
    """Return the opinion with a background class prepended if it only has the foreground."""
    if len(opinion) != 1:
        return opinion
    return 1.0 - opinion[0].astype(np.float64), opinion[0]


def weighted_sums(
    votes: SoftVotes,
    weights: NDArray[np.float64],
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]] = np.asarray,
) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
    """Return for each class the weighted sum of `of(probability)`, and the sum of the weights.

    The sums are over raters, weighted by (J,) `weights`. An opinion with a single array is the
    foreground of two classes.
    """
    opinions = votes.opinions
    first = next(opinion for opinion in opinions if opinion is not None)
    sums = [np.zeros(first[0].shape) for _ in range(max(len(first), 2))]
    total = np.zeros(first[0].shape)
    given = votes.annotated or (None,) * len(opinions)
    for opinion, where, weight in zip(opinions, given, weights, strict=True):
        if opinion is None or weight == 0:
            continue
        here: Any = weight if where is None else weight * (where != 0)
        total += here
        for added, classes in zip(sums, both_classes(opinion), strict=True):
            values = of(classes.astype(np.float64))
            # Values outside a rater's mask may be NaN.
            added += weight * values if where is None else np.where(where != 0, weight * values, 0)
    return sums, total


def _rows(opinion: Opinion) -> Any:
    """Yield blocks along the first axis: the arrays of all classes and, last, the slice."""
    length = len(opinion[0])
    each = max(1, _VOXELS_AT_ONCE * length // max(opinion[0].size, 1))
    for part in chunks(length, each):
        yield [*(classes[part] for classes in opinion), part]


def has_fractions(array: NDArray[Any]) -> bool:
    """Return whether any value is not a whole number; stops at the first block with one."""
    if array.dtype.kind != "f":
        return False
    values = array.reshape(-1)
    for start in range(0, len(values), _LOOK_AT_ONCE):
        part = values[start : start + _LOOK_AT_ONCE]
        if (part != np.trunc(part)).any():
            return True
    return False
