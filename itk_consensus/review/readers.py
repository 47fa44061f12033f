"""Statistics of the readers shown in a review: volume, Dice with the consensus, bias."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np

from itk_consensus.review.case import ReviewCase
from itk_consensus.votes.overlap import dice_of


class ReaderRow(NamedTuple):
    """Statistics of one reader; means over structures and labels."""

    name: str
    volume_ml: float
    dice: float  #: Dice with the consensus
    bias: float  #: Relative volume difference from the consensus; NaN if the consensus is empty


def reader_rows(case: ReviewCase) -> list[ReaderRow]:
    """Return a row for each reader, computed over the voxels that the reader annotated."""
    voxel_ml = prod(case.geometry.spacing) / 1000
    marked = [one if one.box is None else one.within(one.box) for one in case.rated]
    rows = []
    for number, name in enumerate(case.names):
        volume, theirs, overlaps = 0, 0, list[float]()
        for rated in marked:
            drawn = rated.maps[number]
            present = drawn != rated.missing
            for label in (label for label in rated.labels if label):
                own = drawn == label
                fused = (rated.consensus == label) & present
                here, there = int(np.count_nonzero(own)), int(np.count_nonzero(fused))
                both = int(np.count_nonzero(own & fused))
                volume, theirs = volume + here, theirs + there
                overlaps.append(float(dice_of(both, here + there)))
        bias = (volume - theirs) / theirs if theirs else float("nan")
        dice = float(np.mean(overlaps)) if overlaps else 1.0
        rows.append(ReaderRow(name, volume * voxel_ml, dice, bias))
    return rows
