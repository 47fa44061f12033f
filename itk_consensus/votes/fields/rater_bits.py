"""Expand per-pattern flags of raters to the voxels of a box."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.array_types import Mask
from itk_consensus.space.boxes import Box
from itk_consensus.votes.decision_patterns import DecisionPatterns


def pack_patterns(
    patterns: DecisionPatterns, rows: NDArray[np.uint8], box: Box
) -> NDArray[np.uint8]:
    """Return (planes, \\*box) bytes of each voxel's pattern, looked up in (planes, P) `rows`."""
    part = patterns.crop(box)
    assert part.codes is not None
    planes = np.empty((len(rows), *part.codes.shape), np.uint8)
    for row, plane in zip(rows, planes, strict=True):
        part.expand(row, outside=0, out=plane)
    return planes


def expand_rows(patterns: DecisionPatterns, rows: Mask, box: Box = ()) -> Mask:
    """Return (J, \\*box) flags of each voxel's pattern, looked up in (P, J) `rows`."""
    part = patterns.crop(box)
    assert part.codes is not None
    found = np.empty((rows.shape[1], *part.codes.shape), bool)
    for column, volume in zip(np.ascontiguousarray(rows.T), found, strict=True):
        part.expand(column, outside=False, out=volume)
    return found
