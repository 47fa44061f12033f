"""Select the raters used for each label, and the regions in which they are used.

The existence of a structure and the position of its outline are decided separately.

- Existence is decided by majority: a label is absent if more than half of the raters who annotated
  its location left it empty.
- A rater who did not find an existing object provides no information about its outline, and is
  excluded around it.
- An object that no majority found is assumed to exist only if it is probable according to
  `detection`, given how many of the other objects these raters miss; a single object provides no
  such evidence.
- A rater who marked a different structure than the others is excluded from the outline, since this
  rater would decide wherever the others are split. A rater who covers the others' structure, but
  leaked at one place, is still used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.lesions.detection import detect
from itk_consensus.space.blocks import Blocked, Blocks
from itk_consensus.space.boxes import Box, grow_box, intersection, relative_to, widen_box
from itk_consensus.space.pieces import BlockPieces, block_finders, block_pieces
from itk_consensus.space.rater_field import bits_of, has_marks, marked_by_any
from itk_consensus.votes.overlap import dice

#: Minimum size in voxels of a lone mark, or of an intersection of two raters' masks, that is not
#: attributed to chance.
LEAST_VOXELS = 6

#: Minimum mean Dice between the finders of an object for which they are assumed to have drawn the
#: same structure.
LEAST_AGREEMENT = 0.5

#: Minimum radius of an object, in units of the smallest voxel side. A thinner object may be missing
#: in a rater's mask due to a contour error, which is information about the outline.
LEAST_RADIUS = 2.2

#: Minimum number of objects for estimating which proportion of them the raters miss.
LEAST_OBJECTS = 3

#: Minimum informedness (sensitivity + specificity - 1) about the others' outline at which a rater
#: is considered to have leaked. It is 0 for a mask that is wider all around, or located elsewhere.
LEAST_INFORMEDNESS = 0.5

#: Width in voxels of the shell around the others' masks in which informedness is measured.
OUTLINE = 2


class FoundObject(NamedTuple):
    """An existing object that some raters did not find."""

    finders: tuple[int, ...]
    voxels: int  #: Number of voxels marked by at least one rater
    #: Probability that the object exists, if no majority found it; else NaN.
    there: float
    box: Box  #: Bounding box of the object's cell
    cell: Mask  #: (*box) voxels closer to this object than to any other
    where: Mask  #: (*box) voxels marked by at least one rater

    @property
    def is_rescued(self) -> bool:
        """Whether the object was kept although no majority found it."""
        return not np.isnan(self.there)


@dataclass(frozen=True)
class LabelVoters:
    """Raters used for one label."""

    number: int  #: Number of raters, J
    drew: Mask  #: (J,) whether each rater marked any voxel of the label
    annotated: Mask  #: (J,) whether each rater annotated any voxel that some rater marked
    #: Whether more than half of the raters in `annotated` left the label empty
    absent: bool = False
    elsewhere: tuple[int, ...] = ()  #: Raters who marked a different structure and are not used
    found: tuple[FoundObject, ...] = ()  #: Objects that some raters did not find

    @property
    def asked(self) -> NDArray[np.intp]:
        """Indices of the raters who drew the label and are used for its outline."""
        return np.array([j for j in np.flatnonzero(self.drew) if j not in self.elsewhere], np.intp)

    @property
    def rescued(self) -> tuple[FoundObject, ...]:
        """Objects that no majority found."""
        return tuple(one for one in self.found if one.is_rescued)

    def silent(self, box: Box) -> Mask | None:
        """Return a (J, \\*box) mask of the voxels from which each rater is excluded, or None."""
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
    """Return the raters used for a label; None if no rater marked it.

    Parameters
    ----------
    masks : RaterMasks
        Raters, with copies merged.
    index : int
        Index of the label.
    elsewhere : sequence of int, optional
        Raters who marked a different structure than the others; None if there are too many raters
        to compare, in which case all are used everywhere.
    members : sequence of int
        (J,) number of raters merged into each entry; copies count separately in the vote on
        absence.
    margin : sequence of int
        Margin in voxels per axis around an object within which raters who did not find it are
        excluded.
    sides : (axes,) ndarray
        Length of the smallest voxel side, in voxels along each axis.
    """
    around = masks.marked_box(index)
    if around is None:
        return None
    drew, annotated = _drew_and_annotated(masks, index, around)
    everybody = np.asarray(members)
    empty = everybody[annotated & ~drew].sum()
    if empty > everybody[annotated].sum() / 2:
        return LabelVoters(masks.number_of_raters, drew, annotated, absent=True)
    if elsewhere is None:
        return LabelVoters(masks.number_of_raters, drew, annotated)
    away = tuple(j for j in elsewhere if not _has_leaked(masks, index, around, elsewhere, j))
    found = _partly_found_objects(masks, index, around, away, margin, sides)
    return LabelVoters(masks.number_of_raters, drew, annotated, False, away, found)


def _has_leaked(
    masks: RaterMasks, index: int, around: Box, elsewhere: Sequence[int], rater: int
) -> bool:
    """Return whether a rater matches the others' outline except for a leak."""
    number = masks.number_of_raters
    blocks = masks.blocks(around).boxes()
    drew = np.any([has_marks(masks.bits(index, block), number) for block in blocks], axis=0)
    others = [j for j in np.flatnonzero(drew).tolist() if j not in elsewhere]

    def count(block: Box) -> list[int]:
        """Count the others' intersection, the shell around it, and the rater's voxels in both."""
        wide = widen_box(block, [OUTLINE] * len(block))
        marks = np.zeros((number, *(part.stop - part.start for part in wide)), bool)
        inside = intersection(wide, around)
        if all(part.stop > part.start for part in inside):
            marks[(slice(None), *relative_to(inside, wide))] = masks.marks(index, inside)
        drawn = np.asarray(marks[others].any(axis=0))
        outside = scipy.ndimage.binary_dilation(drawn, iterations=OUTLINE) & ~drawn
        here = relative_to(block, wide)
        shared = np.asarray(marks[others].all(axis=0))
        own, shared, outside = (field[here] for field in (marks[rater], shared, outside))
        counted = (shared, outside, own & shared, own & outside)
        return [int(np.count_nonzero(one)) for one in counted]

    # The shell may extend beyond the volume.
    wider = masks.blocks(widen_box(around, [OUTLINE] * len(around))).boxes()
    shared, outside, covered, wrong = np.sum([count(block) for block in wider], axis=0).tolist()
    if not others or not shared:
        return False
    return bool(covered / shared - wrong / outside >= LEAST_INFORMEDNESS)


