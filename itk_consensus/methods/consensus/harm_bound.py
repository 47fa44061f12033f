"""A bound on harm: where a result leaves the vote without a known reason, it returns to it.

A consensus leaves the vote to smooth what raters do not share, to ask only those who found an
object about its outline, and to add what `detection` says is there. Whatever it was made by, five
things hold of every label:

- A component that more than half of the raters marked, and marked alike, is not lost; nor is a
  label whole, if the vote has one thing of it and not specks.
- A component of which the vote has nothing was found by more than half of the raters, or rescued.
- A hole that half of the raters left out alike, inside what the others drew, stays a hole.
- A small label among others is hardly larger than most of its raters drew it.
- Who is asked and agrees with most of the others loses no more than `LARGEST_LOSS` of Dice against
  the vote; nor does what two of them share. Readers of a thin or tiny structure may differ fourfold
  in volume: who does not agree with most loses no more than half of the distance between the two
  who are farthest apart, for an answer in the middle between readers needs no other reason. One of
  them all may have slipped, and is left out when that distance is measured. Where more is lost, the
  region returns to the vote.

Where somebody did not find an object, its finders lose no more than `LARGEST_LOSS`, unless the
answer is as close to them as the other finders are. None of this holds in noise, where the vote is
close to every reader because it shares their specks, and an answer without them is not.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.components import lost_components
from itk_consensus.methods.consensus.label_voters import (
    LEAST_AGREEMENT,
    LEAST_VOXELS,
    LabelVoters,
    mean_dice,
)
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.space.boxes import Box, grown, intersection, relative_to
from itk_consensus.space.pieces import Pieces, label_pieces
from itk_consensus.space.rater_field import bits_of, marked_by_any, unpack_bits
from itk_consensus.votes.overlap import dice_of

#: Dice that who agrees with most readers may lose against the vote.
LARGEST_LOSS = 0.02

#: Readers with this Dice to each other agree.
AGREEMENT = 0.9

#: Share of the distance between two readers from each of them to the middle: so much may be lost by
#: who does not agree with most.
TO_THE_MIDDLE = 0.5

#: Mean Dice to the best corroborated readers that an answer may lose against a vote whose ties are
#: background.
LARGEST_DROP = 0.01

#: Of more readers, pairs are too many to look at, and none of them stands alone.
MOST_IN_PAIRS = 8

#: Counts below this are exact in single precision.
EXACT_IN_SINGLE = 1 << 24

#: Readers corroborate each other best whose distance 1 - Dice to their two nearest is at most so
#: many times the smallest.
CORROBORATION = 2.0

#: Share of the vote in components that the answer does not have from which the vote is noise.
NOISE = 0.002

#: Components of a majority that are expected by chance, from which one of them may be lost.
CHANCE = 0.001

#: Ways in which a voxel connects to the next, by which chance is multiplied for each further one.
WAYS_TO_CONNECT = 8.0

#: Share of the border of a filled hole that may lie outside the label: a hole lies within, what is
#: tied along a contour touches the outside with half of its border.
OPEN_BORDER = 0.4

#: Mean Dice between what raters left out from which they left out the same hole.
SPARED_ALIKE = 0.7

#: Voxels of a label that is small: hardly any of it lies far from its contour, so that what raters
#: leave out of it is their contours' wandering, and no sign that they missed a part.
SMALL_LABEL = 1000

#: How much larger than most of its raters drew it a small label may become.
LARGEST_GROWTH = 1.1

#: The vote of all raters, where votes are summed as whole numbers.
VOTES_OF_ALL = 1 << 20

#: Weights along each axis of the voxels whose votes count as those around one.
NEIGHBOURS = (1, 2, 1)

#: A share of votes above this is a majority.
MAJORITY = 0.5 + 1e-9

#: Voxels around a component within which the marks that belong to it lie.
REACH = 2


class BoundedLabel(NamedTuple):
    """A label's mask in a box, and how many of its parts were changed."""

    mask: Mask
    restored: int = 0  #: Components that a majority marked and the answer had lost
    removed: int = 0  #: Components that no majority found
    returned: int = 0  #: Regions that have the vote's outline
    opened: int = 0  #: Holes that half of the raters left out, and the answer had filled
    given_up: int = 0  #: Voxels by which a small label was larger than its raters drew it
    vote_is_noise: bool = False  #: Whether the vote has specks that the answer does not

    @property
    def is_changed(self) -> bool:
        """Whether the vote had a word."""
        return any((self.restored, self.removed, self.returned, self.opened, self.given_up))


