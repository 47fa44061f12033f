"""Coherence vote: smooth only the detail that raters do not share.

Fine detail is signal if raters share it beyond chance, and noise otherwise. Every rater's mask is
decomposed into scale bands. A band is kept where those of different raters correlate, and removed
elsewhere. This is Wiener's filter (Extrapolation, Interpolation and Smoothing of Stationary Time
Series, 1949) with the signal power estimated from the agreement between independent copies, as is
done with half sets in electron microscopy (Rosenthal & Henderson, Journal of Molecular Biology
333:721-745, 2003).

The contour is then drawn between the mean shares of votes inside and outside (Rogan & Gladen,
American Journal of Epidemiology 107:71-76, 1978), at the level at which a noise-free mask keeps its
volume under the same smoothing, so smoothing does not shrink round structures. Where fine detail
itself is shared there is no noise to correct for, and the threshold is one half.

Errors at scales finer than the bands are assumed to be independent between raters. Copies of one
rater would make noise appear to be shared; they are detected by `near_copies` and merged by
`RaterMasks.merged`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.core.work import in_threads, report, stage
from itk_consensus.methods.consensus.components import lost_pieces
from itk_consensus.methods.consensus.cut import Cut
from itk_consensus.methods.consensus.label_answers import (
    Indices,
    LabelAnswer,
    Leading,
    PackedShares,
    first_votes,
)
from itk_consensus.methods.consensus.label_coherence import LabelField
from itk_consensus.methods.consensus.label_voters import LabelVoters
from itk_consensus.methods.consensus.rater_masks import VOXELS_AT_ONCE, RaterMasks
from itk_consensus.methods.consensus.scale_bands import (
    DEFAULT_SETTINGS,
    CoherenceSettings,
    Scales,
    grid_steps,
    smallest_sides,
)
from itk_consensus.space.blocks import Blocked, Blocks
from itk_consensus.space.boxes import (
    Box,
    clip_box,
    enclosing_box,
    intersection,
    relative_to,
    slabs,
    to_volume,
    widen_box,
)
from itk_consensus.space.gaussian import Singles
from itk_consensus.space.rater_field import RaterField, marked_by_all
from itk_consensus.votes.ties import UNDECIDED

#: Minimum number of raters for which components marked by all of them are always kept.
RATERS_TO_GUARANTEE = 5

#: Number of boxes for which the sum of all labels' scores is cached.
_BOXES_KEPT = 2

NO_VOTERS: Mapping[int, LabelVoters] = {}


@dataclass(frozen=True)
class CoherenceResult(FieldsOnly):
    """Result of the coherence vote."""

    voted: Blocked  #: Label index by voxel; `UNDECIDED` where no rater annotated
    masks: RaterMasks
    #: Result by label index, for labels on which raters differ; with two labels, the foreground
    #: only.
    answers: dict[int, LabelAnswer]
    #: By label index, flat indices of the voxels of restored unanimous components.
    restored: dict[int, NDArray[np.intp]]
    #: (K,) proportion of each label among all votes, used as probability where no rater annotated.
    frequencies: Floats

    @property
    def decision(self) -> Indices:
        r"""(\*shape) label index; `UNDECIDED` where no rater annotated."""
        return self.voted.array()

    def write_probability(self, label: int, out: NDArray[Any], within: Box | None = None) -> None:
        """Write probabilities; with two labels, at least one half exactly where a label is chosen.

        At least the voxels of the requested box are written.
        """
        box = self._whole if within is None else within
        if self.masks.number_of_labels == 2:
            for part, score in self._scores(1, box):
                out[part] = score if label == 1 else 1 - score
        else:
            out[box] = 0.0
            for part, score in self._scores(label, intersection(self._region(label), box)):
                total = self._total.part(part)
                scored = total > 0
                # Vote shares are slow to compute, so compute them only if needed.
                share = np.empty(score.shape) if scored.all() else self.masks.share(label, part)
                out[part] = np.divide(score, total, out=share, where=scored)
        for restored, where in self.restored.items():
            out.reshape(-1)[where] = float(restored == label)

    def write_probability_in(self, box: Box, label: int, out: NDArray[Any]) -> None:
        """Write the output of `write_probability` for a box, for volumes that are not in memory."""
        if self.masks.number_of_labels == 2:
            score = self._score(1, box)
            out[...] = score if label == 1 else 1 - score
        else:
            out.fill(0.0)
            part = intersection(self._region(label), box)
            if all(side.start < side.stop for side in part):
                bounds = tuple((side.start, side.stop) for side in box)
                here = relative_to(part, box)
                score, total = self._score(label, part), self._total_in(bounds)[here]
                share, scored = self.masks.share(label, part), total > 0
                out[here] = np.divide(score, total, out=share, where=scored)
        for restored, where in self.restored.items():
            out[places_in(box, where, self.masks.shape)] = float(restored == label)

    @cached_property
    def _total_in(self) -> Callable[[tuple[tuple[int, int], ...]], Singles]:
        """The sum of all labels' scores in a box, cached for the labels that follow."""

        def add(bounds: tuple[tuple[int, int], ...]) -> Singles:
            box = tuple(slice(*pair) for pair in bounds)
            total = np.zeros([stop - start for start, stop in bounds])
            for label in range(self.masks.number_of_labels):
                part = intersection(self._region(label), box)
                if all(side.start < side.stop for side in part):
                    total[relative_to(part, box)] += self._score(label, part)
            return total.astype(np.float32)

        return lru_cache(maxsize=_BOXES_KEPT)(add)

    @cached_property
    def _total(self) -> PackedShares:
        """(\\*shape) sum of the scores of all labels."""
        total = np.zeros(self.masks.shape)
        for label in range(self.masks.number_of_labels):
            report(label / self.masks.number_of_labels)
            for part, score in self._scores(label, self._region(label)):
                total[part] += score
        some = slabs(self._whole, VOXELS_AT_ONCE)
        return PackedShares.joined([PackedShares.pack(total[p].astype(np.float32)) for p in some])

    @property
    def _whole(self) -> Box:
        return self.voted.box

    def _region(self, label: int) -> Box:
        """Return the box outside which the label's score is 0."""
        if self.masks.patterns is None or self.masks.present is not None:
            return self._whole
        found = self.answers.get(label)
        box = enclosing_box(self.masks.marked_box(label), None if found is None else found.box)
        return tuple(slice(0, 0) for _ in self.masks.shape) if box is None else box

    def _scores(self, label: int, box: Box) -> Iterator[tuple[Box, Floats]]:
        """Yield the corrected share of a label in parts of a box, without restored components."""
        for part in slabs(box, VOXELS_AT_ONCE):
            yield part, self._score(label, part)

    def _score(self, label: int, part: Box) -> Floats:
        found = self.answers.get(label)
        both = part if found is None else intersection(found.box, part)
        if found is not None and both == part:
            score: Floats = found.probability(part).astype(np.float64)
        else:
            score = self.masks.share(label, part)
            if found is not None and all(side.start < side.stop for side in both):
                score[relative_to(both, part)] = found.probability(both)
        annotated = self.masks.annotated_voxels(part)
        if annotated is not None:
            score = np.where(annotated, score, self.frequencies[label])
        return score


