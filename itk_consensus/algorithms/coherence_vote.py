"""The coherence vote: smooth only what the raters do not share.

Detail finer than a smoothing is signal if raters share it beyond chance, and noise if they do not.
Every rater's mask is split into bands of scale. Where the bands of different raters correlate, the
band is kept; where they do not, it goes. This is Wiener's filter (Extrapolation, Interpolation and
Smoothing of Stationary Time Series, 1949) with the signal's power measured by the agreement of
independent copies, as electron microscopy does with half sets (Rosenthal & Henderson, Journal of
Molecular Biology 333:721-745, 2003).

The contour is then drawn between what the raters mark inside and outside (Rogan & Gladen, American
Journal of Epidemiology 107:71-76, 1978), at the level where a clean mask sent through the same
smoothing keeps its volume, so that smoothing does not shrink what is round. Where fine detail
itself is shared there is no noise to correct, and the votes are cut at one half.

Errors finer than the bands are assumed independent between raters. Copies of one rater make noise
look shared: `near_copies` finds them, `RaterMasks.merged` makes them one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.coherence_bands import (
    DEFAULT_SETTINGS,
    CoherenceSettings,
    coherence,
    smallest_sides,
)
from itk_consensus.algorithms.coherence_cut import (
    TIE_TOLERANCE,
    Cut,
    find_cut,
    probability_of,
)
from itk_consensus.algorithms.components import lost_components
from itk_consensus.algorithms.over_labels import over_labels
from itk_consensus.algorithms.rater_masks import VOXELS_AT_ONCE, Floats, Mask, RaterMasks
from itk_consensus.labels.boxes import Box, clipped, relative_to, slabs, widened
from itk_consensus.labels.gaussian import Singles
from itk_consensus.labels.label_stack import default_threads
from itk_consensus.labels.ties import UNDECIDED
from itk_consensus.labels.tiles import Progress

#: Label indices; 16 bits where they are enough.
Indices = NDArray[np.int16] | NDArray[np.int32]

#: From this many raters on, components that all of them mark are never lost.
RATERS_TO_GUARANTEE = 5


class LabelAnswer(NamedTuple):
    """A label's answer in the part of the volume where raters differ about it.

    Attributes
    ----------
    box : tuple of slice
    possible : ndarray of uint8
        A bit per voxel of the box, packed: whether the probability is above 0.
    values : (n,) ndarray of float32
        Those probabilities: most of a label's box is other labels'.
    cut : Cut
    """

    box: Box
    possible: NDArray[np.uint8]
    values: Singles
    cut: Cut

    @classmethod
    def pack(cls, box: Box, probability: Singles, cut: Cut) -> LabelAnswer:
        """Keep what is above 0 only."""
        possible = probability > 0
        return cls(box, np.packbits(possible), probability[possible], cut)

    @property
    def probability(self) -> Singles:
        """(\\*box)."""
        volume = np.zeros([part.stop - part.start for part in self.box], np.float32)
        flags = np.unpackbits(self.possible, count=volume.size).view(bool)
        volume.reshape(-1)[flags] = self.values
        return volume


@dataclass(frozen=True)
class CoherenceResult:
    """What the raters share.

    Attributes
    ----------
    decision : (\\*shape) ndarray of int16 or int32
        Label index; `UNDECIDED` where nobody annotated.
    masks : RaterMasks
    answers : dict of int to LabelAnswer
        By label index, for labels that raters differ about; with two labels, of the foreground.
    restored : dict of int to ndarray of int
        Flat indices of voxels of unanimous components that smoothing would have lost.
    frequencies : (K,) ndarray
        Share of each label among all votes: the probability where nobody annotated.
    """

    decision: Indices
    masks: RaterMasks
    answers: dict[int, LabelAnswer]
    restored: dict[int, NDArray[np.intp]]
    frequencies: Floats

    def probability(self, label: int) -> Floats:
        """(\\*shape), in [0, 1]; for two labels at least one half exactly where it is chosen."""
        if self.masks.number_of_labels == 2:
            one = self._score(1)
            return one if label == 1 else 1 - one
        scores = self._score(label)
        total = self._total
        return np.divide(scores, total, out=self.masks.share(label), where=total > 0)

    @cached_property
    def _total(self) -> Floats:
        """(\\*shape) sum of all labels' scores."""
        labels = range(self.masks.number_of_labels)
        total = sum((self._score(label) for label in labels), np.zeros(self.masks.shape))
        return np.asarray(total)

    def _score(self, label: int) -> Floats:
        volume = _scores(self.masks, label, self.answers.get(label))
        for restored, where in self.restored.items():
            volume.reshape(-1)[where] = float(restored == label)
        annotated = self.masks.annotated()
        return volume if annotated is None else np.where(annotated, volume, self.frequencies[label])


def coherence_vote(
    masks: RaterMasks,
    spacing: Sequence[float],
    settings: CoherenceSettings = DEFAULT_SETTINGS,
    groups: Sequence[Sequence[int]] | None = None,
    progress: Progress | None = None,
) -> CoherenceResult:
    """Keep what raters share, smooth the rest, and cut it where the contour is.

    Parameters
    ----------
    masks : RaterMasks
    spacing : sequence of float
        Voxel sides in mm, in array order. The first of four axes is time and never smoothed.
    settings : CoherenceSettings
    groups : sequence of sequences of int, optional
        Raters who count as one, from `near_copies`.
    progress : callable, optional
        Called with the share of the labels that are done.
    """
    every, masks = masks, masks if groups is None else masks.merged(groups)
    sides = smallest_sides(spacing)
    answers: dict[int, LabelAnswer] = {}
    for label, found in _answer_labels(masks, sides, settings):
        if found is not None:
            answers[label] = found
        if progress is not None:
            progress((label + 1) / masks.number_of_labels)
    decision = _decide_two(masks, answers) if _binary(masks) else _decide(masks, answers)
    restored = _restore_unanimous(every, decision)
    annotated = masks.annotated()
    if annotated is not None:
        decision[~annotated] = UNDECIDED
    return CoherenceResult(decision, masks.without_inputs(), answers, restored, masks.frequencies())


