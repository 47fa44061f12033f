"""Signed distances of chosen voxels to what raters drew, in a box of the volume."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from itk_consensus import _kernels
from itk_consensus.array_types import Floats32
from itk_consensus.errors import InputError
from itk_consensus.labels.boxes import Box, in_space
from itk_consensus.labels.decision_patterns import DecisionPatterns


def label_distances(
    patterns: DecisionPatterns,
    region: Box,
    inside: NDArray[np.bool_],
    places: NDArray[np.intp],
    spacing: Sequence[float],
    *,
    outside: bool = False,
) -> Floats32:
    """(R, n) distances in mm, as of `signed_distance`, of voxels of a box to R drawings in it.

    Parameters
    ----------
    patterns : DecisionPatterns
    region : Box
        Only what lies in it is looked at.
    inside : (R, P) ndarray
        Which patterns each drawing holds.
    places : (n,) ndarray
        Flat indices in the box.
    spacing : sequence of float
    outside : bool
        Whether drawings hold the voxels outside the mask.
    """
    codes = patterns.codes
    if codes is None or patterns.slots is None:
        raise InputError("label_distances: a merged table has no voxels")
    table = np.full((len(inside), patterns.number_of_codes), outside, np.uint8)
    table[:, patterns.slots] = inside
    size = [part.stop - part.start for part in region]
    distances = np.empty((len(inside), len(places)), np.float32)
    # A box of distances per thread: many at a time only where they are small.
    at_once = min(max(1, codes.size // max(1, int(np.prod(size)))), patterns.threads)
    _kernels.label_distances(
        codes,
        [part.start for part in region],
        size,
        table,
        in_space([float(side) for side in spacing], 0.0),
        np.ascontiguousarray(places, np.int64),
        distances,
        at_once,
        max(1, patterns.threads // at_once),
    )
    return distances
