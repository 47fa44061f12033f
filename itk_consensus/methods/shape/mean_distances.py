"""Mean signed distances to every label, each computed only within a margin around the label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Floats32
from itk_consensus.core.work import current, report
from itk_consensus.space.boxes import Box, intersection
from itk_consensus.votes.disputed_voxels import CHUNK, DisputedVoxels, chunks
from itk_consensus.votes.fields.label_distances import LabelDistances
from itk_consensus.votes.ties import TieRule

#: Memory limit for the distances of all raters, in volumes; beyond it they are averaged in several
#: passes.
_VOLUMES_KEPT = 2

Near = tuple[NDArray[np.intp], Floats32]


class Around(NamedTuple):
    """A label, a box around it, and the disputed voxels of the box."""

    label: int
    box: Box
    members: NDArray[np.intp]  #: (n,) indices into all disputed voxels
    places: NDArray[np.intp]  #: (n,) flat indices into the box

    def part(self, which: slice) -> Around:
        """Return the same label and box with some of the voxels."""
        return self._replace(members=self.members[which], places=self.places[which])


@dataclass(frozen=True)
class AveragingSettings:
    """Settings of shape-based averaging."""

    spacing: tuple[float, ...]  #: Voxel size in mm per array axis
    weights: Floats | None = None  #: (J,) weight of each rater's distances; None: equal
    #: Fraction of the weight left out at each end of the sorted distances; less than one half.
    trim_fraction: float = 0.0
    tie_rule: TieRule = "undecided"
    #: Difference of mean distances, in mm, that changes the odds of two labels by a factor of e.
    probability_scale: float = 1.0


@dataclass(frozen=True)
class MeanDistances:
    """Mean distances of the disputed voxels to each label."""

    voxels: DisputedVoxels
    settings: AveragingSettings
    #: Margin around a label, in mm, within which its distances are computed; None: everywhere.
    margin: float | None

    def near(self, label: int) -> Near:
        """Return the (n,) indices of the disputed voxels near a label, and their mean distances."""
        if not self._mirrored:
            return self._near(label)
        if not self._between_two:
            self._between_two.append(self._near(1))
        members, distances = self._between_two[0]
        return members, distances if label == 1 else -distances

    @cached_property
    def _complete(self) -> bool:
        """Whether all raters annotated all voxels inside the mask."""
        return bool(self.voxels.patterns.present.all())

    @property
    def _whole(self) -> bool:
        """Whether all raters annotated all voxels of the volume."""
        return self._complete and self.voxels.patterns.outside_code is None

    @property
    def _mirrored(self) -> bool:
        """Whether each label's distance is minus the other's: two labels and no missing votes."""
        return self.voxels.patterns.number_of_labels == 2 and self._complete

    @cached_property
    def _to_labels(self) -> LabelDistances:
        return LabelDistances(self.voxels.patterns, self.settings.spacing)

    @cached_property
    def _between_two(self) -> list[Near]:
        """Cache of the distances to the contour between two labels; empty or with one item."""
        return []

    def _near(self, label: int) -> Near:
        box = self._region(label)
        around = Around(label, box, *self.voxels.inside(box))
        return around.members, self.mean_at(around)

    def mean_at(self, around: Around) -> Floats32:
        """Return (n,) mean distances of some disputed voxels to a label."""
        raters = np.flatnonzero(self.weights).tolist()
        if self.settings.trim_fraction == 0:
            total = self._sum(raters, around)
            if np.isfinite(total).all():
                return np.asarray(total / self.weights.sum(), np.float32)
        mean = np.empty(len(around.members), np.float32)
        room = _VOLUMES_KEPT * int(np.prod(self.voxels.shape)) // max(1, len(raters))
        for part in chunks(len(mean), max(1, room)):
            kept = np.empty((len(raters), part.stop - part.start), np.float32)
            each = self._each(raters, around.part(part))
            for own, (_, row) in zip(kept, each, strict=True):
                own[...] = row
            mean[part] = average(kept, self.weights[raters], self.settings.trim_fraction)
        return mean

    def _sum(self, raters: Sequence[int], around: Around) -> Floats:
        """Return the (n,) sum over raters of weight times distance."""
        total = np.zeros(len(around.members))
        if not self._whole:
            # The sum may involve inf - inf.
            with np.errstate(invalid="ignore"):
                for weight, row in self._each(raters, around):
                    total += weight * row
            return total
        for part in self._some(raters, len(around.members)):
            where = around.label, around.box, around.places
            self._to_labels.add_weighted(total, self.weights[part], part, *where)
        return total

    def _some(self, raters: Sequence[int], voxels: int) -> Iterator[Sequence[int]]:
        """Yield the raters in chunks, to save memory and to report progress more often."""
        fit = self.voxels.patterns.number_of_voxels // max(1, 2 * voxels)
        for part in chunks(len(raters), max(current().threads, fit)):
            yield raters[part]
            report(part.stop / len(raters))

    def _region(self, label: int) -> Box:
        """Return the bounding box of all votes for the label, with the margin."""
        patterns, region = self.voxels.patterns, self.voxels.region
        if self.margin is None or self._mirrored:
            return region
        around = [int(np.ceil(self.margin / size)) for size in self.settings.spacing]
        flagged = np.logical_or.reduce(self._votes_by_rater == label, axis=0)
        return intersection(patterns.region(flagged, around), region)

    @cached_property
    def _votes_by_rater(self) -> NDArray[Any]:
        """(J, P) contiguous transpose of the patterns."""
        return np.ascontiguousarray(self.voxels.patterns.patterns.T)

    @cached_property
    def weights(self) -> Floats:
        """(J,) weight of each rater, 0 for raters who annotated nothing."""
        patterns, given = self.voxels.patterns, self.settings.weights
        given = np.ones(patterns.number_of_raters) if given is None else given
        return np.where(patterns.present.any(axis=0), given, 0.0)

    def _each(self, raters: Sequence[int], around: Around) -> Iterator[tuple[float, Floats32]]:
        """Yield weight and (n,) signed distances of each rater; NaN where a rater is missing."""
        for part in self._some(raters, len(around.members)):
            rows = self.of_raters(part, around)
            yield from zip(self.weights[part], rows, strict=True)

    def of_raters(self, raters: Sequence[int], around: Around) -> Floats32:
        """Return (R, n) signed distances of some raters; NaN where a rater is missing."""
        where = around.label, around.box, around.places
        to_label = self._to_labels.of(raters, *where)
        patterns = self.voxels.patterns
        if self._whole:
            return to_label
        # Missing votes are neither inside nor outside: inside the label, the distance is that to
        # the nearest voxel to which the rater assigned another label.
        to_others = self._to_labels.of(raters, *where, with_missing=True)
        votes = (patterns.patterns == around.label).T[raters]
        present = patterns.present.T[raters]
        row = self.voxels.rows[around.members]
        signed = np.where(votes[:, row], to_others, to_label)
        signed[~present[:, row]] = np.nan
        return signed


def average(distances: Floats32, weights: Floats, trim: float) -> Floats32:
    """Return the (N,) weighted, trimmed mean of (J, N) distances; inf where all are NaN."""
    mean = np.empty(distances.shape[1], np.float32)
    for part in chunks(len(mean), CHUNK):
        values = _replace_infinite(distances[:, part].astype(np.float64))
        present = ~np.isnan(values)
        shares = np.where(present, weights[:, None], 0.0)
        values[~present] = 0.0
        if trim > 0:
            values, shares = _trim(values, shares, trim)
        total = shares.sum(axis=0)
        # Skip trimmed distances, since inf * 0 is NaN.
        sums = np.multiply(values, shares, out=np.zeros_like(values), where=shares > 0).sum(axis=0)
        mean[part] = np.divide(sums, total, out=np.full(total.shape, np.inf), where=total > 0)
    return mean


def _replace_infinite(distances: Floats) -> Floats:
    """Replace infinite distances in (J, N), due to labels not drawn, by the largest finite one.

    Otherwise a single rater without the label would remove it. Where all distances are infinite,
    each is set to 1 mm, which amounts to a vote; a label that no rater drew remains infinitely far
    away.
    """
    infinite = np.isinf(distances)
    if not infinite.any():
        return distances
    farthest = np.fmax.reduce(np.where(infinite, np.nan, np.abs(distances)), axis=0)
    somebody = (distances == -np.inf).any(axis=0)
    bound = np.where(np.isnan(farthest), np.where(somebody, 1.0, np.inf), farthest)
    return np.where(infinite, np.copysign(bound, distances), distances)


def _trim(values: Floats, shares: Floats, trim: float) -> tuple[Floats, Floats]:
    """Sort (J, N) values, and trim the fraction `trim` of the total share at both ends."""
    order = values.argsort(axis=0, kind="stable")
    values = np.take_along_axis(values, order, axis=0)
    shares = np.take_along_axis(shares, order, axis=0)
    upper = shares.cumsum(axis=0)
    total = upper[-1]
    low, high = trim * total, (1 - trim) * total
    kept = np.minimum(upper, high) - np.maximum(upper - shares, low)
    return values, np.maximum(kept, 0.0)
