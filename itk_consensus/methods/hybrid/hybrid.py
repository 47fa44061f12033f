"""Combine two fusions: one in a band around a contour, the other elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.space.boxes import Box, grow_box, in_space
from itk_consensus.space.distance import signed_distance
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.fusions import LabelShares, StoredShares, VolumeFusion, VoxelShares
from itk_consensus.votes.uncertainty import UncertaintyKind


@dataclass(frozen=True)
class HybridShares(VoxelShares):
    """Probabilities from one fusion in the band, and from another elsewhere."""

    band: NDArray[np.bool_]
    within: VoxelShares
    elsewhere: VoxelShares

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.within.write(label, out)
        kept = out[self.band]
        self.elsewhere.write(label, out)
        out[self.band] = kept

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.within.write_uncertainty(kind, labels, out)
        kept = out[self.band]
        self.elsewhere.write_uncertainty(kind, labels, out)
        out[self.band] = kept


def contour_band(labels: NDArray[Any], width: float, spacing: Sequence[float]) -> NDArray[np.bool_]:
    """Return a mask of voxels within `width` mm of a contour between labels, on both sides.

    In 4D the first axis indexes independent volumes.
    """
    band = np.zeros(labels.shape, dtype=bool)
    margin = in_space([int(width / size) + 1 for size in spacing], 0)
    boxes, commonest = _boxes(labels)
    # The most common label can be skipped: every contour has another label on one side.
    for value, box in boxes.items():
        if value != commonest:
            wide = grow_box(box, margin, labels.shape)
            distance = signed_distance(labels[wide] == value, spacing)
            band[wide] |= np.abs(distance, out=distance) <= width
    return band


def _boxes(labels: NDArray[Any]) -> tuple[dict[int, Box], int]:
    """Return the bounding box of each value that occurs, and the most common value."""
    if not labels.size:
        return {}, 0
    first = int(labels.min())
    numbers = np.subtract(labels, first - 1, dtype=np.int32)
    boxes = scipy.ndimage.find_objects(numbers)
    # Process in chunks, since bincount casts to 64-bit integers.
    flat = numbers.reshape(-1)
    parts = (np.bincount(flat[p], minlength=len(boxes) + 1) for p in chunks(flat.size, CHUNK))
    counts = np.sum(list(parts), axis=0)
    found = {first + index: box for index, box in enumerate(boxes) if box is not None}
    return found, first - 1 + int(counts.argmax())


def hybrid_fusion(
    decision: NDArray[Any],
    band: NDArray[np.bool_],
    within: VoxelShares,
    elsewhere: VoxelShares,
) -> VolumeFusion:
    """Combine the probabilities of two fusions whose decisions are already combined."""
    return VolumeFusion(decision, HybridShares(band, within, elsewhere))


def fusion_of_labels(image: NDArray[Any], labels: Sequence[int]) -> VolumeFusion:
    """Return a given label map as a fusion with probabilities 0 and 1."""
    decision = np.searchsorted(labels, image).astype(np.int32)
    return VolumeFusion(decision, SureShares(decision))


def fusion_of_probabilities(image: NDArray[Any]) -> VolumeFusion:
    """Return given probabilities of the higher of two labels as a fusion."""
    foreground = image.astype(np.float64)
    return VolumeFusion(
        (foreground >= 0.5).astype(np.int32), StoredShares([1 - foreground, foreground])
    )


@dataclass(frozen=True)
class SureShares(LabelShares):
    """Probability 1 for the label of each voxel."""

    decision: NDArray[np.int32]

    def of_label(self, label: int) -> NDArray[np.float64]:
        return np.asarray(self.decision == label, np.float64)


@dataclass(frozen=True)
class MaskedShares(VoxelShares):
    """Probabilities of a fusion, 0 outside a mask."""

    within: VoxelShares
    outside: NDArray[np.bool_]

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.within.write(label, out)
        out[self.outside] = 0

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.within.write_uncertainty(kind, labels, out)
        out[self.outside] = 0
