"""Raters as one mask per label, read box by box: what methods that look at neighbours work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import find_objects

from itk_consensus.errors import InputError
from itk_consensus.labels.decision_patterns import DecisionPatterns

Floats = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]
Box = tuple[slice, ...]

#: Memberships that differ by less are equal.
ROUNDING = 1e-12


@dataclass(frozen=True)
class RaterMasks:
    """J raters over a volume, as memberships of K labels.

    Attributes
    ----------
    reader : callable
        ``reader(label, box)`` gives (J, \\*box): bool masks, or probabilities in [0, 1].
    shape : tuple of int
    number_of_raters, number_of_labels : int
        Two labels are background and one foreground.
    weights : (J,) ndarray
        Of the raters; all positive.
    present : (J, \\*shape) ndarray of bool, or None
        Where each rater annotated, and the mask holds; None: everywhere.
    find_box : callable or None
        ``find_box(label)`` gives a box outside of which nobody marks the label, or None if nobody
        does; without it all of the volume is looked at.
    """

    reader: Callable[[int, Box], NDArray[Any]]
    shape: tuple[int, ...]
    number_of_raters: int
    number_of_labels: int
    weights: Floats
    present: Mask | None = None
    find_box: Callable[[int], Box | None] | None = None

    @classmethod
    def foreground(
        cls,
        masks: NDArray[Any],
        *,
        present: Mask | None = None,
        mask: Mask | None = None,
        weights: Sequence[float] | Floats | None = None,
    ) -> RaterMasks:
        """Masks or probabilities (J, \\*shape) of one foreground label."""
        return cls(
            lambda label, box: _part(masks, box) if label == 1 else 1.0 - _part(masks, box),
            masks.shape[1:],
            len(masks),
            2,
            _checked_weights(weights, len(masks)),
            _where(present, mask, masks.shape),
        )

    @classmethod
    def labels(
        cls,
        raters: NDArray[Any],
        number_of_labels: int,
        *,
        present: Mask | None = None,
        mask: Mask | None = None,
        weights: Sequence[float] | Floats | None = None,
    ) -> RaterMasks:
        """Label indices (J, \\*shape), 0 to K - 1."""
        boxes = cache(lambda: _label_boxes(raters, number_of_labels))
        return cls(
            lambda label, box: _part(raters, box) == label,
            raters.shape[1:],
            len(raters),
            number_of_labels,
            _checked_weights(weights, len(raters)),
            _where(present, mask, raters.shape),
            lambda label: boxes()[label],
        )

    @classmethod
    def from_patterns(
        cls, patterns: DecisionPatterns, weights: Sequence[float] | Floats | None = None
    ) -> RaterMasks:
        """The volume behind decision patterns; missing raters and the mask come with them.

        Raters of weight 0 are left out.
        """
        missing = patterns.number_of_labels
        counted = np.ones(patterns.number_of_raters) if weights is None else np.asarray(weights)
        used = np.flatnonzero(counted)
        columns = np.ascontiguousarray(patterns.patterns[:, used].T)
        assert patterns.codes is not None
        raters = np.empty((len(used), *patterns.codes.shape), columns.dtype)
        for column, volume in zip(columns, raters, strict=True):
            patterns.expand(column, outside=missing, out=volume)
        masked = patterns.number_of_voxels < patterns.codes.size
        complete = not masked and bool(patterns.present[:, used].all())
        present = None if complete else raters != missing
        return cls.labels(raters, missing, present=present, weights=counted[used])

    def merged(self, groups: Sequence[Sequence[int]]) -> RaterMasks:
        """Each group of raters as one, who says what they say on average."""
        if all(len(group) == 1 for group in groups):
            return self
        members = [list(group) for group in groups]
        shares = [self.weights[group] / self.weights[group].sum() for group in members]
        present = self.present

        def reader(label: int, box: Box) -> NDArray[Any]:
            masks = self.reader(label, box)
            if present is None:
                pairs = zip(shares, members, strict=True)
                return np.stack([np.tensordot(w, masks[g], 1) for w, g in pairs])
            there = _part(present, box)
            means = []
            for w, group in zip(shares, members, strict=True):
                here = np.tensordot(w, there[group], 1)
                total = np.tensordot(w, np.where(there[group], masks[group], 0.0), 1)
                means.append(np.divide(total, here, out=np.zeros_like(here), where=here > 0))
            return np.stack(means)

        return replace(
            self,
            reader=reader,
            number_of_raters=len(members),
            # A group weighs as much as one of its members.
            weights=np.array([self.weights[group].mean() for group in members]),
            present=None if present is None else np.stack([present[g].any(0) for g in members]),
        )

    def annotated(self) -> Mask | None:
        """(\\*shape) where at least one rater annotated; None: everywhere."""
        return None if self.present is None else np.asarray(self.present.any(axis=0))

    @property
    def whole(self) -> Box:
        """The box of all voxels."""
        return tuple(slice(0, side) for side in self.shape)

    def marked_box(self, label: int) -> Box | None:
        """A box outside of which nobody marks the label; None if nobody does."""
        return self.whole if self.find_box is None else self.find_box(label)

    def read(self, label: int, box: Box | None = None) -> NDArray[Any]:
        """(J, \\*box): masks, or probabilities."""
        return self.reader(label, self.whole if box is None else box)

    def extended(self, label: int, box: Box) -> tuple[NDArray[Any], Mask | None]:
        """Masks of a box, and who annotated; beyond the volume its border goes on."""
        inner = clipped(box, self.shape)
        stack = _extend(self.reader(label, inner), inner, box)
        if self.present is None:
            return stack, None
        return stack, _extend(_part(self.present, inner), inner, box)

    def share(self, label: int, box: Box | None = None) -> NDArray[np.float64]:
        """(\\*box) weighted mean membership among those who annotated; 0 where nobody did."""
        box = self.whole if box is None else box
        masks = self.reader(label, box)
        total = np.zeros(masks.shape[1:])
        if self.present is None:
            for weight, mask in zip(self.weights / self.weights.sum(), masks, strict=True):
                total += weight * mask
            return total
        there = _part(self.present, box)
        here = np.zeros(masks.shape[1:])
        for weight, mask, seen in zip(self.weights, masks, there, strict=True):
            here += weight * seen
            total += weight * np.where(seen, mask, 0.0)
        return np.divide(total, here, out=np.zeros_like(total), where=here > 0)

    def disputed_box(self, label: int) -> Box | None:
        """The smallest box around voxels where raters differ about a label by more than rounding.

        None if they differ nowhere.
        """
        box = self.marked_box(label)
        if box is None:
            return None
        masks = self.reader(label, box)
        if self.present is None:
            lowest, highest = masks.min(axis=0), masks.max(axis=0)
        else:
            there = _part(self.present, box)
            lowest = np.where(there, masks, 1.0).min(axis=0)
            highest = np.where(there, masks, 0.0).max(axis=0)
        differ = highest > lowest if masks.dtype == bool else highest > lowest + ROUNDING
        found = bounding_box(differ)
        return None if found is None else shifted(found, box)


def _part(volumes: NDArray[Any], box: Box) -> NDArray[Any]:
    """A box of (J, \\*shape)."""
    return volumes[(slice(None), *box)]


def _label_boxes(raters: NDArray[Any], number_of_labels: int) -> list[Box | None]:
    """For each label index the box around all raters' marks."""
    boxes: list[Box | None] = [None] * number_of_labels
    for rater in raters:
        # find_objects looks from 1 on; missing raters are one more than the last label.
        found = [bounding_box(rater == 0), *find_objects(rater)][:number_of_labels]
        for label, box in enumerate(found):
            if box is not None:
                boxes[label] = united(boxes[label], box)
    return boxes


