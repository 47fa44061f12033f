"""Raters as one mask per label, read box by box, for methods that use spatial neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.core.pickled_fields import FieldsOnly
from itk_consensus.methods.voting.majority_vote import VoteShares
from itk_consensus.space import rater_field
from itk_consensus.space.blocks import Blocks
from itk_consensus.space.boxes import Box, bounding_box, relative_to, slabs, to_volume
from itk_consensus.space.rater_field import RaterField
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fields.marked_boxes import boxes_of_patterns, boxes_of_stack
from itk_consensus.votes.fields.rater_bits import expand_rows, pack_patterns
from itk_consensus.votes.label_stack import LabelStack

#: Memberships that differ by at most this are considered equal.
ROUNDING = 1e-12

#: Number of labels for which the shares, or bits, of all patterns are cached.
_LABELS_KEPT = 4

#: Number of voxels whose masks of all raters are read at once, which bounds memory.
VOXELS_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class RaterMasks(FieldsOnly):
    """Memberships of K labels according to J raters in a volume."""

    #: ``read(label, box=())`` returns (J, *box) masks as bool, or probabilities in [0, 1]; without
    #: a box, for the whole volume. Picklable.
    read: Callable[..., NDArray[Any]]
    shape: tuple[int, ...]
    number_of_raters: int
    number_of_labels: int  #: Number of labels K; two labels are background and one foreground
    weights: Floats  #: (J,) positive weights of the raters
    #: (J, *shape) whether each rater annotated each voxel inside the mask; None if all did.
    present: Mask | None = None
    #: Patterns of the masks, with one column per rater, for computations by pattern.
    patterns: DecisionPatterns | None = None
    #: Equivalent masks based on patterns, if `read` uses the input images.
    kept: RaterMasks | None = None
    #: Like `read`, but returns packed bits as in `RaterField`.
    pack: Callable[..., NDArray[np.uint8]] | None = None
    #: Bounding box of all marks of each label; None if computed from patterns on demand.
    boxes: Sequence[Box | None] | None = None

    @classmethod
    def from_stack(
        cls,
        stack: LabelStack,
        patterns: DecisionPatterns,
        weights: Sequence[float] | Floats | None = None,
    ) -> RaterMasks:
        """Build masks from a stack and its patterns; reads images, which is faster, if complete."""
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
        cls,
        patterns: DecisionPatterns,
        weights: Sequence[float] | Floats | None = None,
        *,
        complete: bool | None = None,
    ) -> RaterMasks:
        """Build masks from decision patterns, with their missing votes and mask.

        Raters with weight 0, or without any annotation, are left out. `complete` states whether all
        raters annotated all voxels; it is computed by default, but must be given for part of a
        volume.
        """
        missing = patterns.number_of_labels
        counted = counted_weights(patterns, weights)
        used = np.flatnonzero(counted)
        assert patterns.codes is not None
        voted = patterns
        if len(used) < len(counted):
            voted = replace(patterns, patterns=np.ascontiguousarray(patterns.patterns[:, used]))
        if complete is None:
            masked = patterns.number_of_voxels < patterns.codes.size
            complete = not masked and bool(voted.present.all())
        # Memberships are expanded on reading, since the box of a label is small.
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
        """Merge each group of raters into one with their mean membership."""
        if all(len(group) == 1 for group in groups):
            return self
        members = [list(group) for group in groups]
        present = self.present
        return replace(
            self,
            read=_MergedMasks(self, members),
            number_of_raters=len(members),
            # A group has the mean weight of its members.
            weights=np.array([self.weights[group].mean() for group in members]),
            present=None if present is None else np.stack([present[g].any(0) for g in members]),
            patterns=None,
            pack=None,
            kept=None if self.kept is None else self.kept.merged(groups),
        )

    def without_inputs(self) -> RaterMasks:
        """Return equivalent masks that do not keep the input images."""
        return self if self.kept is None else self.kept

    def blocks(self, box: Box) -> Blocks:
        """Divide a box into the blocks in which raters are processed: a single one in memory."""
        return Blocks.of(box)

    def even_blocks(self, shape: Sequence[int]) -> Blocks:
        """Divide a label's box, whose coordinates begin at 0, into such blocks."""
        return Blocks.even(shape, max(1, *shape))

    def parts(self, box: Box) -> Iterable[Box]:
        """Divide a box into parts for voxelwise operations."""
        return slabs(box, VOXELS_AT_ONCE)

    def patterns_in(self, box: Box) -> DecisionPatterns | None:
        """Return the patterns with the codes cropped to a box; None without patterns."""
        return None if self.patterns is None else self.patterns.crop(box)

    def present_in(self, box: Box) -> Mask:
        """Return a (J, \\*box) mask of the voxels that each rater annotated; requires `present`."""
        assert self.present is not None
        return self.present[(slice(None), *box)]

    def annotated_voxels(self, box: Box) -> Mask | None:
        """Return a (\\*box) mask of voxels that at least one rater annotated; None if that
        is all of them.
        """
        return None if self.present is None else np.asarray(self.present_in(box).any(axis=0))

    def share(self, label: int, box: Box = ()) -> Floats:
        """Return the (\\*box) weighted mean membership over the annotating raters; 0 where
        none annotated.
        """
        if self.pack is not None:
            return rater_field.weighted_bits(self.pack(label, box), self.weights)
        if self.patterns is not None:
            return self.patterns.crop(box).expand(self._share_of_patterns(label))
        present = None if self.present is None else self.present_in(box)
        return weighted_share(self.read(label, box), self.weights, present)

    def field(self, label: int, box: Box) -> RaterField:
        """Return memberships in a box in the kernels' format: packed bits or probabilities."""
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
        """Return a (J, \\*box) mask of voxels where each rater's membership exceeds one half."""
        masks = self.read(label, box)
        return masks if masks.dtype == np.bool_ else np.asarray(masks > 0.5)

    def bits(self, label: int, box: Box) -> NDArray[np.uint8]:
        """Return the marks as packed bits, (ceil(J / 8), \\*box), as in `RaterField`."""
        if self.pack is not None:
            return self.pack(label, box)
        shape = tuple(part.stop - part.start for part in box)
        bits = np.empty((-(-self.number_of_raters // 8), *shape), np.uint8)
        for part in slabs(box, VOXELS_AT_ONCE):
            here = (slice(None), *relative_to(part, box))
            bits[here] = rater_field.pack_bits(self.marks(label, part))
        return bits

    def disputed_voxels(self, label: int) -> Mask:
        """Return a (\\*shape) mask of voxels where raters differ on a label by more than
        rounding.
        """
        masks = self.read(label)
        if self.present is None:
            lowest, highest = masks.min(axis=0), masks.max(axis=0)
        else:
            lowest = np.where(self.present, masks, 1.0).min(axis=0)
            highest = np.where(self.present, masks, 0.0).max(axis=0)
        return np.asarray(highest > lowest + ROUNDING)

    def disputed_box(self, label: int) -> Box | None:
        """Return the bounding box of voxels where raters differ on a label; None if there
        are none.
        """
        if self.patterns is None:
            return bounding_box(self.disputed_voxels(label))
        marked = self.marked_box(label)
        if marked is None:
            return None
        if self.pack is not None:
            tight = bounding_box(self.field(label, marked).disputed_voxels())
            return None if tight is None else to_volume(tight, marked)
        voted = self.patterns.patterns == label
        differ = voted.any(axis=1) & (~voted & self.patterns.present).any(axis=1)
        if not differ.any():
            return None
        found = self.patterns.crop(marked).region(differ, [0] * len(marked))
        return to_volume(found, marked)

    def marked_box(self, label: int) -> Box | None:
        """Return the bounding box of all marks of a label; None if there are none."""
        if self.patterns is not None:
            return self._marked_boxes[label]
        masks = self.read(label) > 0
        marked = masks if self.present is None else masks & self.present
        return bounding_box(np.asarray(marked.any(axis=0)))

    @cached_property
    def _share_of_patterns(self) -> Callable[[int], Floats]:
        """Function that returns the (P,) shares of a label; cached, as it is called repeatedly."""
        assert self.patterns is not None
        shares = VoteShares(self.patterns, self.weights, np.zeros(self.number_of_labels))
        return lru_cache(maxsize=_LABELS_KEPT)(shares.of_label)

    @cached_property
    def _marked_boxes(self) -> Sequence[Box | None]:
        """Bounding boxes of the marks of each label."""
        assert self.patterns is not None
        return boxes_of_patterns(self.patterns) if self.boxes is None else self.boxes

    def frequencies(self) -> Floats:
        """Return the (K,) proportion of each label among all votes."""
        if self.patterns is None:
            labels = range(self.number_of_labels)
            of_patterns = isinstance(self.read, _MergedMasks) and self.read.of_patterns()
            if of_patterns:
                totals = np.array([of_patterns[0].share(k) @ of_patterns[1] for k in labels])
            else:
                totals = np.array([self.share(k).sum() for k in labels])
            return np.asarray(totals / max(totals.sum(), 1e-300))
        table, present = self.patterns.patterns, self.patterns.present
        # Process columns, since matmul would cast all flags to float64 at once.
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
    """Reads packed bits from a label stack."""

    arrays: Sequence[NDArray[Any]]  #: Label maps of the raters with non-zero weight
    labels: NDArray[Any]  #: (K,) label value of each index

    def __call__(self, label: int, box: Box = ()) -> NDArray[np.uint8]:
        return rater_field.pack_label(self.arrays, self.labels[label], box)


@dataclass(frozen=True)
class _PatternMasks:
    """Reads masks from decision patterns."""

    patterns: DecisionPatterns

    def __call__(self, label: int, box: Box = ()) -> Mask:
        return expand_rows(self.patterns, self.patterns.patterns == label, box)


@dataclass(frozen=True)
class _PatternBits(FieldsOnly):
    """Reads packed bits from complete decision patterns."""

    patterns: DecisionPatterns

    def __call__(self, label: int, box: Box = ()) -> NDArray[np.uint8]:
        return pack_patterns(self.patterns, self._bits_of_patterns(label), box)

    @cached_property
    def _bits_of_patterns(self) -> Callable[[int], NDArray[np.uint8]]:
        """Function that packs the bits of a label, cached, since it is called for each part."""
        columns = list(np.ascontiguousarray(self.patterns.patterns.T))
        return lru_cache(maxsize=_LABELS_KEPT)(partial(rater_field.pack_label, columns, box=()))


@dataclass(frozen=True)
class _UnpackedBits:
    """Reads packed bits as masks."""

    pack: Callable[..., NDArray[np.uint8]]
    raters: int

    def __call__(self, label: int, box: Box = ()) -> Mask:
        return rater_field.unpack_bits(self.pack(label, box), self.raters)


@dataclass(frozen=True)
class _MergedMasks:
    """Reads the mean membership of each group of raters."""

    masks: RaterMasks
    groups: Sequence[list[int]]

    def __call__(self, label: int, box: Box = ()) -> Floats:
        read, present = self.masks.read(label, box), self.masks.present
        there = None if present is None else present[(slice(None), *box)]
        return np.stack([self._mean(group, read, there) for group in self.groups])

    def of_patterns(self) -> tuple[RaterMasks, NDArray[np.int64]] | None:
        """Return equivalent masks of a volume with one voxel per pattern, and the counts.

        Returns None if the masks have no patterns.
        """
        patterns = self.masks.patterns
        if patterns is None:
            return None
        rows = np.arange(len(patterns.counts))
        once = replace(
            patterns, codes=rows.astype(np.uint32), slots=rows, number_of_codes=len(rows)
        )
        complete = self.masks.present is None
        masks = RaterMasks.from_patterns(once, self.masks.weights, complete=complete)
        return masks.merged(self.groups), patterns.counts

    def _mean(self, group: list[int], read: NDArray[Any], there: Mask | None) -> Floats:
        weights = self.masks.weights[group] / self.masks.weights[group].sum()
        if there is not None:
            return weighted_share(read[group], weights, there[group])
        mean: Floats = np.tensordot(weights, read[group], 1)
        return mean


def counted_weights(patterns: DecisionPatterns, weights: Sequence[float] | Floats | None) -> Floats:
    """Return (J,) weights, set to 0 for raters without annotations, unless no rater has any."""
    given = np.ones(patterns.number_of_raters) if weights is None else np.asarray(weights, float)
    some = np.where(patterns.present.any(axis=0), given, 0.0)
    return some if some.any() else given


def weighted_share(masks: NDArray[Any], weights: Floats, present: Mask | None) -> Floats:
    """Return the weighted mean over annotating raters (first axis); 0 where no rater annotated."""
    if present is None:
        mean: Floats = np.tensordot(weights / weights.sum(), masks, 1)
        return mean
    here = np.tensordot(weights, present, 1)
    total = np.tensordot(weights, np.where(present, masks, 0.0), 1)
    return np.asarray(np.divide(total, here, out=np.zeros(here.shape), where=here > 0))
