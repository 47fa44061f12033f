"""Interface of fusers that process votes in blocks, for volumes that do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from itk_consensus.space.blocks import Blocked
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns


class FusedBlocks(NamedTuple):
    """A decision in blocks, and the method's own estimates."""

    decision: Blocked  #: Label index of each voxel; `BACKGROUND` outside the mask
    estimate: Any  #: None if the method has none
    #: Writes the probability of a label index in a box of the volume, 0 outside the mask; None if
    #: probabilities need the whole volume.
    write_probability: Callable[[Box, int, NDArray[Any]], None] | None = None


class BlockFuser(Protocol):
    """A fuser that requires neighbouring voxels or objects, but not the whole volume in memory."""

    def fuse_blocks(self, patterns: DecisionPatterns, spacing: Sequence[float]) -> FusedBlocks:
        """Decide the label of each voxel.

        Parameters
        ----------
        patterns : DecisionPatterns
            Patterns whose codes are a `Blocked` array.
        spacing : sequence of float
            Voxel size in mm per array axis.
        """
