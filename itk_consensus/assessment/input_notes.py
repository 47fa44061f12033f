"""Collect facts about raters block by block for warnings, such as identical inputs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.work import working
from itk_consensus.votes.label_stack import distinct_values

#: Number of voxels of two raters that are compared at once.
_LOOK_AT_ONCE = 1 << 16


class InputNotes(NamedTuple):
    """Facts about the raters in a block or in the whole volume."""

    same: NDArray[np.bool_]  #: (J, J) whether two raters are identical everywhere
    lowest: NDArray[Any]  #: (J,) lowest label of each rater
    highest: NDArray[Any]
    labels: NDArray[Any]  #: (K,) all labels that occur; empty if not requested

    @classmethod
    def of(cls, raters: Sequence[NDArray[Any]], owner: str, *, with_labels: bool) -> InputNotes:
        """Collect the facts of one block of every rater."""
        ends = np.array([(rater.min(), rater.max()) for rater in raters])
        same = np.ones((len(raters),) * 2, bool)
        for i, j in combinations(range(len(raters)), 2):
            same[i, j] = np.array_equal(ends[i], ends[j]) and (
                ends[i, 0] == ends[i, 1] or _are_same(raters[i], raters[j])
            )
        found = [
            _labels(rater, *extremes, owner=owner, number=j)
            for j, (rater, extremes) in enumerate(zip(raters, ends, strict=True))
            if with_labels
        ]
        labels = np.unique(np.concatenate(found)) if found else np.empty(0)
        return cls(same, ends[:, 0], ends[:, 1], labels)

    @classmethod
    def merge(cls, notes: Sequence[InputNotes]) -> InputNotes:
        """Combine the facts of several blocks."""
        return cls(
            np.all([note.same for note in notes], axis=0),
            np.min([note.lowest for note in notes], axis=0),
            np.max([note.highest for note in notes], axis=0),
            np.unique(np.concatenate([note.labels for note in notes])),
        )

    @property
    def copies(self) -> list[tuple[int, int]]:
        """Pairs of identical raters; raters with a single label everywhere are not counted."""
        some = self.lowest < self.highest
        return [(int(i), int(j)) for i, j in np.argwhere(np.triu(self.same, 1)) if some[i]]


def _are_same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Return whether two arrays are equal; they are compared in parts, up to the first
    difference.
    """
    planes = max(1, _LOOK_AT_ONCE * len(one) // one.size)
    starts = range(0, len(one), planes)
    return all(np.array_equal(one[at : at + planes], other[at : at + planes]) for at in starts)


@working(threads=1)
def _labels(
    rater: NDArray[Any], lowest: Any, highest: Any, *, owner: str, number: int
) -> NDArray[Any]:
    """Return the distinct labels of a block; no scan is needed if at most two values are
    possible.
    """
    if rater.dtype.kind in "biu" and int(highest) - int(lowest) <= 1:
        return np.array([lowest, highest])
    return distinct_values(rater, owner, number)


def ignored_labels(filter_: Any, found: set[Any]) -> list[Any]:
    """Return the given labels that a binary filter treats as background.

    Empty if its foreground label does not occur, which is reported as an error elsewhere.
    """
    foreground = filter_.foreground
    if foreground is None or foreground not in found:
        return []
    return sorted(found - {0, foreground, filter_.MissingLabel})
