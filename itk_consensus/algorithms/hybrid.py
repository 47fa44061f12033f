"""One answer in a band around a contour, another away from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import find_objects

from itk_consensus.labels.boxes import grown, in_space
from itk_consensus.labels.distance import signed_distance
from itk_consensus.labels.fusions import VolumeFusion

#: Label index per voxel, and the probability volume of a label index.
Answer = tuple[NDArray[np.int32], Callable[[int], NDArray[np.float64]]]


def contour_band(
    labels: NDArray[Any], width: float, spacing: Sequence[float], threads: int | None = None
) -> NDArray[np.bool_]:
    """Voxels within `width` mm of a voxel with another label, on both sides of every contour.

    Parameters
    ----------
    labels : ndarray of int
        In 4D the first axis holds independent volumes.
    width : float
    spacing : sequence of float
        Voxel size per array axis.
    """
    band = np.zeros(labels.shape, dtype=bool)
    margin = in_space([int(width / size) + 1 for size in spacing], 0)
    values, index, counts = np.unique(labels, return_inverse=True, return_counts=True)
    boxes = find_objects(index.reshape(labels.shape) + 1)
    # Every contour has another label than the commonest on one of its sides.
    for position in np.delete(np.arange(len(values)), counts.argmax()):
        box = grown(boxes[position], margin, labels.shape)
        distance = signed_distance(labels[box] == values[position], spacing, threads=threads)
        band[box] |= np.abs(distance) <= width
    return band


def hybrid_fusion(band: NDArray[np.bool_], within: Answer, elsewhere: Answer) -> VolumeFusion:
    """Take one answer in the band and the other elsewhere."""
    return VolumeFusion(
        np.where(band, within[0], elsewhere[0]),
        lambda label: np.where(band, within[1](label), elsewhere[1](label)),
    )
