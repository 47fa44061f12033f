"""Bound the harm of a consensus by reverting deviations from the vote without a valid reason.

A consensus may deviate from the majority vote to smooth detail that raters do not share, to fuse an
outline only from the raters who found the object, and to add objects that are probably real
according to `detection`. Independently of the method, the following holds for each label of the
result:

- A component that more than half of the raters marked is kept. If majorities can arise by chance,
  or most of the raters used did not mark the component, it is kept only if the marks have similar
  shapes. The label does not vanish if most of its vote is one component rather than specks.
- A component that does not overlap the vote was found by more than half of the raters, or it was
  rescued.
- If raters leave out the same parts inside a label more often than by chance, these are detail,
  such as spared vessels, and not errors: ties inside then follow the vote, i.e. become background.
- A small label among other labels is at most slightly larger than most of its raters drew it; with
  three raters or fewer it contains all voxels that most raters assigned to it.
- For a rater who is used and agrees with most others, the Dice with the result is at most
  `LARGEST_LOSS` lower than the Dice with the vote; the same holds for the intersection of two such
  raters. Raters of a thin or tiny structure may differ fourfold in volume. The loss of a rater who
  does not agree with most others may therefore be up to half of the distance (1 - Dice) between the
  two most distant raters, which is the loss caused by a result midway between them. This distance
  is computed without one outlier. If the loss in a region is larger, the region reverts to the
  vote.

If some raters did not find an object, the loss of its finders is at most `LARGEST_LOSS`, unless the
result is as close to them as the other finders are. Losses are not bounded if the vote is noise,
since it is then close to every rater only because it contains the raters' specks, which the result
lacks.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.components import lost_pieces
from itk_consensus.methods.consensus.cut import CONTOUR_REACH, PSEUDO_VOXELS
from itk_consensus.methods.consensus.label_voters import (
    LEAST_AGREEMENT,
    LEAST_VOXELS,
    LabelVoters,
    mean_dice,
)
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.space.blocks import Blocked, flagged, none_of, unequal
from itk_consensus.space.boxes import Box, intersection, relative_to, widen_box
from itk_consensus.space.pieces import BlockPieces, block_finders, block_pieces, label_pieces
from itk_consensus.space.rater_field import bits_of, marked_by_any, unpack_bits
from itk_consensus.votes.overlap import dice_of

#: Maximum loss of Dice with the result, relative to the vote, for a rater who agrees with most
#: others.
LARGEST_LOSS = 0.02

#: Two raters agree if their Dice is at least this.
AGREEMENT = 0.9

#: Maximum loss for other raters, as a fraction of the largest distance between two raters; a result
#: midway between these two causes a loss of half of this distance.
TO_THE_MIDDLE = 0.5

#: With more raters than this, intersections of pairs are not checked, since there are too many
#: pairs and each rater has less influence.
MOST_IN_PAIRS = 8

#: The best corroborated raters are those whose mean distance (1 - Dice) to their two nearest raters
#: is at most this multiple of the smallest such distance.
CORROBORATION = 2.0

#: The vote is noise if more than this fraction of it consists of specks that the result lacks.
NOISE = 0.002

#: A component of the vote may be lost if at least this number of such components is expected by
#: chance.
CHANCE = 0.001

#: Number of positions at which a component can grow by a voxel, used for the probability that large
#: components arise by chance.
WAYS_TO_CONNECT = 8.0

#: Intraclass correlation inside a label above which omissions are considered shared. It is 1/3 if
#: two of four raters leave out the same part, 0.2 if their contours vary as well, and 0 for
#: independent omissions; for these it exceeded 0.05 in one of twenty real cases.
LEAST_SHARED = 0.07

#: A label with fewer voxels is considered small: nearly all of it is close to its contour, so
#: omissions are contour variations, not missed parts.
SMALL_LABEL = 1000

#: With at most this many raters, there are too few pairs to estimate shared detail, so a small
#: label keeps its vote.
FEW_RATERS = 3

#: Maximum ratio of a small label's volume to the volume of its vote or to its raters' median
#: volume.
LARGEST_GROWTH = 1.1

#: Factor by which vote shares are scaled before rounding to integers, so that sums are exact.
VOTES_OF_ALL = 1 << 20

#: Kernel along each axis for summing votes over the neighbourhood of a voxel.
NEIGHBOURS = (1, 2, 1)

#: A vote share above this is a majority.
MAJORITY = 0.5 + 1e-9

#: Distance in voxels from result and vote beyond which marks are attributed to chance.
FAR = 3

#: Margin in voxels around a component in which its marks are collected.
REACH = 2


class BoundChanges(NamedTuple):
    """Number of changes that the bound made to a label."""

    restored: int = 0  #: Restored components that a majority marked
    removed: int = 0  #: Removed components that no majority marked
    returned: int = 0  #: Regions that reverted to the vote
    untied: int = 0  #: Tied voxels removed because raters leave out the same parts
    given_up: int = 0  #: Voxels removed because a small label was too large
    #: Voxels that most raters assigned to the label, taken back from other labels
    regained: int = 0
    vote_is_noise: bool = False  #: Whether the vote contains specks that the result lacks

    @property
    def any(self) -> bool:
        """Whether the bound changed the result."""
        return self != BoundChanges(vote_is_noise=self.vote_is_noise)


class BoundedLabel(NamedTuple):
    """A label's mask in a box after applying the bound, and the number of changes."""

    mask: Blocked
    changes: BoundChanges = BoundChanges()
    #: Voxels that most raters assigned to the label, taken back from other labels; None if there
    #: are none.
    regained: Blocked | None = None


