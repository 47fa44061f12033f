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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.work import in_threads, report, stage
from itk_consensus.methods.consensus.bands import (
    DEFAULT_SETTINGS,
    CoherenceSettings,
    coherence,
    smallest_sides,
)
from itk_consensus.methods.consensus.components import lost_components
from itk_consensus.methods.consensus.cut import Cut, find_cut, probability_of
from itk_consensus.methods.consensus.label_answers import (
    Indices,
    LabelAnswer,
    Leading,
    PackedShares,
    first_votes,
)
from itk_consensus.methods.consensus.label_voters import LabelVoters
from itk_consensus.methods.consensus.rater_masks import VOXELS_AT_ONCE, RaterMasks
from itk_consensus.space.boxes import (
    Box,
    around,
    clipped,
    intersection,
    relative_to,
    slabs,
    widened,
)
from itk_consensus.space.rater_field import marked_by_all
from itk_consensus.votes.recipes import FieldsOnly
from itk_consensus.votes.ties import UNDECIDED

#: From this many raters on, components that all of them mark are never lost.
RATERS_TO_GUARANTEE = 5

NO_VOTERS: Mapping[int, LabelVoters] = {}


@dataclass(frozen=True)
class CoherenceResult(FieldsOnly):
    """What the raters share."""

    decision: Indices  #: (*shape) label index; `UNDECIDED` where no rater annotated
    masks: RaterMasks
    #: By label index, for labels that raters differ about; with two labels, of the foreground.
    answers: dict[int, LabelAnswer]
    #: Flat indices of voxels of unanimous components that smoothing would have lost.
    restored: dict[int, NDArray[np.intp]]
    #: (K,) share of each label among all votes: the probability where no rater annotated.
    frequencies: Floats

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        """Write numbers in [0, 1]; of two labels at least one half exactly where it is chosen."""
        if self.masks.number_of_labels == 2:
            for part, score in self._scores(1, self._whole):
                out[part] = score if label == 1 else 1 - score
        else:
            out.fill(0.0)
            for part, score in self._scores(label, self._region(label)):
                total = self._total.part(part)
                scored = total > 0
                # Shares of votes take longer than all else.
                share = np.empty(score.shape) if scored.all() else self.masks.share(label, part)
                out[part] = np.divide(score, total, out=share, where=scored)
        for restored, where in self.restored.items():
            out.reshape(-1)[where] = float(restored == label)

    @cached_property
    def _total(self) -> PackedShares:
        """(\\*shape) sum of all labels' scores."""
        total = np.zeros(self.masks.shape)
        for label in range(self.masks.number_of_labels):
            report(label / self.masks.number_of_labels)
            for part, score in self._scores(label, self._region(label)):
                total[part] += score
        some = slabs(self._whole, VOXELS_AT_ONCE)
        return PackedShares.joined([PackedShares.pack(total[p].astype(np.float32)) for p in some])

    @property
    def _whole(self) -> Box:
        return tuple(slice(0, size) for size in self.masks.shape)

    def _region(self, label: int) -> Box:
        """A box beyond which the label's score is 0."""
        if self.masks.patterns is None or self.masks.present is not None:
            return self._whole
        found = self.answers.get(label)
        box = around(self.masks.marked_box(label), None if found is None else found.box)
        return tuple(slice(0, 0) for _ in self.masks.shape) if box is None else box

    def _scores(self, label: int, box: Box) -> Iterator[tuple[Box, Floats]]:
        """Corrected share of a label, but for what was restored, in parts of a box."""
        found, annotated = self.answers.get(label), self.masks.annotated()
        for part in slabs(box, VOXELS_AT_ONCE):
            both = part if found is None else intersection(found.box, part)
            if found is not None and both == part:
                score: Floats = found.probability(part).astype(np.float64)
            else:
                score = self.masks.share(label, part)
                if found is not None:
                    score[relative_to(both, part)] = found.probability(both)
            if annotated is not None:
                score = np.where(annotated[part], score, self.frequencies[label])
            yield part, score