def places_in(box: Box, where: NDArray[np.intp], shape: Sequence[int]) -> tuple[Any, ...]:
    """Return the indices relative to a box of the voxels inside it, of ascending flat indices."""
    planes = [box[0].start, box[0].stop]
    first, last = where.searchsorted(np.multiply(planes, math.prod(shape[1:])))
    indices = np.unravel_index(where[first:last], tuple(shape))
    inside = np.ones(last - first, bool)
    for at, side in zip(indices, box, strict=True):
        inside &= (at >= side.start) & (at < side.stop)
    return tuple(at[inside] - side.start for at, side in zip(indices, box, strict=True))


def coherence_vote(
    masks: RaterMasks,
    spacing: Sequence[float],
    settings: CoherenceSettings = DEFAULT_SETTINGS,
    groups: Sequence[Sequence[int]] | None = None,
    voters: Mapping[int, LabelVoters] = NO_VOTERS,
) -> CoherenceResult:
    """Keep detail that raters share, smooth the rest, and threshold the result.

    Parameters
    ----------
    spacing : sequence of float
        Voxel size in mm, in array order. The first of four axes is time and is never smoothed.
    groups : sequence of sequences of int, optional
        Groups of copies, from `near_copies`, each of which counts as one rater.
    voters : mapping of int to LabelVoters, optional
        By label index, the groups used for that label; by default all groups.
    """
    every, masks = masks, masks if groups is None else masks.merged(groups)
    sides = smallest_sides(spacing)
    with stage(0.0, 0.1):
        places = _disputed_places(masks, settings.margin(sides))
    with stage(0.1, 0.9):
        answers = dict(_answer_labels(masks, places, sides, settings, voters))
    whole = tuple(slice(0, size) for size in masks.shape)
    voted = Blocked.made(masks.blocks(whole), partial(_decide, masks, answers))
    with stage(0.9, 1.0):
        voted, restored = _restore_unanimous(every, voted)
    return CoherenceResult(voted, masks.without_inputs(), answers, restored, masks.frequencies())


