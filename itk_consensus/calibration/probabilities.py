"""Probabilities of one case: their kind, their log-odds, and the spread of the raters.

The spread in mm is computed from votes, never from STAPLE's posteriors, which saturate. It
measures only disagreement; an error that all raters share does not affect it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, prod
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats
from itk_consensus.core.errors import InputError
from itk_consensus.space.boxes import Box, bounding_box, grow_box
from itk_consensus.votes.decision_patterns import DecisionPatterns

SMALLEST_SPREAD_MM = 0.5
"""Added to every spread, so that the band of unanimous raters has a width above 0."""


def box_around(mask: NDArray[np.bool_], margin: float, spacing: Sequence[float]) -> Box:
    """Return the bounding box of a non-empty mask, padded by a margin in mm (at least one
    voxel).
    """
    sides = zip(spacing, mask.shape, strict=True)
    # The margin is limited to the image extent, since a huge one would overflow when converted to
    # voxels.
    pads = [max(1, ceil(min(margin / step, extent))) for step, extent in sides]
    tight = bounding_box(mask)
    assert tight is not None
    return grow_box(tight, pads, mask.shape)


def contour_area(mask: NDArray[Any], spacing: Sequence[float]) -> float:
    """Return the area of a mask's surface in mm² (length of its outline in mm, in 2D).

    The integral of the gradient magnitude (coarea formula) is computed by central differences. It
    is about 10 % too large for a ball, compared with 50 % for counting voxel faces. Everything
    outside the array counts as background.
    """
    inside = np.pad(np.asarray(mask) != 0, 2)
    core = tuple(slice(1, -1) for _ in spacing)
    code = np.zeros([side - 2 for side in inside.shape], dtype=np.uint8)
    squares = np.zeros(1)
    for axis, step in enumerate(spacing):
        before, after = (
            inside[(*core[:axis], part, *core[axis + 1 :])] for part in (np.s_[:-2], np.s_[2:])
        )
        # Differences of a mask are 0 or 1, so there are few distinct gradients, and it suffices to
        # count these.
        code |= (before ^ after).view(np.uint8) << axis
        squares = np.append(squares, squares + 1 / (2 * step) ** 2)
    kinds = np.bincount(code[code != 0], minlength=len(squares))
    return float(kinds @ np.sqrt(squares) * prod(spacing))


def contour_areas(consensus: NDArray[Any], labels: int, spacing: Sequence[float]) -> list[float]:
    """Return the contour area of each label; for label 0, the area of the whole
    foreground's contour.
    """
    if not consensus.any():
        return [0.0] * labels
    foreground = consensus[box_around(consensus != 0, 0.0, spacing)]
    whole = contour_area(foreground != 0, spacing)
    if labels == 2:
        return [whole, whole]
    parts = (contour_area(foreground == label, spacing) for label in range(1, labels))
    return [whole, *parts]


def rater_spread(disputed_volume: float, area: float) -> float:
    """Return the mean thickness in mm of the disputed volume around a contour, plus 0.5 mm.

    If there is no contour, the result is 0.5 mm.
    """
    return SMALLEST_SPREAD_MM + (disputed_volume / area if area else 0.0)


def disputed_voxels_of_raters(patterns: DecisionPatterns, labels: int) -> list[int]:
    """Count, for each label, the voxels that some but not all raters assigned to it.

    With two labels, every value other than 0 is foreground.
    """
    votes = patterns.votes()
    present = patterns.present.sum(axis=1)
    values = patterns.labels if labels > 2 else np.minimum(np.abs(patterns.labels), 1)
    shares = [votes[:, values == label].sum(axis=1) for label in range(labels)]
    return [int(patterns.counts[(share > 0) & (share < present)].sum()) for share in shares]


def disputed_voxels_of_fractions(fractions: Sequence[NDArray[Any]]) -> list[int]:
    """Count the disputed voxels per label from vote fractions of the foreground or all labels."""
    disputed = [int(np.count_nonzero((share > 0) & (share < 1))) for share in fractions]
    return disputed * 2 if len(disputed) == 1 else disputed


EPSILON = 1e-6
"""Probabilities are clipped to this distance from 0 and 1."""

MASK, VOTES, GRADED = "binary masks", "vote fractions", "graded probabilities"
KINDS = (MASK, VOTES, GRADED)
_MOST_VOTES = 100
_SAMPLED = 1000


#: Spread of the raters' contours of each label, in mm.
Spreads = tuple[float, ...]


@dataclass(frozen=True)
class CaseFacts:
    """The properties of a case that a calibration's record stores in addition to its scores."""

    labels: int  #: K, including the background
    spreads: Spreads  #: Empty if not measured
    spacing: tuple[float, ...]  #: Voxel size in mm, in ITK's order
    rater_count: int | None
    kind: str | None  #: See `ProbabilityCase.kind`