def bound_harm(
    masks: RaterMasks, index: int, voted: Blocked, voters: LabelVoters, box: Box
) -> BoundedLabel:
    """Apply the bound to the result for one label.

    Parameters
    ----------
    masks : RaterMasks
        Raters, with copies merged.
    index : int
        Index of the label, which must not be absent.
    voted : Blocked
        Label index by voxel.
    voters : LabelVoters
        Raters used for the label.
    box : tuple of slice
        Bounding box of all marks.
    """
    among_others = masks.number_of_labels > 2
    case = _Case.of(masks, index, voted, voters, box)
    decided = case.answer
    if not unequal(case.vote, decided):
        return BoundedLabel(decided)
    is_small = among_others and case.vote.count() < SMALL_LABEL
    keeps_vote = is_small and len(voters.asked) <= FEW_RATERS
    if keeps_vote:
        with_vote = decided.map(np.logical_or, case.vote)
        case = replace(case, answer=with_vote, others=case.others.map(_but, with_vote))
    mask, changes = case.bounded()
    growth = case.growth(mask) if among_others else none_of(mask.blocks)
    mask = mask.map(_but, growth)
    changes = changes._replace(given_up=growth.count())
    if not (changes.restored or keeps_vote):
        return BoundedLabel(mask, changes)
    taken = Blocked.made(decided.blocks, lambda block: voted.read(block) > 0)
    regained = mask.map(_but, decided).map(np.logical_and, case.vote).map(np.logical_and, taken)
    number = regained.count()
    return BoundedLabel(mask, changes._replace(regained=number), regained if number else None)


def _within(box: Box, margin: int, around: Box) -> Box:
    """Widen a box on all sides, clipped to another box."""
    return intersection(widen_box(box, [margin] * len(box)), around)


def _but(one: Mask, other: Mask) -> Mask:
    return np.asarray(one & ~other)


