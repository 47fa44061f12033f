"""Raters as one mask per label, read box by box: what methods that look at neighbours work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    read : callable
        ``read(label)`` gives (J, \\*shape): bool masks, or probabilities in [0, 1].
    shape : tuple of int
    number_of_raters, number_of_labels : int
        Two labels are background and one foreground.
    weights : (J,) ndarray
        Of the raters; all positive.
    present : (J, \\*shape) ndarray of bool, or None
        Where each rater annotated, and the mask holds; None: everywhere.
    """

    read: Callable[[int], NDArray[Any]]
    shape: tuple[int, ...]
    number_of_raters: int
    number_of_labels: int
    weights: Floats
    present: Mask | None = None

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
            lambda label: masks if label == 1 else 1 - masks.astype(np.float64),
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
        return cls(
            lambda label: raters == label,
            raters.shape[1:],
            len(raters),
            number_of_labels,
            _checked_weights(weights, len(raters)),
            _where(present, mask, raters.shape),
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

        def read(label: int) -> NDArray[Any]:
            masks = self.read(label)
            if present is None:
                pairs = zip(shares, members, strict=True)
                return np.stack([np.tensordot(w, masks[g], 1) for w, g in pairs])
            means = []
            for w, group in zip(shares, members, strict=True):
                here = np.tensordot(w, present[group], 1)
                total = np.tensordot(w, np.where(present[group], masks[group], 0.0), 1)
                means.append(np.divide(total, here, out=np.zeros(self.shape), where=here > 0))
            return np.stack(means)

        return replace(
            self,
            read=read,
            number_of_raters=len(members),
            # A group weighs as much as one of its members.
            weights=np.array([self.weights[group].mean() for group in members]),
            present=None if present is None else np.stack([present[g].any(0) for g in members]),
        )

    def annotated(self) -> Mask | None:
        """(\\*shape) where at least one rater annotated; None: everywhere."""
        return None if self.present is None else np.asarray(self.present.any(axis=0))

    def share(self, label: int) -> Floats:
        """(\\*shape) weighted mean membership among those who annotated; 0 where nobody did."""
        masks = self.read(label)
        if self.present is None:
            mean: Floats = np.tensordot(self.weights / self.weights.sum(), masks, 1)
            return mean
        here = np.tensordot(self.weights, self.present, 1)
        total = np.tensordot(self.weights, np.where(self.present, masks, 0.0), 1)
        return np.asarray(np.divide(total, here, out=np.zeros(self.shape), where=here > 0))

    def disputed(self, label: int) -> Mask:
        """(\\*shape) where raters differ about a label, by more than rounding."""
        masks = self.read(label)
        if self.present is None:
            lowest, highest = masks.min(axis=0), masks.max(axis=0)
        else:
            lowest = np.where(self.present, masks, 1.0).min(axis=0)
            highest = np.where(self.present, masks, 0.0).max(axis=0)
        return np.asarray(highest > lowest + ROUNDING)


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


def read_extended(volume: NDArray[Any], box: Box) -> NDArray[Any]:
    """Voxels of a box over the last axes; beyond the volume its border goes on."""
    leading = volume.ndim - len(box)
    shape = volume.shape[leading:]
    inner = clipped(box, shape)
    beyond = [(i.start - b.start, b.stop - i.stop) for i, b in zip(inner, box, strict=True)]
    part = volume[(slice(None),) * leading + inner]
    widths = [(0, 0)] * leading + beyond
    return np.pad(part, np.array(widths), mode="edge")


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
