"""What a fuser makes of votes that are kept in blocks, because they are beyond memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from itk_consensus.space.blocks import Blocked
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns


class FusedBlocks(NamedTuple):
    """A decision, and the method's own numbers."""

    decision: Blocked  #: Label index by voxel; `BACKGROUND` outside the mask
    estimate: Any  #: None if the method has none
    #: Writes the probability of a label index in a box of the volume; 0 outside the mask.
    write_probability: Callable[[Box, int, NDArray[Any]], None]


class BlockFuser(Protocol):
    """A fuser that looks at neighbours and objects, and need not have all voxels in memory."""

    def fuse_blocks(self, patterns: DecisionPatterns, spacing: Sequence[float]) -> FusedBlocks:
        """The decision by voxel.

        Parameters
        ----------
        patterns : DecisionPatterns
            Of which the codes are `Blocked`.
        spacing : sequence of float
            Voxel sides in mm, in array order.
        """
