"""A bound on harm: where a result leaves the vote without a known reason, it returns to it.

A consensus leaves the vote to smooth what raters do not share, to ask only those who found an
object about its outline, and to add what `detection` says is there. Whatever it was made by, three
things hold of every label:

- A component that more than half of the raters marked, and marked alike, is not lost; nor is a
  label whole, if the vote has one thing of it and not specks.
- A component of which the vote has nothing was found by more than half of the raters, or rescued.
- No reader, and no two of them in what they share, lose more than `UNEXPLAINED` of Dice against the
  vote, unless the answer is as close to them as the nearer half of the other readers: so much the
  readers' own spread explains. Nor do the readers who corroborate each other most lose more than
  `LARGEST_DROP` on average. Otherwise the region returns to the vote.

The last does not hold in noise, where the vote is close to every reader because it shares their
specks, and an answer without them is not.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.array_types import Floats, Mask
from itk_consensus.fusion.coherence.label_voters import (
    LEAST_AGREEMENT,
    LEAST_VOXELS,
    LabelVoters,
    mean_dice,
)
from itk_consensus.fusion.coherence.rater_masks import RaterMasks
from itk_consensus.fusion.components import connecting, lost_components, piece_sizes
from itk_consensus.neighbourhood.boxes import Box, grown, intersection, relative_to

#: Mean Dice to the best corroborated readers that an answer may lose against the vote, if others
#: are less well corroborated than these.
LARGEST_DROP = 0.01

#: The same where all raters agree equally well: then only the vote's own noise can judge.
LARGEST_DROP_OF_EQUALS = 0.03

#: Dice to any reader, or to what any two share, that an answer may lose against the vote while it
#: is farther from them than the nearer half of the other readers.
UNEXPLAINED = 0.02

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
    vote_is_noise: bool = False  #: Whether the vote has specks that the answer does not

    @property
    def is_changed(self) -> bool:
        """Whether the vote had a word."""
        return bool(self.restored or self.removed or self.returned)


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
    case = _Case(masks.marks(index, box), answer, others, vote, tied, voters, box)
    if not answer.any() and case.vote_is_one_thing():
        return BoundedLabel(case.largest_of_vote(), restored=1)
    restored, number_restored = case.wrongly_lost()
    removed, number_removed = case.wrongly_gained(answer | restored)
    mask, noise = (answer | restored) & ~removed, case.vote_is_noise()
    mask, returned = (mask, 0) if noise else case.returned(mask)
    return BoundedLabel(mask, number_restored, number_removed, returned, noise)


class _Case(NamedTuple):
    """One label in a box."""

    marks: Mask  #: (J, *box)
    answer: Mask
    others: Mask  #: Where other labels are
    vote: Mask  #: Where more than half mark the label
    tied: Mask  #: Where half do
    voters: LabelVoters
    box: Box

    @property
    def connected(self) -> Mask:
        return connecting(self.answer.ndim)

    def wrongly_lost(self) -> tuple[Mask, int]:
        """Components of the vote that the result lost although their raters marked them alike."""
        lost = lost_components(self.vote, self.answer, self.answer.ndim > 3)
        pieces, number = scipy.ndimage.label(lost, self.connected)
        if not number:
            return lost, 0
        by_chance = self._chance_of_majority()
        sizes = piece_sizes(pieces, number)
        # In logarithms: the background, piece 0, has too many voxels for a power.
        further = (sizes - 1) * np.log(np.maximum(WAYS_TO_CONNECT * by_chance, 1e-300))
        kept = np.log(max(lost.size * by_chance, 1e-300)) + further < np.log(CHANCE)
        kept[0] = False
        boxes = scipy.ndimage.find_objects(pieces)
        for piece in np.flatnonzero(kept).tolist():
            kept[piece] = self._marked_alike(pieces, piece, boxes[piece - 1])
        return np.asarray(kept[pieces]), int(kept.sum())

    def _chance_of_majority(self) -> float:
        """That most of those asked mark a voxel far from answer and vote, each on his own."""
        asked = self.marks[self.voters.asked]
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
        pieces, number = scipy.ndimage.label(self.vote, self.connected)
        sizes = piece_sizes(pieces, number)
        sizes[0] = 0
        return np.asarray((pieces == sizes.argmax()) & self.vote)

    def _marked_alike(self, pieces: NDArray[np.int32], piece: int, box: Box) -> bool:
        """Whether raters drew the same thing there, apart from what the answer has."""
        wide = grown(box, [REACH] * len(box), self.answer.shape)
        marks = self.marks[(slice(None), *wide)]
        around, _ = scipy.ndimage.label(marks.any(axis=0) & ~self.answer[wide], self.connected)
        belonging = np.unique(around[pieces[wide] == piece])
        drawn = marks & np.isin(around, belonging[belonging > 0])
        return mean_dice(drawn[drawn.reshape(len(drawn), -1).any(axis=1)]) >= LEAST_AGREEMENT

    def wrongly_gained(self, mask: Mask) -> tuple[Mask, int]:
        """Components of a mask that neither the vote has nor a majority found, nor were rescued."""
        gained = lost_components(mask, self.vote, mask.ndim > 3)
        pieces, number = scipy.ndimage.label(gained, self.connected)
        wrong = np.zeros(number + 1, bool)
        if not number:
            return gained, 0
        found = np.zeros(number + 1, np.int64)
        for marks in self.marks:
            found += np.bincount(pieces[marks], minlength=number + 1) > 0
        wrong[1:] = 2 * found[1:] <= len(self.marks)
        wrong[self._pieces_of_objects(pieces)] = False
        return np.asarray(wrong[pieces]), int(wrong.sum())

    def _pieces_of_objects(self, pieces: NDArray[np.int32]) -> NDArray[np.int32]:
        """Pieces that belong to objects which some raters did not find."""
        found = [np.zeros(0, np.int32)]
        for one in self.voters.found:
            both = intersection(one.box, self.box)
            inside = one.where[relative_to(both, one.box)]
            found.append(np.unique(pieces[relative_to(both, self.box)][inside]))
        return np.concatenate(found)

    def returned(self, mask: Mask) -> tuple[Mask, int]:
        """The mask, with the vote's outline where the best corroborated readers prefer it."""
        asked = self.marks[self.voters.asked]
        if len(asked) < 3:
            return mask, 0
        differs = mask != self.vote
        pieces, number = scipy.ndimage.label(asked.any(axis=0) | mask | self.vote, self.connected)
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
        boxes = scipy.ndimage.find_objects(pieces) if judged.any() else []
        number_returned = 0
        for piece in np.flatnonzero(judged):
            box = boxes[piece - 1]
            here = pieces[box] == piece
            drawn, answer = asked[(slice(None), *box)][:, here], mask[box][here]
            # A tied vote has no say: there the answer stands, unless the readers who corroborate
            # each other most would lose by it.
            vote = self.vote[box][here]
            with_ties = vote | (self.tied[box][here] & answer)
            better = next(
                (
                    one
                    for one, ties_count in ((with_ties, False), (vote, True))
                    if _Views.of(drawn, answer, one).are_worse_off(by_finders[piece], ties_count)
                ),
                None,
            )
            if better is not None:
                if number_returned == 0:
                    mask = mask.copy()
                mask[box][here] = better
                number_returned += 1
        return mask, number_returned

    def vote_is_noise(self) -> bool:
        """Whether the vote has much that the answer dropped as specks."""
        pieces, number = scipy.ndimage.label(self.vote, self.connected)
        gone = np.ones(number + 1, bool)
        gone[0] = False
        gone[pieces[self.answer & self.vote]] = False
        sizes = piece_sizes(pieces, number)
        specks = sizes[gone & (sizes < LEAST_VOXELS)].sum()
        return bool(specks > NOISE * np.count_nonzero(self.vote))


