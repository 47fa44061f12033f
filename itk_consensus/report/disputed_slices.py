"""Find the slices on which raters differ, numbered from 0 as on pages and figures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.fusing.fusion_result import FusionResult
from itk_consensus.votes.decision_patterns import DecisionPatterns


class DisputedSlices(NamedTuple):
    """The disputed slices of a volume, numbered from 0."""

    first: int
    last: int
    most: int  #: The slice with the most disputed voxels
    voxels: int  #: Number of disputed voxels in that slice
    slices: int  #: Total number of slices of the volume

    def __str__(self) -> str:
        return (
            f"slices {self.first} to {self.last} (of 0 to {self.slices - 1}), most in slice "
            f"{self.most}: {self.voxels} disputed voxels"
        )


def disputed_patterns(votes: DecisionPatterns) -> NDArray[np.bool_]:
    """Return a (P,) mask of patterns in which the raters who annotated disagree."""
    return np.asarray(~votes.unanimous & votes.present.any(axis=1))


def disputed_slices_of(result: FusionResult[Any]) -> DisputedSlices | None:
    """Find the disputed slices of a result; None if there are none, or if it is not 3D."""
    votes = result.case.patterns
    if votes.codes is None or votes.codes.ndim != 3:
        return None
    disputed = disputed_patterns(votes)
    box = votes.region(disputed, [0, 0, 0])
    if any(side.start >= side.stop for side in box):
        return None
    counts = votes.crop(box).expand(disputed.astype(np.uint8)).sum(axis=(1, 2), dtype=np.int64)
    most = int(counts.argmax())
    first = box[0].start
    slices = votes.codes.shape[0]
    return DisputedSlices(first, box[0].stop - 1, first + most, int(counts[most]), slices)
