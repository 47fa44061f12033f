"""One Execute's input, as a fuser's _fuse sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.shared_consensus import SharedConsensus, shared_consensus
from itk_consensus.images.loaded_images import LoadedImages
from itk_consensus.labels.boxes import voxel_sides
from itk_consensus.labels.decision_patterns import DecisionPatterns
from itk_consensus.labels.encoding import MOST_FEW
from itk_consensus.labels.kept_stack import KeptStack
from itk_consensus.labels.label_stack import LabelStack
from itk_consensus.labels.packed_votes import PackedVotes
from itk_consensus.labels.tiles import Progress


@dataclass(frozen=True)
class FusionCase:
    """Loaded images and their labels.

    Attributes
    ----------
    loaded : LoadedImages
    stack : LabelStack
    threads : int or None
        Threads of the kernels; None: all.
    strata : ndarray of uint32, or None
        What tells voxels apart beyond their votes.
    kept : KeptStack, PackedVotes or None
        What the stack held, once the caller's images are gone.
    """

    loaded: LoadedImages
    stack: LabelStack
    threads: int | None = None
    strata: NDArray[np.uint32] | None = None
    kept: KeptStack | PackedVotes | None = None

    @cached_property
    def patterns(self) -> DecisionPatterns:
        """The votes as decision patterns, encoded when first asked for."""
        stack = self.stack if self.kept is None else self.kept.restored()
        return DecisionPatterns.from_stack(stack, strata=self.strata, threads=self.threads)

    @cached_property
    def shared_consensus(self) -> SharedConsensus:
        """What the raters share, found when first asked for."""
        return self.find_shared_consensus()

    def find_shared_consensus(self, progress: Progress | None = None) -> SharedConsensus:
        """Find it anew, calling `progress` with the share of the labels that are done."""
        stack = self.stack if self.kept is None and self.stack.arrays else None
        return shared_consensus(self.patterns, self.spacing, stack=stack, progress=progress)

    @cached_property
    def packed(self) -> PackedVotes | None:
        """The votes as bits, where there are two labels, none missing, and too many patterns.

        Patterns that are made already are packed themselves: sums over them are to the last bit
        those over voxels, so that it does not show in a result where the votes came from.
        """
        stack = self.stack
        if len(stack.labels) != 2 or self.strata is not None:
            return None
        if "patterns" not in vars(self) and not stack.may_be_missing:
            if 2 ** sum(array is not None for array in stack.arrays) <= MOST_FEW:
                return None
            few = DecisionPatterns.if_few(stack, self.threads)
            if few is None:
                return PackedVotes.from_stack(stack, self.threads)
            vars(self)["patterns"] = few
        patterns = self.patterns
        if len(patterns.counts) <= MOST_FEW or patterns.strata is not None:
            return None
        present = patterns.present
        is_complete = np.array_equal(present.all(axis=0), present.any(axis=0))
        return PackedVotes.from_patterns(patterns) if is_complete else None

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size in mm, in the order of the array axes."""
        return self.loaded.geometry.array_spacing

    @property
    def smallest_side(self) -> float:
        """The smallest voxel side in mm, along axes of space."""
        return float(min(voxel_sides(self.spacing)))

    def without_inputs(self) -> FusionCase:
        """Keep what outputs need, and let the caller's images go."""
        encoded = "patterns" in vars(self)
        bare = replace(
            self,
            loaded=self.loaded.without_inputs(),
            stack=replace(self.stack, arrays=(), mask=None, rater_masks=None),
            strata=None if encoded else self.strata,
            kept=None if encoded else vars(self).get("packed") or KeptStack.of(self.stack),
        )
        if encoded:
            vars(bare)["patterns"] = self.patterns
        return bare