class _Views(NamedTuple):
    """How close answer and vote are to what readers drew of a region."""

    between: Floats  #: (J, J) Dice of every two readers
    answer: Floats  #: (J,) Dice of the answer to each reader
    vote: Floats  #: (J,) likewise of the vote
    #: The same of what every two readers share: (pairs,) Dice of answer, of vote, and the mean of
    #: the other readers'.
    pairs: tuple[Floats, Floats, Floats]

    @classmethod
    def of(cls, drawn: Mask, answer: Mask, vote: Mask) -> _Views:
        """Of (J, N) marks of a region's voxels, and (N,) flags of answer and vote."""
        drawn = drawn[drawn.any(axis=1)]
        readers = len(drawn)
        # Where all readers agree, so does the vote, and only the answer needs to be counted.
        agreed = drawn.all(axis=0)
        core = np.full(readers + 2, np.count_nonzero(agreed), np.float64)
        core[readers] = np.count_nonzero(agreed & answer)
        maps = np.concatenate([drawn, answer[None], vote[None]])[:, ~agreed]
        exact = np.float32 if maps.shape[1] < EXACT_IN_SINGLE else np.float64
        disputed: NDArray[Any] = maps.astype(exact)
        shared = np.asarray(disputed @ disputed.T, np.float64) + np.minimum.outer(core, core)
        dices = _dices(shared)
        return cls(
            dices[:readers, :readers],
            dices[:readers, readers],
            dices[:readers, readers + 1],
            _of_pairs(disputed, np.diag(shared), core),
        )

    def are_worse_off(self, by_finders: bool, ties_count: bool) -> bool:
        """Whether readers lose against the vote more than their own spread explains.

        Where somebody found nothing the vote is too small for a reason, and what two finders share
        is the vote itself: there only single readers count, and all the others' distance explains.
        """
        readers = len(self.answer)
        if readers < 3:
            return False
        if ties_count:
            return not by_finders and self._corroborated_lose(LARGEST_DROP, np.inf)
        if by_finders:
            others = (self.between.sum(axis=1) - 1) / (readers - 1)
            return bool((np.minimum(self.vote, others) - self.answer > UNEXPLAINED).any())
        lost = np.minimum(self.vote, self._nearer_half()) - self.answer
        answer, vote, theirs = self.pairs
        lost_by_pairs = np.minimum(vote, theirs) - answer
        unexplained = max(lost.max(), lost_by_pairs.max(initial=-1)) > UNEXPLAINED
        return bool(unexplained) or self._corroborated_lose(LARGEST_DROP, LARGEST_DROP_OF_EQUALS)

    def _nearer_half(self) -> Floats:
        """(J,) mean Dice of each reader to the nearer half of the others, among whom is no slip."""
        readers = len(self.answer)
        between = self.between.copy()
        np.fill_diagonal(between, -1)
        return np.asarray(np.sort(between, axis=1)[:, -(readers // 2) :].mean(axis=1))

    def _corroborated_lose(self, allowed: float, allowed_of_equals: float) -> bool:
        """Whether the readers who corroborate each other most lose more than is allowed."""
        between = self.between.copy()
        np.fill_diagonal(between, -1)
        distance = 1 - np.sort(between, axis=1)[:, -2:].mean(axis=1)
        best = distance <= CORROBORATION * float(distance.min()) + 1e-9
        differ = np.count_nonzero(best) >= 3 and not best.all()
        lost = float((self.vote - self.answer)[best].mean())
        return lost > (allowed if differ else allowed_of_equals)


def _of_pairs(
    disputed: NDArray[Any], sizes: Floats, agreed: Floats
) -> tuple[Floats, Floats, Floats]:
    """What every two readers share, against answer, vote and the mean of the others.

    Of more than `MOST_IN_PAIRS` readers none.

    Parameters
    ----------
    disputed : (J + 2, N) ndarray
        Readers, answer and vote where readers differ.
    sizes, agreed : (J + 2,) ndarray
        Voxels of each, and those of them where all readers agree.
    """
    readers = len(disputed) - 2
    found = []
    few = readers if readers <= MOST_IN_PAIRS else 0
    for i, j in itertools.combinations(range(few), 2):
        both = disputed[i] * disputed[j]
        size = float(both.sum()) + agreed[i]
        dices = 2 * (disputed @ both + agreed) / np.maximum(sizes + size, 1)
        others = [k for k in range(readers) if k not in (i, j)] or [i, j]
        found.append((dices[readers], dices[readers + 1], dices[others].mean()))
    table = np.array(found, np.float64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def _dices(shared: Floats) -> Floats:
    """Dice of every two masks, from the voxels that they share."""
    sizes = np.diag(shared)
    either = sizes[:, None] + sizes
    return np.divide(2 * shared, either, out=np.ones(shared.shape), where=either > 0)