@dataclass(frozen=True)
class _Case:
    """The result and the votes for one label in a box."""

    masks: RaterMasks
    index: int
    answer: Blocked
    others: Blocked  #: Voxels with other foreground labels in the result
    vote: Blocked  #: Voxels that more than half of the raters marked
    tied: Blocked  #: Voxels that exactly half of the raters marked
    voters: LabelVoters
    box: Box

    @classmethod
    def of(
        cls, masks: RaterMasks, index: int, voted: Blocked, voters: LabelVoters, box: Box
    ) -> _Case:
        """Collect the fields of one label from the raters and the result."""

        def fields(block: Box) -> tuple[Mask, Mask, Mask, Mask]:
            decision = voted.read(block)
            answer = decision == index
            if block != box and not masks.bits(index, block).any():
                return answer, (decision > 0) & ~answer, np.array(False), np.array(False)
            share = masks.share(index, block)
            tied = np.abs(share - 0.5) <= MAJORITY - 0.5
            return answer, (decision > 0) & ~answer, share > MAJORITY, tied

        answer, others, vote, tied = Blocked.all_made(masks.blocks(box), fields)
        return cls(masks, index, answer, others, vote, tied, voters, box)

    def marks(self, box: Box) -> Mask:
        """Return the (J, \\*box) masks of the raters."""
        return unpack_bits(self.masks.bits(self.index, box), self.voters.number)

    def bounded(self) -> tuple[Blocked, BoundChanges]:
        """Return the bounded result and the number of changes."""
        if not self.answer.any() and self.vote_is_one_thing():
            return self.largest_of_vote, BoundChanges(restored=1)
        restored, number_restored = self.wrongly_lost()
        mask = self.answer.map(np.logical_or, restored)
        removed, number_removed = self.wrongly_gained(mask)
        mask = mask.map(_but, removed)
        changes = BoundChanges(number_restored, number_removed)
        if self._shared_inside(mask) > LEAST_SHARED:
            changes = changes._replace(untied=mask.map(np.logical_and, self.tied).count())
            mask = mask.map(_but, self.tied)
        if self.vote_is_noise():
            return mask, changes._replace(vote_is_noise=True)
        mask, returned = self.returned(mask)
        return mask, changes._replace(returned=returned)

    def wrongly_lost(self) -> tuple[Blocked, int]:
        """Return lost components of the vote that are not due to chance and whose marks are
        similar.
        """
        lost = lost_pieces(self.vote, self.answer)
        if not lost.any():
            return lost, 0
        pieces = block_pieces(lost)
        by_chance = self._chance_of_majority()
        # Use logarithms, since the power underflows for large pieces.
        further = (pieces.sizes - 1) * np.log(np.maximum(WAYS_TO_CONNECT * by_chance, 1e-300))
        kept = np.log(max(lost.size * by_chance, 1e-300)) + further < np.log(CHANCE)
        kept[0] = False
        # Marks need not be similar if not even one voxel is expected by chance and the piece is not
        # due to raters who marked a different structure.
        unsure = kept.copy()
        if lost.size * by_chance < 1:
            unsure &= pieces.counts(self._without_majority(lost)) > 0
        for piece in pieces.in_blocks(unsure):
            kept[piece] = self._marked_alike(pieces, piece)
        return pieces.any_of(kept), int(kept.sum())

    def _without_majority(self, lost: Blocked) -> Blocked:
        """Return the voxels of lost pieces of the vote that at most half of the raters in
        use marked.
        """
        asked = self.voters.asked
        if not self.voters.elsewhere:
            return none_of(lost.blocks)

        def minority(block: Box) -> Mask:
            marked = np.count_nonzero(self.marks(block)[asked], axis=0)
            return np.asarray(lost.read(block) & (2 * marked <= len(asked)))

        return Blocked.made(lost.blocks, minority)

    def _chance_of_majority(self) -> float:
        """Return the probability that most raters mark a voxel by independent chance.

        Each rater's rate is measured far from the result and the vote.
        """
        near = self.answer.map(np.logical_or, self.largest_of_vote)

        def count(block: Box) -> NDArray[np.int64]:
            wide = _within(block, FAR, self.box)
            spread = scipy.ndimage.binary_dilation(near.read(wide), iterations=FAR)
            far = ~spread[relative_to(block, wide)]
            asked = self.marks(block)[self.voters.asked]
            marked = [np.count_nonzero(marks & far) for marks in asked]
            return np.array([np.count_nonzero(far), *marked])

        voxels, *marked = np.sum([count(block) for block in near.boxes], axis=0).tolist()
        number_who_mark = np.ones(1)
        for rate in (number / voxels if voxels else 0.0 for number in marked):
            number_who_mark = np.convolve(number_who_mark, [1 - rate, rate])
        return float(number_who_mark[len(marked) // 2 + 1 :].sum())

    def vote_is_one_thing(self) -> bool:
        """Return whether at least half of the vote is one component, which is not a speck."""
        return self.largest_of_vote.count() >= max(LEAST_VOXELS, self.vote.count() / 2)

    @cached_property
    def largest_of_vote(self) -> Blocked:
        """Largest component of the vote."""
        pieces = block_pieces(self.vote)
        return pieces.any_of(np.arange(pieces.number + 1) == pieces.sizes.argmax())

    def _marked_alike(self, pieces: BlockPieces, piece: int) -> bool:
        """Return whether the raters' marks around a piece, outside the result, are similar."""
        wide = _within(pieces.box(piece), REACH, self.box)
        marks = self.marks(wide)
        around = label_pieces(marks.any(axis=0) & ~self.answer.read(wide)).places
        belonging = np.unique(around[pieces.places.read(wide) == piece])
        drawn = marks & np.isin(around, belonging[belonging > 0])
        return mean_dice(drawn[drawn.reshape(len(drawn), -1).any(axis=1)]) >= LEAST_AGREEMENT

    def wrongly_gained(self, mask: Blocked) -> tuple[Blocked, int]:
        """Return components that are neither in the vote nor marked by most raters nor rescued."""
        gained = lost_pieces(mask, self.vote)
        if not gained.any():
            return gained, 0
        pieces = block_pieces(gained)
        number = self.voters.number
        found, _ = block_finders(pieces, lambda block: self.masks.bits(self.index, block), number)
        wrong = 2 * found.sum(axis=0) <= number
        wrong[0] = False
        wrong[self._pieces_of_objects(pieces)] = False
        return pieces.any_of(wrong), int(wrong.sum())

    def _pieces_of_objects(self, pieces: BlockPieces) -> NDArray[np.int32]:
        """Return the pieces that belong to objects which some raters did not find."""
        found = [np.zeros(0, np.int32)]
        # Process in block order, since pieces are recomputed for each block.
        boxes = [intersection(one.box, self.box) for one in self.voters.found]
        blocks = [next(pieces.places.blocks.touching(box)) for box in boxes]
        for number in np.argsort(blocks, kind="stable").tolist():
            one, both = self.voters.found[number], boxes[number]
            inside = one.where[relative_to(both, one.box)]
            found.append(np.unique(pieces.places.read(both)[inside]))
        return np.concatenate(found)

    def _shared_inside(self, mask: Blocked) -> float:
        """Return the intraclass correlation of raters inside a mask; 0 without ties.

        The correlation is the excess variance of the raters' mean, relative to independent raters,
        divided by the mean variance of a rater.
        """
        asked = self.voters.asked
        if len(asked) < 3 or not mask.map(np.logical_and, self.tied).any():
            return 0.0
        axes = scipy.ndimage.generate_binary_structure(len(self.box), 1)
        if len(self.box) > 3:
            axes[[0, 2]] = False  # No connection along the time axis.
        number = len(asked)

        def count(block: Box) -> NDArray[np.int64]:
            """Count voxels inside, voxels of each rater, and voxels by number of raters."""
            wide = _within(block, CONTOUR_REACH, self.box)
            own = mask.read(wide)
            if not own.any():
                return np.zeros(2 * number + 2, np.int64)
            inside = scipy.ndimage.binary_erosion(own, axes, iterations=CONTOUR_REACH)
            inside = inside[relative_to(block, wide)]
            bits = self.masks.bits(self.index, block)[:, inside]
            marks = unpack_bits(bits, self.voters.number)[asked]
            drawn = np.count_nonzero(marks, axis=1)
            votes = np.bincount(np.count_nonzero(marks, axis=0), minlength=number + 1)
            return np.concatenate([[np.count_nonzero(inside)], drawn, votes])

        voxels, *counts = np.sum([count(block) for block in mask.boxes], axis=0).tolist()
        if not voxels:
            return 0.0
        drawn, votes = np.array(counts[:number]) / voxels, np.array(counts[number:]) / voxels
        shares = np.arange(number + 1) / number
        of_one = float((drawn * (1 - drawn)).mean())
        of_mean = float(votes @ shares**2 - (votes @ shares) ** 2)
        common = (number * of_mean - of_one) / (number - 1)
        return float(common / (of_one + PSEUDO_VOXELS / voxels))

    def growth(self, mask: Blocked) -> Blocked:
        """Return voxels to remove from a small label that is too large, fewest votes first.

        Among voxels with equal votes, those with the fewest votes around them are removed first.
        Voxels with equal values of both are removed together, so that the result does not depend on
        the order of voxels.
        """
        size, voxels = float(self.vote.count()), mask.count()
        if voxels > LARGEST_GROWTH * size and size < SMALL_LABEL and len(self.voters.asked):
            size = max(size, float(np.median(self._drawn())))
        excess = voxels - int(LARGEST_GROWTH * size)
        if size >= SMALL_LABEL or excess <= 0:
            return none_of(mask.blocks)
        gained = mask.map(_but, self.vote)
        votes = [
            self._votes_around(box)[:, flags]
            for number, box in enumerate(gained.boxes)
            if (flags := flagged(gained, number)) is not None
        ]
        if not votes:
            return gained
        own, near = np.concatenate(votes, axis=1)
        order = np.lexsort((near, own))
        last = order[min(excess, len(order)) - 1]

        def given_up(block: Box) -> Mask:
            gains = gained.read(block)
            if not gains.any():
                return np.array(False)
            votes, around = self._votes_around(block)
            fewer = (votes < own[last]) | ((votes == own[last]) & (around <= near[last]))
            return np.asarray(gains & fewer)

        return Blocked.made(gained.blocks, given_up)

    def _drawn(self) -> NDArray[np.int64]:
        """Return the number of voxels drawn by each rater who is used."""
        blocks = (self.marks(box)[self.voters.asked] for box in self.vote.boxes)
        drawn = [np.count_nonzero(one.reshape(len(one), -1), axis=1) for one in blocks]
        return np.asarray(np.sum(drawn, axis=0))

    def _votes_around(self, block: Box) -> NDArray[np.int64]:
        """Return the (2, \\*block) votes for each voxel, and for its neighbourhood.

        Votes are integers, so their sums do not depend on the order, and the result is invariant to
        mirroring.
        """
        wide = _within(block, 1, self.box)
        votes = np.rint(self.masks.share(self.index, wide) * VOTES_OF_ALL).astype(np.int64)
        around = votes
        for axis in range(votes.ndim):
            around = scipy.ndimage.correlate1d(around, NEIGHBOURS, axis, mode="constant")
        here = relative_to(block, wide)
        return np.stack([votes[here], around[here]])

    def returned(self, mask: Blocked) -> tuple[Blocked, int]:
        """Revert regions in which raters lose too much Dice to the vote; return the mask
        and their number.
        """
        asked = self.voters.asked
        if len(asked) < 3:
            return mask, 0
        used = bits_of(asked, self.voters.number)

        def drawn_or_voted(block: Box) -> Mask:
            drawn = marked_by_any(self.masks.bits(self.index, block), used)
            return np.asarray(drawn | mask.read(block) | self.vote.read(block))

        regions = block_pieces(Blocked.made(mask.blocks, drawn_or_voted))
        changed = regions.counts(mask.map(np.not_equal, self.vote))
        # Smaller changes hardly lower any rater's Dice, or are contour noise.
        judged = (changed > LARGEST_LOSS / 4 * regions.counts(self.vote)) & (
            changed >= LEAST_VOXELS
        )
        # Regions next to other labels are skipped, since reverting one side of a common contour
        # would leave gaps.
        judged &= regions.counts(self.others) == 0
        judged[0] = False
        # Outlines of objects that some raters did not find are fused only from their finders.
        by_finders = np.zeros(regions.number + 1, bool)
        by_finders[self._pieces_of_objects(regions)] = True
        with_ties, without = np.zeros((2, regions.number + 1), bool)
        for piece, votes in self._votes_of(regions, judged, mask):
            ties = _ties_of_better(votes, by_finders[piece])
            if ties is not None:
                (with_ties if ties else without)[piece] = True
        number = int(np.count_nonzero(with_ties | without))
        if not number:
            return mask, 0

        def outline(answer: Mask, vote: Mask, tied: Mask, kept: Mask, plain: Mask) -> Mask:
            voted = vote | (tied & answer & kept)
            return np.asarray(np.where(kept | plain, voted, answer))

        fields = (self.vote, self.tied, regions.any_of(with_ties), regions.any_of(without))
        return mask.map(outline, *fields), number

    def _votes_of(
        self, regions: BlockPieces, judged: Mask, mask: Blocked
    ) -> Iterator[tuple[int, _RegionVotes]]:
        """Yield the votes of the selected regions, merged over blocks."""
        begun: dict[int, _RegionVotes] = {}
        blocks_of = np.zeros(regions.number + 1, np.int64)
        for numbers in regions.numbers:
            blocks_of[numbers] += 1
        for at, block in enumerate(regions.places.boxes):
            pieces = regions.numbers[at]
            for piece in pieces[judged[pieces]].tolist():
                own = intersection(regions.box(piece), block)
                here = regions.places.part(at)[relative_to(own, block)] == piece
                drawn = self.marks(own)[self.voters.asked]
                fields = (self.vote.read(own), self.tied.read(own), mask.read(own))
                votes = _RegionVotes.of(*(field[..., here] for field in (drawn, *fields)))
                if piece in begun:
                    votes = begun.pop(piece).joined(votes)
                blocks_of[piece] -= 1
                if blocks_of[piece]:
                    begun[piece] = votes
                else:
                    yield piece, votes

    def vote_is_noise(self) -> bool:
        """Return whether a relevant part of the vote consists of specks that the result lacks."""
        pieces = block_pieces(self.vote)
        small = pieces.sizes < LEAST_VOXELS
        if not small[1:].any():
            return False
        shared = self.answer.map(np.logical_and, self.vote)
        specks = pieces.sizes[pieces.without(shared) & small].sum()
        return bool(specks > NOISE * self.vote.count())


class _RegionVotes(NamedTuple):
    """Distinct combinations of raters, vote and result at the voxels of a region."""

    drawn: Mask  #: (J, P) masks of the raters who are used
    vote: Mask  #: (P,) whether the vote contains the voxels
    tied: Mask  #: (P,) whether the vote is tied
    answer: Mask  #: (P,) whether the result contains the voxels
    counts: NDArray[np.int64]  #: (P,) number of voxels with each combination

    @classmethod
    def of(cls, drawn: Mask, vote: Mask, tied: Mask, answer: Mask) -> _RegionVotes:
        """Count the combinations of (J, N) and (N,) flags."""
        rows = np.concatenate([drawn, vote[None], tied[None], answer[None]])
        return cls._counted(rows, np.ones(rows.shape[1], np.int64))

    def joined(self, other: _RegionVotes) -> _RegionVotes:
        """Merge the votes of two parts of a region."""
        rows = np.concatenate([np.concatenate([one.drawn, one[1:4]]) for one in (self, other)], 1)
        return self._counted(rows, np.concatenate([self.counts, other.counts]))

    @classmethod
    def _counted(cls, rows: Mask, counts: NDArray[np.int64]) -> _RegionVotes:
        bits = np.packbits(rows, axis=0)
        if len(bits) <= 2:
            keys = bits[0] if len(bits) == 1 else bits[0] * np.uint16(256) + bits[1]
            # Counts are exact in double precision.
            found = np.bincount(keys, counts)
            occur = np.flatnonzero(found)
            some = np.stack([occur >> 8 * place & 255 for place in reversed(range(len(bits)))])
            bits, voxels = some.astype(np.uint8), found[occur].astype(np.int64)
        else:
            bits, which = np.unique(bits, axis=1, return_inverse=True)
            voxels = np.bincount(which.reshape(-1), counts).astype(np.int64)
        some = np.unpackbits(bits, axis=0, count=len(rows)).view(bool)
        return cls(some[:-3], some[-3], some[-2], some[-1], voxels)


def _ties_of_better(votes: _RegionVotes, by_finders: bool) -> bool | None:
    """Decide whether a region reverts to the vote, and how ties of the vote are resolved.

    Returns None if raters do not lose too much Dice, so that the result is kept; True if the region
    reverts to the vote with ties as in the result; False if it reverts with ties as background,
    because the Dice of the best corroborated raters would otherwise decrease.

    Parameters
    ----------
    votes : _RegionVotes
        Votes of the raters who are used.
    by_finders : bool
        Whether the region is an object that some raters, who are not used, did not find.
    """
    drew = votes.drawn.any(axis=1)
    drawn, answer, vote, tied = votes.drawn[drew], votes.answer, votes.vote, votes.tied
    if len(drawn) < 3:
        return None
    views = _Overlaps.of(drawn, answer, vote | (tied & answer), votes.counts)
    if by_finders or not drew.all():
        return True if views.finders_lose() else None
    if views.lose():
        return True
    if tied.any() and _Overlaps.of(drawn, answer, vote, votes.counts).corroborated_lose():
        return False
    return None


class _Overlaps(NamedTuple):
    """Dice of the result and the vote with the raters in a region."""

    between: Floats  #: (J, J) Dice of each pair of raters
    answer: Floats  #: (J,) Dice of the result with each rater
    vote: Floats  #: (J,) Dice of the vote with each rater
    lost_by_pairs: Floats  #: (J, J) loss of Dice for the intersection of two raters

    @classmethod
    def of(cls, drawn: Mask, answer: Mask, vote: Mask, counts: NDArray[np.int64]) -> _Overlaps:
        """Compute the overlaps from (J, P) masks, (P,) result and vote, and (P,) voxel counts."""
        raters = len(drawn)
        # Counts are exact in double precision.
        maps = np.concatenate([drawn, answer[None], vote[None]]).astype(np.float64)
        shared = (maps * counts) @ maps.T
        dices = _dices(shared)
        return cls(
            dices[:raters, :raters],
            dices[:raters, raters],
            dices[:raters, raters + 1],
            _lost_by_pairs(maps, np.diag(shared), counts),
        )

    def lose(self) -> bool:
        """Return whether a rater, or an intersection of two raters, loses more Dice than is
        allowed.
        """
        agree = 2 * np.count_nonzero(self.between >= AGREEMENT, axis=1) > len(self.answer)
        to_the_middle = max(LARGEST_LOSS, TO_THE_MIDDLE * (1 - self._least_dice()))
        may_lose = np.where(agree, LARGEST_LOSS, to_the_middle)
        lost = self.vote - self.answer > may_lose
        lost_by_pairs = self.lost_by_pairs > np.maximum.outer(may_lose, may_lose)
        return bool(lost.any() or lost_by_pairs.any())

    def _least_dice(self) -> float:
        """Return the smallest Dice between two raters, excluding one outlier."""
        farthest = np.unravel_index(self.between.argmin(), self.between.shape)
        rest = [np.delete(np.delete(self.between, j, axis=0), j, axis=1) for j in farthest]
        return max(float(dices.min()) for dices in rest)

    def finders_lose(self) -> bool:
        """Return whether a finder loses Dice relative to both the vote and the other finders.

        Since some raters did not find the object, the vote may be too small and equal to the
        intersection of two finders. Therefore only single raters are checked.
        """
        others = (self.between.sum(axis=1) - 1) / (len(self.answer) - 1)
        return bool((np.minimum(self.vote, others) - self.answer > LARGEST_LOSS).any())

    def corroborated_lose(self) -> bool:
        """Return whether the best corroborated raters, if not all raters, lose Dice on average."""
        between = self.between.copy()
        np.fill_diagonal(between, -1)
        distance = 1 - np.sort(between, axis=1)[:, -2:].mean(axis=1)
        best = distance <= CORROBORATION * float(distance.min()) + 1e-9
        if np.count_nonzero(best) < 3 or best.all():
            return False
        return bool(self.answer[best].mean() < self.vote[best].mean())


def _lost_by_pairs(maps: Floats, sizes: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return the (J, J) loss of Dice for intersections of two raters, relative to the vote.

    With more than `MOST_IN_PAIRS` raters the losses are not computed; all entries are then -1.

    Parameters
    ----------
    maps : (J + 2, P) ndarray
        Masks of the raters, the result and the vote.
    sizes : (J + 2,) ndarray
        Number of voxels in each mask.
    counts : (P,) ndarray
        Number of voxels represented by each column.
    """
    raters = len(maps) - 2
    lost = np.full((raters, raters), -1.0)
    few = raters if raters <= MOST_IN_PAIRS else 0
    for i, j in itertools.combinations(range(few), 2):
        both = maps[i] * maps[j] * counts
        shared = maps[raters:] @ both
        size = float(both.sum())
        answer, vote = 2 * shared / np.maximum(sizes[raters:] + size, 1)
        lost[i, j] = vote - answer
    return lost


def _dices(shared: Floats) -> Floats:
    """Return the Dice of each pair of masks, given the matrix of intersections."""
    sizes = np.diag(shared)
    return dice_of(shared, sizes[:, None] + sizes)