def _binary(masks: RaterMasks) -> bool:
    return masks.number_of_labels == 2


def _answer_labels(
    masks: RaterMasks, sides: Floats, settings: CoherenceSettings
) -> Iterator[tuple[int, LabelAnswer | None]]:
    """Every label's answer, in order; of two labels the foreground's, with all threads on it."""
    if _binary(masks):
        yield 1, _answer_label(masks, 1, sides, settings, default_threads())
        return
    labels = range(masks.number_of_labels)
    answers = over_labels(lambda label: _answer_label(masks, label, sides, settings, 1), labels)
    yield from zip(labels, answers, strict=True)


def _answer_label(
    masks: RaterMasks, label: int, sides: Floats, settings: CoherenceSettings, threads: int
) -> LabelAnswer | None:
    """A label's answer in the box around disputed voxels; None if there are none."""
    tight = masks.disputed_box(label)
    if tight is None:
        return None
    # Beyond the volume its border goes on, so that windows see what they would see in a larger
    # volume: adding background changes nothing.
    wide = widened(tight, settings.margin(sides))
    box = clipped(wide, masks.shape)
    raters = masks.field(label, box).extended(relative_to(wide, box))
    found = coherence(raters, masks.weights, sides, settings, threads)
    cut = find_cut(found, raters, masks.weights, sides, settings, threads)
    probability = probability_of(found, cut, threads)
    return LabelAnswer.pack(box, probability[relative_to(box, wide)], cut)


def _scores(masks: RaterMasks, label: int, found: LabelAnswer | None) -> Floats:
    """Corrected share of a label at every voxel."""
    volume = masks.share(label)
    if found is not None:
        volume[found.box] = found.probability
    return volume


def _decide_two(masks: RaterMasks, answers: dict[int, LabelAnswer]) -> Indices:
    """The foreground where its probability is at least one half."""
    decision = _first_votes(masks, [1])
    if 1 in answers:
        decision[answers[1].box] = answers[1].probability > 0.5 - TIE_TOLERANCE / 2
    return decision


def _decide(masks: RaterMasks, answers: dict[int, LabelAnswer]) -> Indices:
    """Label with the highest score; ties go to the lower index."""
    decision = _first_votes(masks, range(1, masks.number_of_labels))
    # Beyond its box a label has all the votes or none.
    best = np.ones(masks.shape, np.float32)
    for label, found in answers.items():
        best[found.box][decision[found.box] == label] = 0
    decision[best == 0] = 0
    for label, found in answers.items():
        scores = found.probability
        highest, chosen = best[found.box], decision[found.box]
        better = scores > highest + np.float32(TIE_TOLERANCE)
        chosen[better] = label
        highest[better] = scores[better]
    return decision


def _first_votes(masks: RaterMasks, labels: Sequence[int] | range) -> Indices:
    """Where all who annotated agree, their label; elsewhere whatever."""
    few = masks.number_of_labels < np.iinfo(np.int16).max
    decision: Indices = np.zeros(masks.shape, np.int16) if few else np.zeros(masks.shape, np.int32)
    patterns = masks.patterns
    if patterns is not None:
        first = patterns.present.argmax(axis=1)
        votes = np.take_along_axis(patterns.patterns, first[:, None], axis=1)[:, 0]
        known = np.where(patterns.present.any(axis=1), votes, 0).astype(decision.dtype)
        return patterns.expand(known, out=decision)
    for label in labels:
        decision[masks.share(label) > 0.5] = label
    return decision


def _restore_unanimous(masks: RaterMasks, decision: Indices) -> dict[int, NDArray[np.intp]]:
    """Give back, in place, unanimous components of two or more voxels that were lost."""
    restored: dict[int, NDArray[np.intp]] = {}
    if masks.number_of_raters < RATERS_TO_GUARANTEE:
        return restored
    labels = range(1, masks.number_of_labels)
    # What all mark is of one label only: no label takes from another.
    found = over_labels(lambda label: _lost_unanimous(masks, label, decision), labels)
    for label, lost in zip(labels, found, strict=True):
        if len(lost):
            restored[label] = lost
            decision.reshape(-1)[lost] = label
    return restored


def _lost_unanimous(masks: RaterMasks, label: int, decision: Indices) -> NDArray[np.intp]:
    """Flat indices of components that everybody marked and the decision lost."""
    box = masks.marked_box(label)
    if box is None:
        return np.zeros(0, np.intp)
    unanimous = np.empty(decision[box].shape, bool)
    for part in slabs(box, VOXELS_AT_ONCE):
        unanimous[relative_to(part, box)] = _unanimous(masks, label, part)
    lost = lost_components(unanimous, decision[box] == label, time_axis=len(masks.shape) > 3)
    places = [where + part.start for where, part in zip(np.nonzero(lost), box, strict=True)]
    return np.asarray(np.ravel_multi_index(tuple(places), masks.shape))


def _unanimous(masks: RaterMasks, label: int, box: Box) -> Mask:
    """Voxels that everybody marks who annotated them, if enough did."""
    marked = masks.marks(label, box)
    if masks.present is None:
        return np.asarray(marked.all(axis=0))
    present = masks.present[(slice(None), *box)]
    unanimous = np.asarray((marked | ~present).all(axis=0))
    unanimous &= present.sum(axis=0) >= RATERS_TO_GUARANTEE
    return unanimous