def coherence_vote(
    masks: RaterMasks,
    spacing: Sequence[float],
    settings: CoherenceSettings = DEFAULT_SETTINGS,
    groups: Sequence[Sequence[int]] | None = None,
    voters: Mapping[int, LabelVoters] = NO_VOTERS,
) -> CoherenceResult:
    """Keep what raters share, smooth the rest, and cut it where the contour is.

    Parameters
    ----------
    spacing : sequence of float
        Voxel sides in mm, in array order. The first of four axes is time and never smoothed.
    groups : sequence of sequences of int, optional
        Raters who count as one, from `near_copies`.
    voters : mapping of int to LabelVoters, optional
        By label index: who is asked about it, of the groups. Without it everybody is.
    """
    every, masks = masks, masks if groups is None else masks.merged(groups)
    sides = smallest_sides(spacing)
    with stage(0.0, 0.1):
        places = _disputed_places(masks, settings.margin(sides))
    answers: dict[int, LabelAnswer] = {}
    boxes = {label: place.box for label, place in places.items()}
    leading: Leading | None = None
    with stage(0.1, 0.9):
        for label, found in _answer_labels(masks, places, sides, settings, voters):
            answers[label] = found
            # Not before the first of them, the background, is done: it takes the most memory.
            leading = Leading.of(masks, boxes) if leading is None else leading
            leading.challenge(label, found, masks.number_of_labels)
    decision = first_votes(masks) if leading is None else leading.decision
    del leading
    with stage(0.9, 1.0):
        restored = _restore_unanimous(every, decision)
    annotated = masks.annotated()
    if annotated is not None:
        decision[~annotated] = UNDECIDED
    return CoherenceResult(decision, masks.without_inputs(), answers, restored, masks.frequencies())


class _Place(NamedTuple):
    """A box around what is disputed about a label, and the part of it that lies in the volume."""

    wide: Box
    box: Box


def _disputed_places(masks: RaterMasks, margin: Sequence[int]) -> dict[int, _Place]:
    """By label that raters differ about; of two labels the foreground only."""
    labels = range(1 if masks.number_of_labels == 2 else 0, masks.number_of_labels)
    places = {}
    for label, tight in zip(labels, in_threads(masks.disputed_box, labels), strict=True):
        if tight is not None:
            # Beyond the volume its border goes on, so that windows see what they would see in a
            # larger volume: adding background changes nothing.
            wide = widened(tight, margin)
            places[label] = _Place(wide, clipped(wide, masks.shape))
    return places


def _answer_labels(
    masks: RaterMasks,
    places: dict[int, _Place],
    sides: Floats,
    settings: CoherenceSettings,
    voters: Mapping[int, LabelVoters],
) -> Iterator[tuple[int, LabelAnswer]]:
    """The disputed labels' answers, in order."""

    def answer(label: int) -> LabelAnswer:
        wide, box = places[label]
        if label in voters and voters[label].absent:
            nothing = np.zeros([part.stop - part.start for part in box], np.float32)
            return LabelAnswer(box, PackedShares.pack(nothing), Cut(0.0, 1.0, 0.5))
        raters = masks.field(label, box).without(_silent(voters, masks, label, box))
        raters = raters.extended(relative_to(wide, box))
        found = coherence(raters, masks.weights, sides, settings)
        report(0.5)
        cut = find_cut(found, raters, masks.weights, sides, settings)
        probability = probability_of(found, cut)
        return LabelAnswer(box, PackedShares.pack(probability[relative_to(box, wide)]), cut)

    return zip(places, in_threads(answer, places), strict=True)


def _silent(
    voters: Mapping[int, LabelVoters], masks: RaterMasks, label: int, box: Box
) -> Mask | None:
    """(J, \\*box) who is not asked about a label, or None.

    Who is silent about an object of some label is silent about its being background, too.
    """
    if label:
        return voters[label].silent(box) if label in voters else None
    silent: Mask | None = None
    for other, asked in voters.items():
        around = masks.marked_box(other)
        if around is None or asked.absent:
            continue
        both = intersection(box, around)
        away = asked.silent(both)
        if away is None:
            continue
        if silent is None:
            silent = np.zeros((away.shape[0], *(part.stop - part.start for part in box)), bool)
        marked = masks.marks(other, both).any(axis=0)
        silent[(slice(None), *relative_to(both, box))] |= away & marked
    return silent


def _restore_unanimous(masks: RaterMasks, decision: Indices) -> dict[int, NDArray[np.intp]]:
    """Give back, in place, unanimous components of two or more voxels that were lost."""
    restored: dict[int, NDArray[np.intp]] = {}
    if masks.number_of_raters < RATERS_TO_GUARANTEE:
        return restored
    labels = range(1, masks.number_of_labels)
    # What all mark is of one label only: no label takes from another.
    found = in_threads(lambda label: _lost_unanimous(masks, label, decision), labels)
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
    lost = lost_components(unanimous, decision[box] == label)
    places = [where + part.start for where, part in zip(np.nonzero(lost), box, strict=True)]
    return np.asarray(np.ravel_multi_index(tuple(places), masks.shape))


def _unanimous(masks: RaterMasks, label: int, box: Box) -> Mask:
    """Voxels marked by all raters who annotated them, if enough did."""
    if masks.present is None:
        return marked_by_all(masks.bits(label, box), masks.number_of_raters)
    marked = masks.marks(label, box)
    present = masks.present[(slice(None), *box)]
    unanimous = np.asarray((marked | ~present).all(axis=0))
    unanimous &= present.sum(axis=0) >= RATERS_TO_GUARANTEE
    return unanimous
