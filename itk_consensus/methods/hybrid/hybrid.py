"""One answer in a band around a contour, another away from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from itk_consensus.space.boxes import Box, grown, in_space
from itk_consensus.space.distance import signed_distance
from itk_consensus.votes.disputed_voxels import CHUNK, chunks
from itk_consensus.votes.fusions import LabelShares, StoredShares, VolumeFusion, VoxelShares
from itk_consensus.votes.uncertainty import UncertaintyKind


@dataclass(frozen=True)
class HybridShares(VoxelShares):
    """One answer's probabilities in the band, and the other's elsewhere."""

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
    """Voxels within `width` mm of a voxel with another label, on both sides of every contour.

    In 4D the first axis holds independent volumes.
    """
    band = np.zeros(labels.shape, dtype=bool)
    margin = in_space([int(width / size) + 1 for size in spacing], 0)
    boxes, commonest = _boxes(labels)
    # Every contour has another label than the commonest on one of its sides.
    for value, box in boxes.items():
        if value != commonest:
            wide = grown(box, margin, labels.shape)
            distance = signed_distance(labels[wide] == value, spacing)
            band[wide] |= np.abs(distance, out=distance) <= width
    return band


def _boxes(labels: NDArray[Any]) -> tuple[dict[int, Box], int]:
    """The box of each value that occurs, and the commonest value."""
    if not labels.size:
        return {}, 0
    first = int(labels.min())
    numbers = np.subtract(labels, first - 1, dtype=np.int32)
    boxes = scipy.ndimage.find_objects(numbers)
    # Some at a time, since they are counted as 64-bit numbers.
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
    """One answer in the band and the other elsewhere, as the decision has it already."""
    return VolumeFusion(decision, HybridShares(band, within, elsewhere))


def given_labels(image: NDArray[Any], labels: Sequence[int]) -> VolumeFusion:
    """A label map that somebody made, by the indices of its labels; it is sure of every voxel."""
    decision = np.searchsorted(labels, image).astype(np.int32)
    return VolumeFusion(decision, SureShares(decision))


def given_probabilities(image: NDArray[Any]) -> VolumeFusion:
    """Probabilities of the higher of two labels that somebody made."""
    foreground = image.astype(np.float64)
    return VolumeFusion(
        (foreground >= 0.5).astype(np.int32), StoredShares([1 - foreground, foreground])
    )


@dataclass(frozen=True)
class SureShares(LabelShares):
    """Each voxel has its label for certain."""

    decision: NDArray[np.int32]

    def of_label(self, label: int) -> NDArray[np.float64]:
        return np.asarray(self.decision == label, np.float64)


@dataclass(frozen=True)
class MaskedShares(VoxelShares):
    """An answer's probabilities, and 0 outside a mask."""

    within: VoxelShares
    outside: NDArray[np.bool_]

    def write(self, label: int, out: NDArray[Any]) -> None:
        self.within.write(label, out)
        out[self.outside] = 0

    def write_uncertainty(self, kind: UncertaintyKind, labels: int, out: NDArray[Any]) -> None:
        self.within.write_uncertainty(kind, labels, out)
        out[self.outside] = 0