def bound_harm(
    masks: RaterMasks, index: int, decision: NDArray[Any], voters: LabelVoters, box: Box
) -> BoundedLabel:
    """Apply the bound to the result of a label.

    Parameters
    ----------
    masks : RaterMasks
        Copies merged.
    index : int
        Of the label, which is not absent.
    decision : (\\*box) ndarray of int
        Label indices, in a box around all that any rater marked.
    voters : LabelVoters
        Who was asked about it.
    """
    answer = decision == index
    share = masks.share(index, box)
    vote, tied = share > MAJORITY, np.abs(share - 0.5) <= MAJORITY - 0.5
    if np.array_equal(vote, answer):
        return BoundedLabel(answer)
    others = (decision > 0) & ~answer
    case = _Case(masks.bits(index, box), answer, others, vote, tied, voters, box)
    if not answer.any() and case.vote_is_one_thing():
        return BoundedLabel(case.largest_of_vote(), restored=1)
    restored, number_restored = case.wrongly_lost()
    removed, number_removed = case.wrongly_gained(answer | restored)
    mask = (answer | restored) & ~removed
    if case.vote_is_noise():
        return BoundedLabel(mask, number_restored, number_removed, vote_is_noise=True)
    filled, opened = case.filled_holes(mask)
    mask, returned = case.returned(mask & ~filled)
    grown_by = case.growth(mask, share) if masks.number_of_labels > 2 else np.zeros(0, np.intp)
    if len(grown_by):
        mask = mask.copy()
        mask.reshape(-1)[grown_by] = False
    counts = number_restored, number_removed, returned, opened, len(grown_by)
    return BoundedLabel(mask, *counts)