def _drew_and_annotated(masks: RaterMasks, index: int, around: Box) -> tuple[Mask, Mask]:
    """Return (J,) whether each rater marked any voxel of a label, and annotated any mark."""
    number = masks.number_of_raters
    drew, looked = np.zeros(number, bool), np.full(number, masks.present is None)
    for part in masks.parts(around):
        if masks.present is None:
            drew |= has_marks(masks.bits(index, part), number)
            if drew.all():
                break
        else:
            here = masks.present_in(part)
            marks = masks.marks(index, part) & here
            drew |= marks.reshape(len(marks), -1).any(axis=1)
            looked |= here[:, marks.any(axis=0)].any(axis=1)
    return drew, looked


def _partly_found_objects(
    masks: RaterMasks,
    index: int,
    around: Box,
    away: Sequence[int],
    margin: Sequence[int],
    sides: Floats,
) -> tuple[FoundObject, ...]:
    """Return the existing objects that some raters did not find."""
    # Skipped with missing annotations, which are not misses, and in 4D.
    if masks.present is not None or len(masks.shape) > 3:
        return ()
    pieces = _FoundPieces.of(masks, index, masks.blocks(around), away)
    raters = pieces.number_of_raters
    finders = pieces.found.sum(axis=0)
    partly = pieces.large & (finders < raters)
    if not partly.any():
        return ()
    alike = {}
    for piece in pieces.pieces.in_blocks(partly & (finders > 1)):
        drawn = pieces.drawn(masks, index, piece)
        same = mean_dice(drawn) >= LEAST_AGREEMENT
        alike[piece] = same and _radius(drawn.mean(axis=0) > 0.5, sides) >= LEAST_RADIUS
    counted = pieces.large & ((finders == 1) | (finders == raters))
    counted[[piece for piece, same in alike.items() if same]] = True
    there = np.zeros(len(finders))
    there[counted] = detect(pieces.found[:, counted].T, pieces.pieces.sizes[counted]).there
    enough = np.count_nonzero(counted) >= LEAST_OBJECTS
    found = {}
    for piece in (piece for piece, same in alike.items() if same):
        majority = 2 * finders[piece] > raters
        if majority or (enough and there[piece] >= 0.5):
            probability = np.nan if majority else float(there[piece])
            found[piece] = pieces.as_object(piece, probability, margin, masks.shape)
    return tuple(found[piece] for piece in sorted(found))


