"""Shape-based averaging: the mean of the raters' contours instead of the sum of their votes.

Rohlfing & Maurer, IEEE Trans. Image Processing 16(1):153-161, 2007. Every rater's labels become
signed distances in mm; they are averaged, and a voxel goes to the label whose mean distance is
smallest. A contour displaced by one rater therefore moves the mean a little, where a vote would
follow the median or, with voxel noise, fall to pieces. A voxel that all raters give to one label
keeps it, so only disputed voxels are averaged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.majority_vote import VoteResult, majority_vote
from itk_consensus.array_types import Floats, Floats32
from itk_consensus.labels.boxes import Box, intersection, voxel_sides
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.disputed_voxels import (
    CHUNK,
    DisputedVoxels,
    chunks,
    decide_voxels,
)
from itk_consensus.labels.distance import signed_distance
from itk_consensus.labels.fusions import DisputedFusion
from itk_consensus.labels.ties import TieRule

#: Told the share of the work that is done.
ProgressObserver = Callable[[float], None]

#: Mean distances, in units of the smallest voxel side, that float32 sums cannot tell apart.
TIE_TOLERANCE = 1e-5

#: Labels farther from a voxel than this many (largest) voxel sides are tried if none is nearer.
NEAR = 10

#: All raters' distances are kept for at most this many times the voxels of the box; more raters of
#: noisier labels are averaged in several passes.
_VOLUMES_KEPT = 6


@dataclass(frozen=True)
class AveragingSettings:
    """Everything that shape-based averaging can be told.

    Attributes
    ----------
    spacing : tuple of float
        Voxel size in mm per array axis.
    weights : (J,) ndarray or None
        Weight of each rater's distances; None: equal.
    trim_fraction : float
        Share of the weight left out at each end of the sorted distances, below one half.
    tie_rule : TieRule
    """

    spacing: tuple[float, ...]
    weights: Floats | None = None
    trim_fraction: float = 0.0
    tie_rule: TieRule = "undecided"


@dataclass(frozen=True)
class ShapeAverage:
    """Mean distances and what follows from them.

    Attributes
    ----------
    voxels : DisputedVoxels
        In the smallest box that keeps distances exact.
    distances : (K, N) ndarray of float32
        Mean signed distance, in mm, of each disputed voxel to each label; infinite to a label that
        nobody drew in its volume.
    decision : (N,) ndarray of int32
        Label index, or a code of `labels.ties`.
    vote : VoteResult
        The answer at all other voxels.
    """

    voxels: DisputedVoxels
    distances: Floats32
    decision: NDArray[np.int32]
    vote: VoteResult

    def fusion(self, scale: float) -> DisputedFusion:
        """The result, with probabilities of `scale` mm."""
        return DisputedFusion(
            self.voxels, self.vote, self.decision, lambda label: self.probability(label, scale)
        )

    def probability(self, label: int, scale: float) -> Floats32:
        """(N,) probability of a label index, mean distances over `scale` mm being log odds.

        Pohl et al., Medical Image Analysis 11(5):465-477, 2007.
        """
        nearest = self.distances.min(axis=0)
        # Where no rater counts every label is infinitely far, and all are equally likely.
        nearest[np.isinf(nearest)] = 0.0

        def odds(of: int) -> Floats32:
            return np.asarray(np.exp((nearest - self.distances[of]) / scale))

        total = odds(0)
        for other in range(1, len(self.distances)):
            total += odds(other)
        equal = np.full(total.shape, 1 / len(self.distances), np.float32)
        return np.divide(odds(label), total, out=equal, where=total > 0)


def shape_based_average(
    patterns: DecisionPatterns,
    settings: AveragingSettings,
    *,
    observer: ProgressObserver | None = None,
) -> ShapeAverage:
    """Average the raters' signed distances to every label."""
    voxels = DisputedVoxels(patterns, contour_region(patterns, len(settings.spacing)))
    vote = majority_vote(patterns, weights=settings.weights, ties=settings.tie_rule)
    distances = _mean_distances(voxels, settings, observer or (lambda _: None))
    decision = decide_voxels(
        -distances,
        patterns.labels,
        settings.tie_rule,
        tolerance=TIE_TOLERANCE * min(voxel_sides(settings.spacing)),
        prior=vote.frequencies,
    )
    return ShapeAverage(voxels, distances, decision, vote)


def contour_region(patterns: DecisionPatterns, axes: int) -> Box:
    """Smallest box within which distances from disputed voxels equal those in the whole volume.

    It holds all that differs from the commonest pattern, and a shell of that pattern: a voxel of
    the shell is nearer to the inside than any voxel beyond it.
    """
    others = np.ones(len(patterns.counts), dtype=bool)
    commonest = patterns.counts.argmax()
    # Voxels outside a mask have no label, so there the shell would not stand for what lies beyond.
    others[commonest] = patterns.outside_code is not None or not patterns.unanimous[commonest]
    if not (~patterns.unanimous & patterns.present.any(axis=1)).any():
        others[:] = False
    return patterns.region(others, [1] * axes)


def _mean_distances(
    voxels: DisputedVoxels, settings: AveragingSettings, observer: ProgressObserver
) -> Floats32:
    """(K, N) mean distances, each label's computed only around it as far as can matter."""
    patterns = voxels.patterns
    gaps = patterns.outside_code is not None or not patterns.present.all()
    extent = float(np.linalg.norm(np.multiply(voxels.shape, settings.spacing)))
    # Where labels are unknown a box does not hold all that is near.
    margin = extent if gaps else NEAR * max(voxel_sides(settings.spacing))
    while margin < extent:
        near = _near_distances(voxels, _label_regions(voxels, margin, settings), settings, observer)
        # Left out were distances beyond the margin: they matter only if nothing is nearer.
        if near.min(axis=0).max(initial=0.0) <= margin:
            return near
        margin *= 4
    whole = [voxels.region] * patterns.number_of_labels
    return _near_distances(voxels, whole, settings, observer)


