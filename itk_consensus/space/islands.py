"""Remove islands from a mask: small connected components that most raters did not draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from itk_consensus.core.array_types import Mask
from itk_consensus.space.pieces import label_pieces


class WithoutIslands(NamedTuple):
    """A mask without its islands, and their sizes."""

    mask: Mask
    removed: tuple[int, ...]  #: Number of voxels in each removed island


def remove_islands(mask: Mask, raters: Sequence[Mask], least: float) -> WithoutIslands:
    """Remove connected components of fewer than `least` voxels that most raters did not draw.

    The largest component is kept, as is any component of which at least half was drawn by each of
    more than half of the raters.
    """
    pieces = label_pieces(mask)
    sizes = pieces.sizes.copy()
    is_small = (sizes < least) & (np.arange(len(sizes)) > 0)
    if pieces.number:
        is_small[sizes.argmax()] = False
    removed = []
    kept = mask.copy()
    for number in np.flatnonzero(is_small):
        box = pieces.box(int(number))
        piece = pieces.places[box] == number
        drawn = sum(2 * np.count_nonzero(rater[box] & piece) >= sizes[number] for rater in raters)
        if 2 * drawn <= len(raters):
            kept[box] &= ~piece
            removed.append(int(sizes[number]))
    return WithoutIslands(kept, tuple(removed))