def _decide(masks: RaterMasks, answers: Mapping[int, LabelAnswer], within: Box) -> Indices:
    r"""Return the (\*within) label with the highest probability."""
    if answers:
        boxes = {label: found.box for label, found in answers.items()}
        leading = Leading.of(masks, boxes, within)
        for label, found in answers.items():
            leading.challenge(label, found, masks.number_of_labels)
        decision = leading.decision
    else:
        decision = first_votes(masks, within)
    annotated = masks.annotated_voxels(within)
    if annotated is not None:
        decision[~annotated] = UNDECIDED
    return decision


class _Place(NamedTuple):
    """A box around the disputed voxels of a label, and the part of the box inside the volume."""

    wide: Box
    box: Box


def _disputed_places(masks: RaterMasks, margin: Sequence[int]) -> dict[int, _Place]:
    """Return the places of labels on which raters differ; with two labels, of the
    foreground only.
    """
    labels = range(1 if masks.number_of_labels == 2 else 0, masks.number_of_labels)
    places = {}
    for label, tight in zip(labels, in_threads(masks.disputed_box, labels), strict=True):
        if tight is not None:
            # The border is extended beyond the volume, so that padding the volume with background
            # does not change the result.
            wide = widen_box(tight, margin)
            places[label] = _Place(wide, clip_box(wide, masks.shape))
    return places


def _answer_labels(
    masks: RaterMasks,
    places: dict[int, _Place],
    sides: Floats,
    settings: CoherenceSettings,
    voters: Mapping[int, LabelVoters],
) -> Iterator[tuple[int, LabelAnswer]]:
    """Yield the results of the disputed labels, in order."""

    def answer(label: int) -> LabelAnswer:
        wide, box = places[label]
        if label in voters and voters[label].absent:
            nothing = np.zeros([part.stop - part.start for part in box], np.float32)
            shares = Blocked(Blocks.of(box), nothing.dtype, [PackedShares.pack(nothing)])
            return LabelAnswer(box, shares, Cut(0.0, 1.0, 0.5))

        def read(part: Box) -> RaterField:
            around = to_volume(part, wide)
            inside = clip_box(around, masks.shape)
            raters = masks.field(label, inside).without(_silent(voters, masks, label, inside))
            return raters.extend_to(relative_to(around, inside))

        shape = tuple(part.stop - part.start for part in wide)
        corner = tuple(slice(part.start, part.start + 1) for part in box)
        everywhere = masks.present is None and _silent(voters, masks, label, corner) is None
        steps = grid_steps(shape, everywhere, sides, settings)
        blocks = masks.even_blocks(shape)
        field = LabelField(blocks, read, masks.weights, Scales(sides, settings, steps, shape))
        if len(blocks.boxes()) > 1:
            shares, cut = field.answer(PackedShares.pack)
            return LabelAnswer(box, shares.moved_by([part.start for part in wide]), cut)
        inner = relative_to(box, wide)
        shares, cut = field.answer(lambda found: PackedShares.pack(found[inner]))
        return LabelAnswer(box, replace(shares, blocks=Blocks.of(box)), cut)

    return zip(places, in_threads(answer, places), strict=True)


