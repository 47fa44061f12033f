"""Which raters decide about a label, and where.

Whether a structure is there is one question, where its outline runs is another.

- Absence is a vote: a label that more than half of those who annotated left empty is absent.
- Who drew nothing of an object that is there says nothing about its outline, and is silent there.
- An object that no majority found is there only if `detection` says so, from how much these raters
  overlook of the others; one object alone tells nothing.
- A rater who marked something else than the others is not asked about the outline: the vote
  would decide just where the others are split. Who covers the others and leaked beyond them at one
  place drew the same, and is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.rater_masks import VOXELS_AT_ONCE, RaterMasks
from itk_consensus.methods.lesions.detection import detect
from itk_consensus.space.boxes import Box, grown, intersection, moved, relative_to, slabs
from itk_consensus.space.pieces import Pieces, finders_of, label_pieces
from itk_consensus.space.rater_field import bits_of, marked_by_any, who_marked
from itk_consensus.votes.overlap import dice

#: Voxels that two raters share, or that one marks alone: fewer may be chance.
LEAST_VOXELS = 6

#: Mean Dice between the finders of an object from which they drew the same thing.
LEAST_AGREEMENT = 0.5

#: Smallest voxel sides: what is thinner may have been drawn away by a contour's own error, and an
#: empty place says something about the outline.
LEAST_RADIUS = 2.2

#: Fewer objects do not tell how many of them these raters overlook.
LEAST_OBJECTS = 3

#: Mean share of each of the others that is covered by who drew the same and leaked.
LEAST_COVERED = 0.85

#: Smallest part of the others' outline, so many voxels wide, that is free of a leak; who is wider
#: all around tells nothing of the outline.
LEAST_FREE, OUTLINE = 0.5, 2


class FoundObject(NamedTuple):
    """An object that is there and that some raters did not find."""

    finders: tuple[int, ...]
    voxels: int  #: That any rater marked
    #: Probability that it is there, where no majority found it; NaN where one did.
    there: float
    box: Box  #: Around the cell
    cell: Mask  #: (*box) voxels nearer to this object than to any other
    where: Mask  #: (*box) voxels that any rater marked

    @property
    def is_rescued(self) -> bool:
        """Whether no majority found it."""
        return not np.isnan(self.there)


@dataclass(frozen=True)
class LabelVoters:
    """The raters used for one label."""

    number: int  #: J
    drew: Mask  #: (J,) who marked something of it
    annotated: Mask  #: (J,) who looked where any rater marked something
    absent: bool = False  #: Whether more than half of those left it empty
    elsewhere: tuple[int, ...] = ()  #: Who marked something else, and is not used
    found: tuple[FoundObject, ...] = ()

    @property
    def asked(self) -> NDArray[np.intp]:
        """Who drew the label and is used for its outline."""
        return np.array([j for j in np.flatnonzero(self.drew) if j not in self.elsewhere], np.intp)

    @property
    def rescued(self) -> tuple[FoundObject, ...]:
        """Objects that no majority found."""
        return tuple(one for one in self.found if one.is_rescued)

    def silent(self, box: Box) -> Mask | None:
        """(J, \\*box) who is not asked; None: everybody is."""
        if not (self.elsewhere or self.found):
            return None
        silent = np.zeros((self.number, *(part.stop - part.start for part in box)), bool)
        silent[list(self.elsewhere)] = True
        for one in self.found:
            both = intersection(one.box, box)
            cell = one.cell[relative_to(both, one.box)]
            for rater in set(range(self.number)) - set(one.finders):
                silent[rater][relative_to(both, box)] |= cell
        return silent


def label_voters(
    masks: RaterMasks,
    index: int,
    elsewhere: Sequence[int] | None,
    members: Sequence[int],
    margin: Sequence[int],
    sides: Floats,
) -> LabelVoters | None:
    """The raters used for a label; None if no rater marked it.

    Parameters
    ----------
    masks : RaterMasks
        Copies merged.
    index : int
        Of the label.
    elsewhere : sequence of int, optional
        Who marked something else than the others; None where raters are too many to be compared,
        and then whoever annotated is asked everywhere.
    members : sequence of int
        (J,) how many raters were merged into each: absence is everybody's vote.
    margin : sequence of int
        Voxels per axis around an object in which who did not find it is silent.
    sides : (axes,) ndarray
        The smallest voxel side in voxels of each axis.
    """
    around = masks.marked_box(index)
    if around is None:
        return None
    drew, annotated = _who(masks, index, around)
    everybody = np.asarray(members)
    empty = everybody[annotated & ~drew].sum()
    if empty > everybody[annotated].sum() / 2:
        return LabelVoters(masks.number_of_raters, drew, annotated, absent=True)
    if elsewhere is None:
        return LabelVoters(masks.number_of_raters, drew, annotated)
    away = tuple(j for j in elsewhere if not _leaked(masks, index, around, elsewhere, j))
    found = _partly_found(masks, index, around, away, margin, sides)
    return LabelVoters(masks.number_of_raters, drew, annotated, False, away, found)


def _leaked(
    masks: RaterMasks, index: int, around: Box, elsewhere: Sequence[int], rater: int
) -> bool:
    """Whether a rater covers those who are not elsewhere, and most of their outline is his."""
    marks = masks.marks(index, around)
    own, others = marks[rater], np.delete(marks, list(elsewhere), axis=0)
    others = others[others.reshape(len(others), -1).any(axis=1)]
    covered = [np.count_nonzero(own & other) / np.count_nonzero(other) for other in others]
    if not covered or np.mean(covered) < LEAST_COVERED:
        return False
    drawn = np.pad(others.any(axis=0), OUTLINE)
    outline = scipy.ndimage.binary_dilation(drawn, iterations=OUTLINE) & ~drawn
    free = np.count_nonzero(outline & ~np.pad(own, OUTLINE))
    return bool(free > LEAST_FREE * np.count_nonzero(outline))


def _who(masks: RaterMasks, index: int, around: Box) -> tuple[Mask, Mask]:
    """(J,) who marked something of a label, and who annotated some of what any rater marked."""
    number = masks.number_of_raters
    drew, looked = np.zeros(number, bool), np.full(number, masks.present is None)
    for part in slabs(around, VOXELS_AT_ONCE):
        if masks.present is None:
            drew |= who_marked(masks.bits(index, part), number)
            if drew.all():
                break
        else:
            here = masks.present[(slice(None), *part)]
            marks = masks.marks(index, part) & here
            drew |= marks.reshape(len(marks), -1).any(axis=1)
            looked |= here[:, marks.any(axis=0)].any(axis=1)
    return drew, looked


def _partly_found(
    masks: RaterMasks,
    index: int,
    around: Box,
    away: Sequence[int],
    margin: Sequence[int],
    sides: Floats,
) -> tuple[FoundObject, ...]:
    """Objects that are there and that some raters did not find."""
    # Who did not look did not overlook; and time connects nothing.
    if masks.present is not None or len(masks.shape) > 3:
        return ()
    pieces = _FoundPieces.of(masks, index, around, away)
    raters = pieces.number_of_raters
    finders = pieces.found.sum(axis=0)
    partly = np.flatnonzero(pieces.large & (finders < raters))
    if not len(partly):
        return ()
    alike = {}
    for piece in partly[finders[partly] > 1].tolist():
        drawn = pieces.drawn(masks, index, around, piece)
        same = mean_dice(drawn) >= LEAST_AGREEMENT
        alike[piece] = same and _radius(drawn.mean(axis=0) > 0.5, sides) >= LEAST_RADIUS
    counted = pieces.large & ((finders == 1) | (finders == raters))
    counted[[piece for piece, same in alike.items() if same]] = True
    there = np.zeros(len(finders))
    there[counted] = detect(pieces.found[:, counted].T, pieces.pieces.sizes[counted]).there
    enough = np.count_nonzero(counted) >= LEAST_OBJECTS
    found = []
    for piece in (piece for piece, same in alike.items() if same):
        majority = 2 * finders[piece] > raters
        if majority or (enough and there[piece] >= 0.5):
            probability = np.nan if majority else float(there[piece])
            found.append(pieces.as_object(piece, probability, around, margin, masks.shape))
    return tuple(found)


class _FoundPieces(NamedTuple):
    """Connected pieces of what the raters used marked, by number; 0 is background."""

    pieces: Pieces  #: Of the box around the label
    raters: NDArray[np.intp]  #: Who is asked
    found: Mask  #: (raters, P + 1) who marked something of each piece
    large: Mask  #: (P + 1,) whether a lone mark, or what two share, is too large to be chance

    @classmethod
    def of(cls, masks: RaterMasks, index: int, around: Box, away: Sequence[int]) -> _FoundPieces:
        number = masks.number_of_raters
        asked = np.array([j for j in range(number) if j not in away])
        bits = masks.bits(index, around)
        used = bits_of(asked, number)
        bits &= used.reshape(-1, *(1,) * len(around))
        pieces = label_pieces(marked_by_any(bits, used))
        found, shared = finders_of(pieces, bits, number)
        found = found[asked]
        large = np.where(found.sum(axis=0) > 1, shared, pieces.sizes) >= LEAST_VOXELS
        return cls(pieces, asked, found, large)

    @property
    def number_of_raters(self) -> int:
        return len(self.raters)

    def drawn(self, masks: RaterMasks, index: int, around: Box, piece: int) -> Mask:
        """(finders, \\*box) what the finders of a piece drew of it."""
        box = self.pieces.box(piece)
        marks = masks.marks(index, moved(box, around))
        finders = self.raters[self.found[:, piece]]
        return np.asarray(marks[finders] & (self.pieces.places[box] == piece))

    def as_object(
        self,
        piece: int,
        there: float,
        around: Box,
        margin: Sequence[int],
        shape: Sequence[int],
    ) -> FoundObject:
        """With the cell in which this piece is the nearest."""
        wide = grown(moved(self.pieces.box(piece), around), margin, shape)
        near = np.zeros([part.stop - part.start for part in wide], np.int32)
        both = intersection(wide, around)
        near[relative_to(both, wide)] = self.pieces.places[relative_to(both, around)]
        _, nearest = scipy.ndimage.distance_transform_edt(near == 0, return_indices=True)
        cell = near[tuple(nearest)] == piece
        finders = tuple(int(j) for j in self.raters[self.found[:, piece]])
        return FoundObject(finders, int(self.pieces.sizes[piece]), there, wide, cell, near == piece)


def _radius(mask: Mask, sides: Floats) -> float:
    """Of the largest ball inside a mask, in smallest voxel sides."""
    distances = scipy.ndimage.distance_transform_edt(np.pad(mask, 1), sampling=1 / sides)
    return float(distances.max())


def mean_dice(drawn: Mask) -> float:
    """Mean Dice between every two of (J, \\*shape) masks; 1 of a single one."""
    pairs = [(a, b) for a in range(len(drawn)) for b in range(a)]
    return float(np.mean([dice(drawn[a], drawn[b]) for a, b in pairs])) if pairs else 1.0