@dataclass(frozen=True)
class ProbabilityCase:
    """The arrays of one case, with their geometry."""

    #: One array for the foreground, or one array per label, background first.
    probabilities: tuple[NDArray[Any], ...]
    spacing: tuple[float, ...]  #: Voxel size in mm, in the order of the array axes
    raters: tuple[NDArray[Any], ...] | None = None
    reference: NDArray[np.uint16] | None = None  #: Label per voxel
    craniocaudal_axis: int = 0  #: The array axis closest to the patient's long axis

    @property
    def labels(self) -> int:
        """Number of labels, K, including the background."""
        return max(len(self.probabilities), 2)

    @property
    def rater_count(self) -> int | None:
        """Number of raters, if they were given."""
        return None if self.raters is None else len(self.raters)

    @cached_property
    def consensus(self) -> NDArray[np.uint16]:
        """The most probable label of each voxel."""
        return consensus_labels(self.probabilities)

    @cached_property
    def contour_areas(self) -> list[float]:
        """Area in mm² of each label's contour; for the background, that of the whole foreground."""
        return contour_areas(self.consensus, self.labels, self.spacing)

    @property
    def kind(self) -> str | None:
        """One of `KINDS`; None if the kind is unknown because all raters agree everywhere."""
        kind = probability_kind(self.probabilities)
        if kind == MASK and self.raters is not None:
            first, *others = self.raters
            return None if all(np.array_equal(first, other) for other in others) else kind
        return kind

    def facts(self, spreads: Spreads) -> CaseFacts:
        """Return the properties of this case for a record, with the raters' spreads."""
        return CaseFacts(self.labels, spreads, self.spacing[::-1], self.rater_count, self.kind)

    def reference_labels(self) -> NDArray[np.uint16]:
        """Return the reference of a calibration case; raise an error if there is none."""
        if self.reference is None:
            raise InputError("ProbabilityCase: this case has no reference")
        return self.reference


def probability_kind(probabilities: Sequence[NDArray[Any]]) -> str:
    """Determine from their values which of `KINDS` the probabilities belong to.

    Vote fractions are multiples of 1/n for some n up to 100, in single precision.
    """
    between = [array[(array > 0) & (array < 1)] for array in probabilities]
    values = np.concatenate([array.astype(np.float64) for array in between])
    if not len(values):
        return MASK
    votes = np.arange(2, _MOST_VOTES + 1)
    few = values[:: max(1, len(values) // _SAMPLED)]
    for number in votes[_are_shares(few[:, None], votes).all(axis=0)]:
        if _are_shares(values, number).all():
            return VOTES
    return GRADED


def _are_shares(values: Floats, number: Any) -> NDArray[np.bool_]:
    return np.asarray(np.abs(values - np.round(values * number) / number) <= EPSILON)


def consensus_labels(probabilities: Sequence[NDArray[Any]]) -> NDArray[np.uint16]:
    """Return the most probable label of each voxel; on ties, the higher label.

    Probabilities are given as one array for the foreground, or one array per label.
    """
    if len(probabilities) == 1:
        return np.asarray(probabilities[0] >= 0.5).astype(np.uint16)
    labels = np.zeros(probabilities[0].shape, dtype=np.uint16)
    highest = probabilities[0]
    for label, probability in enumerate(probabilities[1:], start=1):
        labels[probability >= highest] = label
        highest = np.maximum(highest, probability)
    return labels


def one_per_label(probabilities: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
    """Add the background's probability if only the foreground's is given."""
    return [1 - probabilities[0], probabilities[0]] if len(probabilities) == 1 else probabilities


def smoothed_votes(fractions: Sequence[NDArray[Any]], raters: int) -> list[Floats]:
    """Return ``(votes + 1/2) / (raters + labels / 2)``: vote fractions that are never 0 or 1."""
    labels = max(len(fractions), 2)
    return [(np.asarray(f, np.float64) * raters + 0.5) / (raters + labels / 2) for f in fractions]


def clip_probability(probability: NDArray[Any]) -> Floats:
    """Return probabilities as float64, clipped to exclude 0 and 1."""
    return np.clip(np.asarray(probability, dtype=np.float64), EPSILON, 1 - EPSILON)


def log_odds(probability: NDArray[Any]) -> Floats:
    """Return ``ln p - ln(1 - p)``; p is clipped, so the result is within ±13.8 even for 0 and 1."""
    p = clip_probability(probability)
    return np.asarray(scipy.special.logit(p, out=p))