def _silent(
    voters: Mapping[int, LabelVoters], masks: RaterMasks, label: int, box: Box
) -> Mask | None:
    """Return a (J, \\*box) mask of the voxels from which raters are excluded, or None.

    A rater who is excluded around an object is also excluded from the background around it.
    """
    if label:
        return voters[label].silent(box) if label in voters else None
    silent: Mask | None = None
    for other, asked in voters.items():
        marked_box = masks.marked_box(other)
        if marked_box is None or asked.absent:
            continue
        both = intersection(box, marked_box)
        away = asked.silent(both)
        if away is None:
            continue
        if silent is None:
            silent = np.zeros((away.shape[0], *(part.stop - part.start for part in box)), bool)
        if not away.size:
            continue
        marked = masks.marks(other, both).any(axis=0)
        silent[(slice(None), *relative_to(both, box))] |= away & marked
    return silent


def _restore_unanimous(
    masks: RaterMasks, voted: Blocked
) -> tuple[Blocked, dict[int, NDArray[np.intp]]]:
    """Restore lost unanimous components of two or more voxels.

    Returns the labels, and the flat indices of the restored voxels by label.
    """
    if masks.number_of_raters < RATERS_TO_GUARANTEE:
        return voted, {}
    labels = range(1, masks.number_of_labels)
    # Unanimous voxels have only one label, so labels cannot overlap.
    found = in_threads(lambda label: _lost_unanimous(masks, label, voted), labels)
    lost = {label: one for label, one in zip(labels, found, strict=True) if one is not None}
    if not lost:
        return voted, {}

    def restore(box: Box) -> Indices:
        decision = voted.read(box).copy()
        for label, one in lost.items():
            both = intersection(one.box, box)
            decision[relative_to(both, box)][one.read(both)] = label
        return decision

    restored = {label: one.flat_indices(masks.shape) for label, one in lost.items()}
    return Blocked.made(voted.blocks, restore), restored


def _lost_unanimous(masks: RaterMasks, label: int, voted: Blocked) -> Blocked | None:
    """Return the voxels of a label's lost unanimous components; None if there are none."""
    box = masks.marked_box(label)
    if box is None:
        return None

    def unanimous(block: Box) -> Mask:
        found = np.empty([part.stop - part.start for part in block], bool)
        for part in masks.parts(block):
            found[relative_to(part, block)] = _unanimous(masks, label, part)
        return found

    blocks = masks.blocks(box)
    chosen = Blocked.made(blocks, lambda block: voted.read(block) == label)
    lost = lost_pieces(Blocked.made(blocks, unanimous), chosen)
    return lost if lost.any() else None


def _unanimous(masks: RaterMasks, label: int, box: Box) -> Mask:
    """Return the voxels marked by all raters who annotated them, given enough raters."""
    if masks.present is None:
        return marked_by_all(masks.bits(label, box), masks.number_of_raters)
    marked = masks.marks(label, box)
    present = masks.present_in(box)
    unanimous = np.asarray((marked | ~present).all(axis=0))
    unanimous &= present.sum(axis=0) >= RATERS_TO_GUARANTEE
    return unanimous