class _FoundPieces(NamedTuple):
    """Connected components of the union of masks of the raters in use; 0 is background."""

    pieces: BlockPieces  #: Connected components in the box around the label
    raters: NDArray[np.intp]  #: Indices of the raters in use
    found: Mask  #: (raters, P + 1) whether each rater marked any voxel of each piece
    #: (P + 1,) whether a lone mark, or an intersection, is too large to be due to chance
    large: Mask

    @classmethod
    def of(cls, masks: RaterMasks, index: int, blocks: Blocks, away: Sequence[int]) -> _FoundPieces:
        number = masks.number_of_raters
        asked = np.array([j for j in range(number) if j not in away])
        used = bits_of(asked, number)

        def bits_in(block: Box) -> NDArray[np.uint8]:
            return masks.bits(index, block) & used.reshape(-1, *(1,) * len(block))

        pieces = block_pieces(Blocked.made(blocks, lambda box: marked_by_any(bits_in(box), used)))
        found, shared = block_finders(pieces, bits_in, number)
        found = found[asked]
        large = np.where(found.sum(axis=0) > 1, shared, pieces.sizes) >= LEAST_VOXELS
        return cls(pieces, asked, found, large)

    @property
    def number_of_raters(self) -> int:
        return len(self.raters)

    def drawn(self, masks: RaterMasks, index: int, piece: int) -> Mask:
        """Return the (finders, \\*box) masks of a piece."""
        box = self.pieces.box(piece)
        finders = self.raters[self.found[:, piece]]
        marks = masks.marks(index, box)[finders]
        return np.asarray(marks & (self.pieces.places.read(box) == piece))

    def as_object(
        self,
        piece: int,
        there: float,
        margin: Sequence[int],
        shape: Sequence[int],
    ) -> FoundObject:
        """Build the object of a piece, with the cell in which this is the nearest piece."""
        wide = grow_box(self.pieces.box(piece), margin, shape)
        near = np.zeros([part.stop - part.start for part in wide], np.int32)
        both = intersection(wide, self.pieces.places.box)
        near[relative_to(both, wide)] = self.pieces.places.read(both)
        _, nearest = scipy.ndimage.distance_transform_edt(near == 0, return_indices=True)
        cell = near[tuple(nearest)] == piece
        finders = tuple(int(j) for j in self.raters[self.found[:, piece]])
        return FoundObject(finders, int(self.pieces.sizes[piece]), there, wide, cell, near == piece)


def _radius(mask: Mask, sides: Floats) -> float:
    """Return the radius of the largest ball inside a mask, in units of the smallest voxel side."""
    distances = scipy.ndimage.distance_transform_edt(np.pad(mask, 1), sampling=1 / sides)
    return float(distances.max())


def mean_dice(drawn: Mask) -> float:
    """Return the mean Dice between pairs of (J, \\*shape) masks; 1 for a single mask."""
    pairs = [(a, b) for a in range(len(drawn)) for b in range(a)]
    return float(np.mean([dice(drawn[a], drawn[b]) for a, b in pairs])) if pairs else 1.0
