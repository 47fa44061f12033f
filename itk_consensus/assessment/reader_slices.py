"""Find slices that a rater skipped between drawn ones, and masks cut off at the image border.

Contours are drawn slice by slice. When they are converted to a mask, slices without a contour
remain empty, so a structure drawn on every second slice has half its volume.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.assessment.findings import Finding
from itk_consensus.assessment.readers import Readers, about_raters, or_fine
from itk_consensus.assessment.sentences import join_items

#: Masks on two slices belong to the same structure if they overlap by this share of the smaller
#: mask.
_SAME_STRUCTURE = 0.5
#: A rater is assumed to skip slices on purpose if at least this share of the slices drawn have no
#: drawn neighbour ...
_SINGLE_SLICES = 0.5
#: ... and if there are at least this many such slices.
_LEAST_SINGLE = 3


@dataclass(frozen=True)
class _Volume:
    """All raters' labels of a 3D image, sliced along one axis."""

    codes: NDArray[Any]  #: (Z, Y, X) row of `said` for each voxel
    axis: int  #: Slicing axis
    said: NDArray[Any]  #: (number of codes, J) label indices; ``K`` where a rater did not annotate
    number_of_labels: int

    @classmethod
    def of(cls, readers: Readers) -> _Volume | None:
        """Create from the raters' votes; None if they are not a 3D image."""
        table = readers.patterns
        if table.codes is None or table.slots is None or table.codes.ndim != 3:
            return None
        said = np.full(
            (table.number_of_codes, table.number_of_raters),
            table.number_of_labels,
            table.patterns.dtype,
        )
        said[table.slots] = table.patterns
        # Contours are drawn perpendicular to the axis of largest spacing (on ties, the first).
        axis = int(np.argmax(readers.spacing))
        return cls(table.codes, axis, said, table.number_of_labels)

    @property
    def name(self) -> str:
        """Name of the slicing axis: x, y or z."""
        return "zyx"[self.axis]

    def plane(self, number: int, axis: int | None = None) -> NDArray[Any]:
        """Return the codes of one slice."""
        return np.asarray(self.codes.take(number, axis=self.axis if axis is None else axis))

    def labels_drawn_in(self, plane: NDArray[Any]) -> NDArray[np.bool_]:
        """Return (K, J) whether each rater used a label anywhere in a plane."""
        found = np.zeros((self.number_of_labels + 1, self.said.shape[1]), np.bool_)
        is_few = len(self.said) <= plane.size
        codes = np.flatnonzero(np.bincount(plane.ravel())) if is_few else np.unique(plane)
        found[self.said[codes], np.arange(self.said.shape[1])] = True
        return found[:-1]


def diagnose_slices(readers: Readers) -> Iterator[Finding]:
    """Apply the rules about slices, if the image is 3D."""
    volume = _Volume.of(readers)
    if volume is not None:
        yield from gaps_between_slices(readers, volume)
        yield from cut_at_the_border(readers, volume)


def gaps_between_slices(readers: Readers, volume: _Volume) -> Iterator[Finding]:
    """Find empty slices between two slices on which a rater drew the same structure.

    They are reported if most other raters drew on them, or if the rater drew mostly on isolated
    slices. Parts that do not overlap across the gap may be two structures with one label, and are
    ignored.
    """
    number = volume.codes.shape[volume.axis]
    drawn = np.stack([volume.labels_drawn_in(volume.plane(place)) for place in range(number)])
    rule, found = "gaps between slices", []
    for label in np.flatnonzero(readers.drawers):
        for rater in np.flatnonzero(drawn[:, label].any(axis=0)):
            left = _skipped_slices(volume, drawn[:, label], int(label), int(rater))
            if left:
                own = np.flatnonzero(drawn[:, label, rater])
                facts: dict[str, Any] = {"own": len(own), "first": int(own[0])}
                facts |= {"last": int(own[-1]), "axis": volume.name}
                facts |= {"number": len(left), "slices": join_items(left)}
                who, about = [int(rater)], readers.label(label)
                found.append(about_raters(rule, len(left), "look", "", who, about, **facts))
    yield from or_fine(found, rule)


def _skipped_slices(volume: _Volume, drawn: NDArray[np.bool_], label: int, rater: int) -> list[int]:
    """Return the slices that one rater skipped.

    Parameters
    ----------
    drawn : (slices, J) ndarray of bool
        Whether each rater drew the label on each slice.
    """
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
        if (is_habit or by_most[between])
        and _is_drawn_around(volume, label, rater, (first, between, last))
    ]


def _is_drawn_around(volume: _Volume, label: int, rater: int, where: tuple[int, int, int]) -> bool:
    """Return whether the structure overlaps across a gap and the rater annotated the slices
    in between.
    """
    said = volume.said[:, rater]
    below, between, above = (said[volume.plane(place)] for place in where)
    sizes = [np.count_nonzero(one == label) for one in (below, above)]
    both = (below == label) & (above == label)
    return bool(
        np.count_nonzero(both) >= _SAME_STRUCTURE * min(sizes)
        and (between[both] != volume.number_of_labels).all()
    )


def cut_at_the_border(readers: Readers, volume: _Volume) -> Iterator[Finding]:
    """Find masks that touch the in-plane border of the image, at which they may have been
    cut off.
    """
    sides = [
        volume.plane(number, axis)
        for axis in {0, 1, 2} - {volume.axis}
        for number in (0, volume.codes.shape[axis] - 1)
    ]
    reaching = np.any([volume.labels_drawn_in(side) for side in sides], axis=0)
    rule, found = "cut at the border", []
    for label in np.flatnonzero(readers.drawers):
        raters = np.flatnonzero(reaching[label])
        if len(raters):
            about = readers.label(label)
            found.append(about_raters(rule, len(raters), "note", "", raters, about))
    yield from or_fine(found, rule)
