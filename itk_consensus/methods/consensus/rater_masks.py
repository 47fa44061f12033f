"""Raters as one mask per label, read box by box: what methods that look at neighbours work on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.voting.majority_vote import VoteShares
from itk_consensus.space import rater_field
from itk_consensus.space.boxes import Box, bounding_box, moved, relative_to, slabs
from itk_consensus.space.rater_field import RaterField
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fields.marked_boxes import boxes_of_patterns, boxes_of_stack
from itk_consensus.votes.fields.rater_bits import expand_rows, pack_patterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.recipes import FieldsOnly

#: Memberships that differ by less are equal.
ROUNDING = 1e-12

#: Labels of which the shares, or bits, of all patterns are kept.
_LABELS_KEPT = 4

#: Voxels of which all raters' masks are read at a time.
VOXELS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class RaterMasks(FieldsOnly):
    """J raters over a volume, as memberships of K labels."""

    #: ``read(label, box=())`` gives (J, *box): bool masks, or probabilities in [0, 1]; of the
    #: whole volume without a box. A recipe, which can be pickled.
    read: Callable[..., NDArray[Any]]
    shape: tuple[int, ...]
    number_of_raters: int
    number_of_labels: int  #: Two labels are background and one foreground
    weights: Floats  #: (J,) of the raters; all positive
    #: (J, *shape) where each rater annotated, and the mask holds; None: everywhere.
    present: Mask | None = None
    #: Behind the masks, with one column per rater: a short cut to what is told by patterns alone.
    patterns: DecisionPatterns | None = None
    #: The same, told by patterns, where `read` looks at the caller's images.
    kept: RaterMasks | None = None
    #: Like `read`, but gives the bits of `RaterField`, at once.
    pack: Callable[..., NDArray[np.uint8]] | None = None
    #: The smallest box around what anybody marked, by label; None: patterns tell when asked.
    boxes: Sequence[Box | None] | None = None

    @classmethod
    def from_stack(
        cls,
        stack: LabelStack,
        patterns: DecisionPatterns,
        weights: Sequence[float] | Floats | None = None,
    ) -> RaterMasks:
        """Of a stack and its patterns: images are read faster, where everybody annotated all."""
        kept = cls.from_patterns(patterns, weights)
        if kept.present is not None or stack.foreground is not None or len(stack.shape) > 4:
            return kept
        kept = replace(kept, boxes=boxes_of_stack(stack))
        pairs = zip(stack.arrays, counted_weights(patterns, weights), strict=True)
        arrays = [array for array, weight in pairs if array is not None and weight]

        pack = _StackBits(arrays, stack.labels)
        return replace(kept, read=_UnpackedBits(pack, len(arrays)), kept=kept, pack=pack)

    @classmethod
    def from_patterns(
        cls, patterns: DecisionPatterns, weights: Sequence[float] | Floats | None = None
    ) -> RaterMasks:
        """The volume behind decision patterns; missing raters and the mask come with them.

        Raters of weight 0, or without any annotation, are left out.
        """
        missing = patterns.number_of_labels
        counted = counted_weights(patterns, weights)
        used = np.flatnonzero(counted)
        assert patterns.codes is not None
        voted = patterns
        if len(used) < len(counted):
            voted = replace(patterns, patterns=np.ascontiguousarray(patterns.patterns[:, used]))
        masked = patterns.number_of_voxels < patterns.codes.size
        complete = not masked and bool(voted.present.all())
        # Memberships are looked up where they are asked for: a label's box is small.
        found = cls(
            _PatternMasks(voted),
            patterns.codes.shape,
            len(used),
            missing,
            counted[used],
            None if complete else expand_rows(voted, voted.present),
            voted,
        )
        if not complete:
            return found
        pack = _PatternBits(voted)
        return replace(found, read=_UnpackedBits(pack, len(used)), pack=pack)

    def merged(self, groups: Sequence[Sequence[int]]) -> RaterMasks:
        """Each group of raters as one, who says what they say on average."""
        if all(len(group) == 1 for group in groups):
            return self
        members = [list(group) for group in groups]
        present = self.present
        return replace(
            self,
            read=_MergedMasks(self, members),
            number_of_raters=len(members),
            # A group weighs as much as one of its members.
            weights=np.array([self.weights[group].mean() for group in members]),
            present=None if present is None else np.stack([present[g].any(0) for g in members]),
            patterns=None,
            pack=None,
            kept=None if self.kept is None else self.kept.merged(groups),
        )

    def without_inputs(self) -> RaterMasks:
        """The same masks, without the caller's images."""
        return self if self.kept is None else self.kept

    def annotated(self) -> Mask | None:
        """(\\*shape) where at least one rater annotated; None: everywhere."""
        return None if self.present is None else np.asarray(self.present.any(axis=0))

    def share(self, label: int, box: Box = ()) -> Floats:
        """(\\*box) weighted mean membership among those who annotated; 0 where nobody did."""
        if self.pack is not None:
            return rater_field.weighted_bits(self.pack(label, box), self.weights)
        if self.patterns is not None:
            return self.patterns.crop(box).expand(self._share_of_patterns(label))
        present = None if self.present is None else self.present[(slice(None), *box)]
        return weighted_share(self.read(label, box), self.weights, present)

    def field(self, label: int, box: Box) -> RaterField:
        """What raters say in a box, as kernels read it: a bit each, or a probability."""
        if self.pack is not None:
            return RaterField(self.pack(label, box), self.number_of_raters)
        shape = tuple(part.stop - part.start for part in box)
        masks: NDArray[Any] | None = None
        for part in slabs(box, VOXELS_AT_ONCE):
            read = RaterField.of(self.read(label, part)).masks
            masks = np.empty((len(read), *shape), read.dtype) if masks is None else masks
            masks[(slice(None), *relative_to(part, box))] = read
        assert masks is not None
        there = (
            None
            if self.present is None
            else rater_field.pack_bits(self.present[(slice(None), *box)])
        )
        return RaterField(masks, self.number_of_raters, there)

    def marks(self, label: int, box: Box) -> Mask:
        """(J, \\*box) where each rater's membership is above one half."""
        masks = self.read(label, box)
        return masks if masks.dtype == np.bool_ else np.asarray(masks > 0.5)

    def bits(self, label: int, box: Box) -> NDArray[np.uint8]:
        """The marks as bits: (ceil(J / 8), \\*box), as `RaterField` has them."""
        if self.pack is not None:
            return self.pack(label, box)
        shape = tuple(part.stop - part.start for part in box)
        bits = np.empty((-(-self.number_of_raters // 8), *shape), np.uint8)
        for part in slabs(box, VOXELS_AT_ONCE):
            here = (slice(None), *relative_to(part, box))
            bits[here] = rater_field.pack_bits(self.marks(label, part))
        return bits

    def disputed(self, label: int) -> Mask:
        """(\\*shape) where raters differ about a label, by more than rounding."""
        masks = self.read(label)
        if self.present is None:
            lowest, highest = masks.min(axis=0), masks.max(axis=0)
        else:
            lowest = np.where(self.present, masks, 1.0).min(axis=0)
            highest = np.where(self.present, masks, 0.0).max(axis=0)
        return np.asarray(highest > lowest + ROUNDING)

    def disputed_box(self, label: int) -> Box | None:
        """The smallest box around voxels where raters differ about a label; None if nowhere."""
        if self.patterns is None:
            return bounding_box(self.disputed(label))
        marked = self.marked_box(label)
        if marked is None:
            return None
        if self.pack is not None:
            tight = bounding_box(self.field(label, marked).disputed())
            return None if tight is None else moved(tight, marked)
        voted = self.patterns.patterns == label
        differ = voted.any(axis=1) & (~voted & self.patterns.present).any(axis=1)
        if not differ.any():
            return None
        found = self.patterns.crop(marked).region(differ, [0] * len(marked))
        return moved(found, marked)

    def marked_box(self, label: int) -> Box | None:
        """The smallest box around what anybody marked; None if nothing."""
        if self.patterns is not None:
            return self._marked_boxes[label]
        masks = self.read(label) > 0
        marked = masks if self.present is None else masks & self.present
        return bounding_box(np.asarray(marked.any(axis=0)))

    @cached_property
    def _share_of_patterns(self) -> Callable[[int], Floats]:
        """(P,) share of a label; the last ones are kept, since they are asked for part by part."""
        assert self.patterns is not None
        shares = VoteShares(self.patterns, self.weights, np.zeros(self.number_of_labels))
        return lru_cache(maxsize=_LABELS_KEPT)(shares.of_label)

    @cached_property
    def _marked_boxes(self) -> Sequence[Box | None]:
        """Of all labels."""
        assert self.patterns is not None
        return boxes_of_patterns(self.patterns) if self.boxes is None else self.boxes

    def frequencies(self) -> Floats:
        """(K,) share of each label among all votes."""
        if self.patterns is None:
            totals = np.array([self.share(k).sum() for k in range(self.number_of_labels)])
            return np.asarray(totals / max(totals.sum(), 1e-300))
        table, present = self.patterns.patterns, self.patterns.present
        # By columns: all at once the flags would be widened.
        here = np.full(len(table), 1e-300)
        for there, weight in zip(present.T, self.weights, strict=True):
            here += weight * there
        totals = np.zeros(self.number_of_labels)
        for votes, there, weight in zip(table.T, present.T, self.weights, strict=True):
            share = weight * self.patterns.counts[there] / here[there]
            totals += np.bincount(votes[there], share, self.number_of_labels)
        return np.asarray(totals / max(totals.sum(), 1e-300))


@dataclass(frozen=True)
class _StackBits:
    """Packs what the raters of a stack say."""

    arrays: Sequence[NDArray[Any]]  #: Of the raters who count
    labels: NDArray[Any]  #: (K,) the label values behind the indices

    def __call__(self, label: int, box: Box = ()) -> NDArray[np.uint8]:
        return rater_field.pack_label(self.arrays, self.labels[label], box)


@dataclass(frozen=True)
class _PatternMasks:
    """Reads what raters say off their patterns."""

    patterns: DecisionPatterns

    def __call__(self, label: int, box: Box = ()) -> Mask:
        return expand_rows(self.patterns, self.patterns.patterns == label, box)


@dataclass(frozen=True)
class _PatternBits(FieldsOnly):
    """Packs what raters say off their patterns, if they all annotated everything."""

    patterns: DecisionPatterns

    def __call__(self, label: int, box: Box = ()) -> NDArray[np.uint8]:
        return pack_patterns(self.patterns, self._bits_of_patterns(label), box)

    @cached_property
    def _bits_of_patterns(self) -> Callable[[int], NDArray[np.uint8]]:
        """The last ones are kept, since they are asked for part by part."""
        columns = list(np.ascontiguousarray(self.patterns.patterns.T))
        return lru_cache(maxsize=_LABELS_KEPT)(partial(rater_field.pack_label, columns, box=()))


@dataclass(frozen=True)
class _UnpackedBits:
    """Reads bits as masks."""

    pack: Callable[..., NDArray[np.uint8]]
    raters: int

    def __call__(self, label: int, box: Box = ()) -> Mask:
        return rater_field.unpack_bits(self.pack(label, box), self.raters)


@dataclass(frozen=True)
class _MergedMasks:
    """Reads each group of raters as one, who says what they say on average."""

    masks: RaterMasks
    groups: Sequence[list[int]]

    def __call__(self, label: int, box: Box = ()) -> Floats:
        read, present = self.masks.read(label, box), self.masks.present
        there = None if present is None else present[(slice(None), *box)]
        return np.stack([self._mean(group, read, there) for group in self.groups])

    def _mean(self, group: list[int], read: NDArray[Any], there: Mask | None) -> Floats:
        weights = self.masks.weights[group] / self.masks.weights[group].sum()
        if there is not None:
            return weighted_share(read[group], weights, there[group])
        mean: Floats = np.tensordot(weights, read[group], 1)
        return mean


def counted_weights(patterns: DecisionPatterns, weights: Sequence[float] | Floats | None) -> Floats:
    """(J,) weights; 0 for who annotated nothing, unless nobody did."""
    given = np.ones(patterns.number_of_raters) if weights is None else np.asarray(weights, float)
    some = np.where(patterns.present.any(axis=0), given, 0.0)
    return some if some.any() else given


def weighted_share(masks: NDArray[Any], weights: Floats, present: Mask | None) -> Floats:
    """Weighted mean over raters (the first axis) among those who annotated; 0 where nobody did."""
    if present is None:
        mean: Floats = np.tensordot(weights / weights.sum(), masks, 1)
        return mean
    here = np.tensordot(weights, present, 1)
    total = np.tensordot(weights, np.where(present, masks, 0.0), 1)
    return np.asarray(np.divide(total, here, out=np.zeros(here.shape), where=here > 0))