class _Case(NamedTuple):
    """One label in a box."""

    bits: NDArray[np.uint8]  #: (ceil(J / 8), *box) what each rater marked
    answer: Mask
    others: Mask  #: Where other labels are
    vote: Mask  #: Where more than half mark the label
    tied: Mask  #: Where half do
    voters: LabelVoters
    box: Box

    def marks(self, box: Box = ()) -> Mask:
        """(J, \\*box) what each rater marked, of a part of the box."""
        return unpack_bits(self.bits[(slice(None), *box)], self.voters.number)

    def wrongly_lost(self) -> tuple[Mask, int]:
        """Components of the vote that the result lost although their raters marked them alike."""
        lost = lost_components(self.vote, self.answer)
        if not lost.any():
            return lost, 0
        pieces = label_pieces(lost)
        by_chance = self._chance_of_majority()
        # In logarithms: large pieces have too many voxels for a power.
        further = (pieces.sizes - 1) * np.log(np.maximum(WAYS_TO_CONNECT * by_chance, 1e-300))
        kept = np.log(max(lost.size * by_chance, 1e-300)) + further < np.log(CHANCE)
        kept[0] = False
        # Where chance makes no majority at all, nobody needs to have drawn alike; but the vote
        # counts a rater of something else, too.
        if self.voters.elsewhere or lost.size * by_chance >= CHANCE:
            for piece in np.flatnonzero(kept).tolist():
                kept[piece] = self._marked_alike(pieces, piece)
        return pieces.any_of(kept), int(kept.sum())

    def _chance_of_majority(self) -> float:
        """That most of those asked mark a voxel far from answer and vote, each on his own."""
        asked = self.marks()[self.voters.asked]
        far = ~scipy.ndimage.binary_dilation(self.answer | self.largest_of_vote(), iterations=3)
        rates = asked[:, far].mean(axis=1) if far.any() else np.zeros(len(asked))
        number_who_mark = np.ones(1)
        for rate in rates:
            number_who_mark = np.convolve(number_who_mark, [1 - rate, rate])
        return float(number_who_mark[len(asked) // 2 + 1 :].sum())

    def vote_is_one_thing(self) -> bool:
        """Whether at least half of the vote is one component, and that no speck."""
        largest = np.count_nonzero(self.largest_of_vote())
        return bool(largest >= max(LEAST_VOXELS, np.count_nonzero(self.vote) / 2))

    def largest_of_vote(self) -> Mask:
        """The vote's largest component, which is no speck."""
        pieces = label_pieces(self.vote)
        return np.asarray((pieces.places == pieces.sizes.argmax()) & self.vote)

    def _marked_alike(self, pieces: Pieces, piece: int) -> bool:
        """Whether raters drew the same thing there, apart from what the answer has."""
        wide = grown(pieces.box(piece), [REACH] * self.answer.ndim, self.answer.shape)
        marks = self.marks(wide)
        around = label_pieces(marks.any(axis=0) & ~self.answer[wide]).places
        belonging = np.unique(around[pieces.places[wide] == piece])
        drawn = marks & np.isin(around, belonging[belonging > 0])
        return mean_dice(drawn[drawn.reshape(len(drawn), -1).any(axis=1)]) >= LEAST_AGREEMENT

    def wrongly_gained(self, mask: Mask) -> tuple[Mask, int]:
        """Components of a mask that neither the vote has nor a majority found, nor were rescued."""
        gained = lost_components(mask, self.vote)
        if not gained.any():
            return gained, 0
        pieces = label_pieces(gained)
        found = np.zeros(pieces.number + 1, np.int64)
        for marks in self.marks():
            found += ~pieces.without(marks)
        wrong = 2 * found <= self.voters.number
        wrong[0] = False
        wrong[self._pieces_of_objects(pieces.places)] = False
        return pieces.any_of(wrong), int(wrong.sum())

    def _pieces_of_objects(self, pieces: NDArray[np.int32]) -> NDArray[np.int32]:
        """Pieces that belong to objects which some raters did not find."""
        found = [np.zeros(0, np.int32)]
        for one in self.voters.found:
            both = intersection(one.box, self.box)
            inside = one.where[relative_to(both, one.box)]
            found.append(np.unique(pieces[relative_to(both, self.box)][inside]))
        return np.concatenate(found)

    def filled_holes(self, mask: Mask) -> tuple[Mask, int]:
        """Voxels of holes that half of the raters left out alike and a mask does not."""
        asked = self.voters.asked
        tied = mask & self.tied
        if len(asked) < 3 or np.count_nonzero(tied) < LEAST_VOXELS:
            return np.zeros(mask.shape, bool), 0
        pieces = label_pieces(tied)
        holes = pieces.sizes >= LEAST_VOXELS
        holes[0] = False
        for piece in np.flatnonzero(holes).tolist():
            holes[piece] = self._is_hole(pieces, piece, mask)
        return pieces.any_of(holes), int(holes.sum())

    def _is_hole(self, pieces: Pieces, piece: int, mask: Mask) -> bool:
        """Whether a tied piece lies within a mask, and who left it out left out the same."""
        wide = grown(pieces.box(piece), [REACH] * mask.ndim, mask.shape)
        here, inside = pieces.places[wide] == piece, mask[wide]
        border = scipy.ndimage.binary_dilation(here) & ~here
        if np.count_nonzero(border & ~inside) > OPEN_BORDER * np.count_nonzero(border):
            return False
        near = scipy.ndimage.binary_dilation(here, iterations=REACH)
        left_out = ~self.marks(wide)[self.voters.asked] & inside & near
        who = 2 * np.count_nonzero(left_out[:, here], axis=1) >= np.count_nonzero(here)
        enough = 2 * np.count_nonzero(who) >= len(who)
        return bool(enough and mean_dice(left_out[who]) >= SPARED_ALIKE)

    def growth(self, mask: Mask, share: Floats) -> NDArray[np.intp]:
        """Flat indices by which a small label exceeds its raters, those of fewest votes first.

        Of equal votes those go first that have fewest around them; equal ones go together, or the
        order of voxels would choose.
        """
        size, voxels = float(np.count_nonzero(self.vote)), int(np.count_nonzero(mask))
        if voxels > LARGEST_GROWTH * size and size < SMALL_LABEL and len(self.voters.asked):
            drawn = [np.count_nonzero(marks) for marks in self.marks()[self.voters.asked]]
            size = max(size, float(np.median(drawn)))
        excess = voxels - int(LARGEST_GROWTH * size)
        if size >= SMALL_LABEL or excess <= 0:
            return np.zeros(0, np.intp)
        gained = np.flatnonzero(mask & ~self.vote)
        if not len(gained):
            return gained
        # Sums of whole numbers are the same in any order, as in a mirrored image.
        votes = np.rint(share * VOTES_OF_ALL).astype(np.int64)
        around = votes
        for axis in range(votes.ndim):
            around = scipy.ndimage.correlate1d(around, NEIGHBOURS, axis, mode="constant")
        own, near = votes.reshape(-1)[gained], around.reshape(-1)[gained]
        order = np.lexsort((near, own))
        last = order[min(excess, len(order)) - 1]
        return np.asarray(gained[(own < own[last]) | ((own == own[last]) & (near <= near[last]))])

    def returned(self, mask: Mask) -> tuple[Mask, int]:
        """The mask, with the vote's outline where readers lose too much by its own."""
        asked = self.voters.asked
        if len(asked) < 3:
            return mask, 0
        differs = mask != self.vote
        drawn_by_any = marked_by_any(self.bits, bits_of(asked, self.voters.number))
        regions = label_pieces(drawn_by_any | mask | self.vote)
        pieces, number = regions.places, regions.number
        changed = np.bincount(pieces[differs], minlength=number + 1)
        voted = np.bincount(pieces[self.vote], minlength=number + 1)
        # So few voxels cannot lower a Dice to anybody by as much, or are a contour's noise.
        judged = (changed > LARGEST_DROP / 2 * voted) & (changed >= LEAST_VOXELS)
        judged[0] = False
        # An outline between two labels is both of theirs: returning one side would tear them.
        judged[pieces[self.others]] = False
        # Outlines of objects that some did not find are their finders', for that reason.
        by_finders = np.zeros(number + 1, bool)
        by_finders[self._pieces_of_objects(pieces)] = True
        number_returned = 0
        for piece in np.flatnonzero(judged).tolist():
            box = regions.box(piece)
            here = pieces[box] == piece
            drawn, answer = self.marks(box)[asked][:, here], mask[box][here]
            better = _better(
                drawn, answer, self.vote[box][here], self.tied[box][here], by_finders[piece]
            )
            if better is not None:
                if number_returned == 0:
                    mask = mask.copy()
                mask[box][here] = better
                number_returned += 1
        return mask, number_returned

    def vote_is_noise(self) -> bool:
        """Whether the vote has much that the answer dropped as specks."""
        pieces = label_pieces(self.vote)
        small = pieces.sizes < LEAST_VOXELS
        if not small[1:].any():
            return False
        specks = pieces.sizes[pieces.without(self.answer & self.vote) & small].sum()
        return bool(specks > NOISE * np.count_nonzero(self.vote))


def _better(drawn: Mask, answer: Mask, vote: Mask, tied: Mask, by_finders: bool) -> Mask | None:
    """The vote's outline of a region, where readers lose too much by the answer; None elsewhere.

    A tied vote has no say: there the answer stands, unless the readers who corroborate each other
    most would lose by it.

    Parameters
    ----------
    drawn : (J, N) ndarray of bool
        What those asked drew of a region's voxels.
    answer, vote, tied : (N,) ndarray of bool
        Of the same voxels.
    by_finders : bool
        Whether it is an object's that somebody did not find, and those are not asked.
    """
    drew = drawn.any(axis=1)
    drawn = drawn[drew]
    if len(drawn) < 3:
        return None
    with_ties = vote | (tied & answer)
    views = _Views.of(drawn, answer, with_ties)
    if by_finders or not drew.all():
        return with_ties if views.finders_lose() else None
    if views.lose():
        return with_ties
    if tied.any() and _Views.of(drawn, answer, vote).corroborated_lose():
        return vote
    return None


class _Views(NamedTuple):
    """How close answer and vote are to what readers drew of a region."""

    between: Floats  #: (J, J) Dice of every two readers
    answer: Floats  #: (J,) Dice of the answer to each reader
    vote: Floats  #: (J,) likewise of the vote
    lost_by_pairs: Floats  #: (J, J) Dice to what two readers share that is lost against the vote

    @classmethod
    def of(cls, drawn: Mask, answer: Mask, vote: Mask) -> _Views:
        """Of (J, N) marks of a region's voxels, and (N,) flags of answer and vote."""
        readers = len(drawn)
        # Where all of them agree only answer and vote need to be counted.
        agreed = drawn.all(axis=0)
        core = np.full(readers + 2, np.count_nonzero(agreed), np.float64)
        core[readers:] = np.count_nonzero(np.stack([answer, vote])[:, agreed], axis=1)
        maps = np.concatenate([drawn, answer[None], vote[None]])[:, ~agreed]
        exact = np.float32 if maps.shape[1] < EXACT_IN_SINGLE else np.float64
        disputed: NDArray[Any] = maps.astype(exact)
        shared = np.asarray(disputed @ disputed.T, np.float64) + np.minimum.outer(core, core)
        dices = _dices(shared)
        return cls(
            dices[:readers, :readers],
            dices[:readers, readers],
            dices[:readers, readers + 1],
            _lost_by_pairs(disputed, np.diag(shared), core),
        )

    def lose(self) -> bool:
        """Whether a reader, or what two share, loses more than the readers' spread explains."""
        agree = 2 * np.count_nonzero(self.between >= AGREEMENT, axis=1) > len(self.answer)
        to_the_middle = max(LARGEST_LOSS, TO_THE_MIDDLE * (1 - self._least_dice()))
        may_lose = np.where(agree, LARGEST_LOSS, to_the_middle)
        lost = self.vote - self.answer > may_lose
        lost_by_pairs = self.lost_by_pairs > np.maximum.outer(may_lose, may_lose)
        return bool(lost.any() or lost_by_pairs.any())

    def _least_dice(self) -> float:
        """Between two readers, if the one who is farthest from the others slipped."""
        farthest = np.unravel_index(self.between.argmin(), self.between.shape)
        rest = [np.delete(np.delete(self.between, j, axis=0), j, axis=1) for j in farthest]
        return max(float(dices.min()) for dices in rest)

    def finders_lose(self) -> bool:
        """Whether a finder loses, and the answer is farther from them than other finders are.

        Somebody found nothing, so that the vote is too small for a reason, and what two finders
        share may be the vote itself: only single readers count.
        """
        others = (self.between.sum(axis=1) - 1) / (len(self.answer) - 1)
        return bool((np.minimum(self.vote, others) - self.answer > LARGEST_LOSS).any())

    def corroborated_lose(self) -> bool:
        """Whether readers who corroborate each other lose, while others do not corroborate them."""
        between = self.between.copy()
        np.fill_diagonal(between, -1)
        distance = 1 - np.sort(between, axis=1)[:, -2:].mean(axis=1)
        best = distance <= CORROBORATION * float(distance.min()) + 1e-9
        if np.count_nonzero(best) < 3 or best.all():
            return False
        return bool((self.vote - self.answer)[best].mean() > LARGEST_DROP)


def _lost_by_pairs(disputed: NDArray[Any], sizes: Floats, agreed: Floats) -> Floats:
    """(J, J) Dice to what two readers share that the answer loses against the vote.

    Of more than `MOST_IN_PAIRS` readers nothing is looked at.

    Parameters
    ----------
    disputed : (J + 2, N) ndarray
        Readers, answer and vote where readers differ.
    sizes, agreed : (J + 2,) ndarray
        Voxels of each, and those of them where all readers agree.
    """
    readers = len(disputed) - 2
    lost = np.full((readers, readers), -1.0)
    few = readers if readers <= MOST_IN_PAIRS else 0
    for i, j in itertools.combinations(range(few), 2):
        both = disputed[i] * disputed[j]
        shared = disputed[readers:] @ both + agreed[readers:]
        size = float(both.sum()) + agreed[i]
        answer, vote = 2 * shared / np.maximum(sizes[readers:] + size, 1)
        lost[i, j] = vote - answer
    return lost


def _dices(shared: Floats) -> Floats:
    """Dice of every two masks, from the voxels that they share."""
    sizes = np.diag(shared)
    return dice_of(shared, sizes[:, None] + sizes)