def _label_regions(voxels: DisputedVoxels, margin: float, settings: AveragingSettings) -> list[Box]:
    """Per label a box with all voxels that any rater gave it, and a margin in mm."""
    patterns = voxels.patterns
    around = [int(np.ceil(margin / size)) for size in settings.spacing]
    said = [(patterns.patterns == label).any(axis=1) for label in range(patterns.number_of_labels)]
    return [intersection(patterns.region(flagged, around), voxels.region) for flagged in said]


def _near_distances(
    voxels: DisputedVoxels,
    regions: list[Box],
    settings: AveragingSettings,
    observer: ProgressObserver,
) -> Floats32:
    """(K, N) mean distances to each label within its region, infinite elsewhere."""
    labels = len(regions)
    distances = np.full((labels, len(voxels.places)), np.inf, np.float32)
    # With two labels and no gaps one distance is minus the other.
    mirrored = labels == 2 and voxels.patterns.present.all()
    for label in range(int(mirrored), labels):
        near = DisputedVoxels(voxels.patterns, voxels.region if mirrored else regions[label])
        members = voxels.inside(near.region)
        distances[label, members] = _mean_distance(near, label, settings)
        observer((label + 1) / labels)
    if mirrored:
        distances[0] = -distances[1]
    return distances


def _mean_distance(voxels: DisputedVoxels, label: int, settings: AveragingSettings) -> Floats32:
    number = len(voxels.places)
    mean = np.empty(number, np.float32)
    weights = _rater_weights(voxels.patterns, settings)
    raters = np.flatnonzero(weights).tolist()
    room = max(1, _VOLUMES_KEPT * int(np.prod(voxels.shape)) // len(raters))
    for part in chunks(number, room):
        kept = np.empty((len(raters), part.stop - part.start), np.float32)
        for row, rater in zip(kept, raters, strict=True):
            row[...] = _distances(voxels, rater, label, settings)[part]
        mean[part] = _average(kept, weights[raters], settings.trim_fraction)
    return mean


def _rater_weights(patterns: DecisionPatterns, settings: AveragingSettings) -> Floats:
    given = np.ones(patterns.number_of_raters) if settings.weights is None else settings.weights
    return np.where(patterns.present.any(axis=0), given, 0.0)


def _distances(
    voxels: DisputedVoxels, rater: int, label: int, settings: AveragingSettings
) -> Floats32:
    """(N,) signed distances of disputed voxels to one rater's label; NaN where it is missing."""
    patterns = voxels.patterns
    says = patterns.patterns[:, rater] == label
    denies = patterns.present[:, rater] & ~says

    def distance(inside: NDArray[np.bool_], outside: bool) -> Floats32:
        volume = signed_distance(
            voxels.expand(inside, outside=outside),
            settings.spacing,
            dtype=np.float32,
            threads=patterns.threads,
        )
        return voxels.take(volume)

    to_label = distance(says, False)
    if patterns.outside_code is None and patterns.present[:, rater].all():
        return to_label
    # What the rater left out is neither inside nor outside: the way out of the label ends only at
    # a voxel to which the rater gave another one.
    to_others = distance(~denies, True)
    signed = np.where(voxels.of_pattern(says), to_others, to_label)
    signed[~voxels.of_pattern(patterns.present[:, rater])] = np.nan
    return signed


def _average(distances: Floats32, weights: Floats, trim: float) -> Floats32:
    """(N,) weighted, trimmed mean of (J, N) distances; infinite where there is none."""
    mean = np.empty(distances.shape[1], np.float32)
    for part in chunks(len(mean), CHUNK):
        values = _bounded(distances[:, part].astype(np.float64))
        present = ~np.isnan(values)
        shares = np.where(present, weights[:, None], 0.0)
        values[~present] = 0.0
        if trim > 0:
            values, shares = _trimmed(values, shares, trim)
        total = shares.sum(axis=0)
        # An infinite distance that was trimmed must not become inf * 0.
        sums = np.multiply(values, shares, out=np.zeros_like(values), where=shares > 0).sum(axis=0)
        mean[part] = np.divide(sums, total, out=np.full(total.shape, np.inf), where=total > 0)
    return mean


def _bounded(distances: Floats) -> Floats:
    """Replace infinite distances of (J, N): a label not drawn is as far as the farthest drawn one.

    One rater without the label then has one rater's say, instead of ending it for all. Where no
    rater has a contour each counts as 1 mm, which is a vote; a label that nobody drew stays
    infinitely far.
    """
    infinite = np.isinf(distances)
    if not infinite.any():
        return distances
    farthest = np.fmax.reduce(np.where(infinite, np.nan, np.abs(distances)), axis=0)
    somebody = (distances == -np.inf).any(axis=0)
    bound = np.where(np.isnan(farthest), np.where(somebody, 1.0, np.inf), farthest)
    return np.where(infinite, np.copysign(bound, distances), distances)


def _trimmed(values: Floats, shares: Floats, trim: float) -> tuple[Floats, Floats]:
    """Sort (J, N) values and cut `trim` of the total share off both ends."""
    order = values.argsort(axis=0, kind="stable")
    values = np.take_along_axis(values, order, axis=0)
    shares = np.take_along_axis(shares, order, axis=0)
    upper = shares.cumsum(axis=0)
    total = upper[-1]
    low, high = trim * total, (1 - trim) * total
    kept = np.minimum(upper, high) - np.maximum(upper - shares, low)
    return values, np.maximum(kept, 0.0)