def united(first: Box | None, second: Box) -> Box:
    """The smallest box around two."""
    if first is None:
        return second
    pairs = zip(first, second, strict=True)
    return tuple(slice(min(a.start, b.start), max(a.stop, b.stop)) for a, b in pairs)


def shifted(box: Box, inside: Box) -> Box:
    """A box within a box as a box of the volume."""
    pairs = zip(box, inside, strict=True)
    return tuple(slice(a.start + b.start, a.stop + b.start) for a, b in pairs)


def bounding_box(flagged: Mask) -> Box | None:
    """The smallest box around flagged voxels; None if there are none."""
    found = find_objects(flagged.view(np.uint8))
    return found[0] if found else None


def clipped(box: Box, shape: Sequence[int]) -> Box:
    """The part of a box that lies in the volume."""
    return tuple(
        slice(max(part.start, 0), min(part.stop, side))
        for part, side in zip(box, shape, strict=True)
    )


def widened(box: Box, margin: Sequence[int]) -> Box:
    """A box with `margin` voxels more on each side of each axis; it may leave the volume."""
    return tuple(slice(p.start - m, p.stop + m) for p, m in zip(box, margin, strict=True))


def _extend(volumes: NDArray[Any], inner: Box, box: Box) -> NDArray[Any]:
    """Voxels (J, \\*inner) of a box that may leave the volume, where the border goes on."""
    beyond = [(i.start - b.start, b.stop - i.stop) for i, b in zip(inner, box, strict=True)]
    return np.pad(volumes, [(0, 0), *beyond], mode="edge")


def _where(present: Mask | None, mask: Mask | None, shape: tuple[int, ...]) -> Mask | None:
    if mask is None:
        return present
    everywhere = np.ones(shape, bool) if present is None else present
    return everywhere & mask


def _checked_weights(weights: Sequence[float] | Floats | None, raters: int) -> Floats:
    values = np.ones(raters) if weights is None else np.asarray(weights, np.float64)
    if values.shape != (raters,) or not (np.isfinite(values) & (values > 0)).all():
        raise InputError(f"RaterMasks: weights must be {raters} positive numbers, got {weights}")
    return values
