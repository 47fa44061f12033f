"""Slices that a rater left out between drawn ones, and masks that end where the image does.

Contours are drawn slice by slice. A program that reads them as a mask leaves a slice without a
contour empty, so that a structure drawn on every second slice has half its volume.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.readers import Readers, about_raters, or_fine
from itk_consensus.assessment.sentences import listed

#: Two parts of one structure lie over each other by this share of the smaller one.
_SAME_STRUCTURE = 0.5
#: Where this share of the drawn slices has no drawn neighbour, slices were left out on purpose.
_SINGLE_SLICES = 0.5
#: So many single slices, and two gaps between them, show a habit.
_LEAST_SINGLE = 3


@dataclass(frozen=True)
class _Volume:
    """Who said what where: label indices, ``K`` where a rater did not annotate."""

    codes: NDArray[Any]  #: (Z, Y, X)
    axis: int  #: Along which it is sliced
    said: NDArray[Any]  #: (number of codes, J)
    number_of_labels: int

    @classmethod
    def of(cls, readers: Readers) -> _Volume | None:
        """None where there are no slices, or no voxels."""
        table = readers.patterns
        if table.codes is None or table.slots is None or table.codes.ndim != 3:
            return None
        said = np.full(
            (table.number_of_codes, table.number_of_raters),
            table.number_of_labels,
            table.patterns.dtype,
        )
        said[table.slots] = table.patterns
        # Axes of equal steps are sliced along the first.
        axis = int(np.argmax(readers.spacing))
        return cls(table.codes, axis, said, table.number_of_labels)

    @property
    def name(self) -> str:
        """Of the axis along which it is sliced."""
        return "zyx"[self.axis]

    def plane(self, number: int, axis: int | None = None) -> NDArray[Any]:
        """The codes of one slice."""
        return np.asarray(self.codes.take(number, axis=self.axis if axis is None else axis))

    def drawn_in(self, plane: NDArray[Any]) -> NDArray[np.bool_]:
        """(K, J) whether a rater gave a label to a voxel of a plane."""
        found = np.zeros((self.number_of_labels + 1, self.said.shape[1]), np.bool_)
        is_few = len(self.said) <= plane.size
        codes = np.flatnonzero(np.bincount(plane.ravel())) if is_few else np.unique(plane)
        found[self.said[codes], np.arange(self.said.shape[1])] = True
        return found[:-1]


def about_slices(readers: Readers) -> Iterator[Finding]:
    """Apply the rules to what has slices."""
    volume = _Volume.of(readers)
    if volume is not None:
        yield from gaps_between_slices(readers, volume)
        yield from cut_at_the_border(readers, volume)


def gaps_between_slices(readers: Readers, volume: _Volume) -> Iterator[Finding]:
    """Empty slices between two in which a rater drew the same structure.

    They are a slip if most others drew there or, whatever others did, if the rater drew on single
    slices only. Parts that do not lie over each other may be two structures of one label.
    """
    number = volume.codes.shape[volume.axis]
    drawn = np.stack([volume.drawn_in(volume.plane(place)) for place in range(number)])
    rule, found = "gaps between slices", []
    for label in np.flatnonzero(readers.drawers):
        for rater in np.flatnonzero(drawn[:, label].any(axis=0)):
            left = _left_out(volume, drawn[:, label], int(label), int(rater))
            if left:
                own = np.flatnonzero(drawn[:, label, rater])
                facts: dict[str, Any] = {"own": len(own), "first": int(own[0])}
                facts |= {"last": int(own[-1]), "axis": volume.name}
                facts |= {"number": len(left), "slices": listed(left)}
                who, about = [int(rater)], readers.label(label)
                found.append(about_raters(rule, len(left), "look", "", who, about, **facts))
    yield from or_fine(found, rule)


def _left_out(volume: _Volume, drawn: NDArray[np.bool_], label: int, rater: int) -> list[int]:
    """Slices that one rater should have drawn on, as far as can be told; drawn is (slices, J)."""
    own = drawn[:, rater]
    places = np.flatnonzero(own)
    drawing = np.flatnonzero(drawn.any(axis=0))
    others = drawn[:, drawing[drawing != rater]]
    by_most = 2 * others.sum(axis=1) > max(others.shape[1], 1)
    single = np.diff(places, prepend=-9, append=len(own) + 9) > 1
    number = np.count_nonzero(single[:-1] & single[1:])
    is_habit = number >= max(_LEAST_SINGLE, _SINGLE_SLICES * len(places))
    return [
        between
        for first, last in zip(places[:-1].tolist(), places[1:].tolist(), strict=True)
        for between in range(first + 1, last)
        if (is_habit or by_most[between]) and _goes_on(volume, label, rater, (first, between, last))
    ]


def _goes_on(volume: _Volume, label: int, rater: int, where: tuple[int, int, int]) -> bool:
    """Whether a mask has the same structure on both sides of a slice that the rater looked at."""
    said = volume.said[:, rater]
    below, between, above = (said[volume.plane(place)] for place in where)
    sizes = [np.count_nonzero(one == label) for one in (below, above)]
    both = (below == label) & (above == label)
    return bool(
        np.count_nonzero(both) >= _SAME_STRUCTURE * min(sizes)
        and (between[both] != volume.number_of_labels).all()
    )


def cut_at_the_border(readers: Readers, volume: _Volume) -> Iterator[Finding]:
    """Masks that reach the border of the image within its slices, where they may have been cut."""
    sides = [
        volume.plane(number, axis)
        for axis in {0, 1, 2} - {volume.axis}
        for number in (0, volume.codes.shape[axis] - 1)
    ]
    reaching = np.any([volume.drawn_in(side) for side in sides], axis=0)
    rule, found = "cut at the border", []
    for label in np.flatnonzero(readers.drawers):
        raters = np.flatnonzero(reaching[label])
        if len(raters):
            about = readers.label(label)
            found.append(about_raters(rule, len(raters), "note", "", raters, about))
    yield from or_fine(found, rule)
