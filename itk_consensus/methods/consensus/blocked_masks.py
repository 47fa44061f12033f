"""Rater masks of a volume whose votes are stored in blocks, since they do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Floats, Mask
from itk_consensus.methods.consensus.rater_masks import RaterMasks, counted_weights
from itk_consensus.space.blocks import SIDE, Blocked, Blocks, at_once
from itk_consensus.space.boxes import Box, bounding_box, enclosing_box, to_volume
from itk_consensus.space.rater_field import RaterField
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fields.marked_boxes import boxes_of_patterns
from itk_consensus.votes.label_stack import LabelStack

#: Number of boxes whose masks are cached.
_BOXES_KEPT = 2


@dataclass(frozen=True)
class BlockedMasks(RaterMasks):
    """Rater masks computed on demand, box by box, from decision patterns stored in blocks."""

    #: Patterns of the raters with non-zero weight, before merging
    votes: DecisionPatterns | None = None
    groups: Sequence[Sequence[int]] = ()  #: Groups of raters that are merged; empty for no merging

    @classmethod
    def of(
        cls, patterns: DecisionPatterns, weights: Sequence[float] | Floats | None = None
    ) -> BlockedMasks:
        """Build the masks from decision patterns."""
        counted = counted_weights(patterns, weights)
        used = np.flatnonzero(counted)
        voted = patterns
        if len(used) < len(counted):
            voted = replace(patterns, patterns=np.ascontiguousarray(patterns.patterns[:, used]))
        assert patterns.codes is not None
        masked = patterns.number_of_voxels < patterns.codes.size
        complete = not masked and bool(voted.present.all())
        return cls(
            _nothing,
            patterns.codes.shape,
            len(used),
            patterns.number_of_labels,
            counted[used],
            None if complete else np.zeros(0, bool),
            voted,
            votes=voted,
        )

    def merged(self, groups: Sequence[Sequence[int]]) -> BlockedMasks:
        """Merge each group of raters into one with their mean membership."""
        if all(len(group) == 1 for group in groups):
            return self
        return replace(
            self,
            number_of_raters=len(groups),
            weights=np.array([self.weights[list(group)].mean() for group in groups]),
            patterns=None,
            groups=groups,
        )

    def within(self, box: Box) -> tuple[RaterMasks, Box]:
        """Return the masks of a box in memory, and the box relative to them."""
        bounds = tuple((part.start, part.stop) for part in box)
        return self._within(bounds), tuple(slice(0, stop - start) for start, stop in bounds)

    @cached_property
    def _within(self) -> Callable[[tuple[tuple[int, int], ...]], RaterMasks]:
        def read(bounds: tuple[tuple[int, int], ...]) -> RaterMasks:
            assert self.votes is not None
            part = self.votes.crop(tuple(slice(*pair) for pair in bounds))
            members = self.groups or [[j] for j in range(self.number_of_raters)]
            weights = np.ones(part.number_of_raters) if self.groups else self.weights
            found = RaterMasks.from_patterns(part, weights, complete=self.present is None)
            return found.merged(members)

        return lru_cache(maxsize=_BOXES_KEPT)(read)

    def blocks(self, box: Box) -> Blocks:
        """Divide a box into the blocks in which raters are processed."""
        return Blocks.of(box, SIDE)

    def even_blocks(self, shape: Sequence[int]) -> Blocks:
        """Divide a label's box into evenly sized blocks, since thin blocks need large margins."""
        return Blocks.even(shape, SIDE)

    def parts(self, box: Box) -> Iterable[Box]:
        """Return the boxes of `blocks`, since it is best to read compressed blocks whole."""
        return self.blocks(box).boxes()

    def without_inputs(self) -> RaterMasks:
        """Return self, which does not contain images."""
        return self

    def present_in(self, box: Box) -> Mask:
        """Return a (J, \\*box) mask of the voxels that each rater annotated."""
        masks, whole = self.within(box)
        return masks.present_in(whole)

    def share(self, label: int, box: Box = ()) -> Floats:
        """Return the (\\*box) weighted mean membership over the annotating raters; 0 where
        none annotated.
        """
        masks, whole = self.within(box)
        return masks.share(label, whole)

    def field(self, label: int, box: Box) -> RaterField:
        """Return the raters' masks in a box, in the layout of the kernels."""
        masks, whole = self.within(box)
        return masks.field(label, whole)

    def marks(self, label: int, box: Box) -> Mask:
        """Return a (J, \\*box) mask of voxels where each rater's membership exceeds one half."""
        masks, whole = self.within(box)
        return masks.marks(label, whole)

    def bits(self, label: int, box: Box) -> NDArray[np.uint8]:
        """Return the marks as packed bits."""
        masks, whole = self.within(box)
        return masks.bits(label, whole)

    def disputed_box(self, label: int) -> Box | None:
        """Return the bounding box of voxels where raters differ on a label; None if there
        are none.
        """
        marked = self.marked_box(label)
        if marked is None:
            return None

        def find(block: Box) -> Box | None:
            masks, _ = self.within(block)
            found = bounding_box(masks.disputed_voxels(label))
            return None if found is None else to_volume(found, block)

        return enclosing_box(*at_once(find, self.blocks(marked).boxes()))

    def marked_box(self, label: int) -> Box | None:
        """Return the bounding box of all marks of a label; None if there are none."""
        return self._marked_boxes[label]

    @cached_property
    def _marked_boxes(self) -> Sequence[Box | None]:
        """Bounding boxes of the marks of each label, which do not depend on merging."""
        votes = self.votes
        assert votes is not None

        def find(block: Box) -> list[Box | None]:
            found = boxes_of_patterns(votes.crop(block))
            return [None if box is None else to_volume(box, block) for box in found]

        every = at_once(find, self.blocks(tuple(slice(0, size) for size in self.shape)).boxes())
        return [enclosing_box(*boxes) for boxes in zip(*every, strict=True)]

    def frequencies(self) -> Floats:
        """Return the (K,) proportion of each label among all votes."""
        if self.patterns is not None:
            return super().frequencies()
        assert self.votes is not None
        rows = np.arange(len(self.votes.counts))
        once = replace(
            self.votes, codes=rows.astype(np.uint32), slots=rows, number_of_codes=len(rows)
        )
        masks = RaterMasks.from_patterns(once, complete=self.present is None)
        return masks.merged(self.groups).frequencies()


def _nothing(label: int, box: Box = ()) -> NDArray[Any]:
    """Placeholder for `read`; not called here, since masks are read box by box."""
    raise NotImplementedError


def masks_of(
    stack: LabelStack | None,
    patterns: DecisionPatterns,
    weights: Sequence[float] | Floats | None = None,
) -> RaterMasks:
    """Return the rater masks of a volume, in memory or in blocks."""
    if isinstance(patterns.codes, Blocked):
        return BlockedMasks.of(patterns, weights)
    if stack is None:
        return RaterMasks.from_patterns(patterns, weights)
    return RaterMasks.from_stack(stack, patterns, weights)
