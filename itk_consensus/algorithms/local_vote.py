"""The vote in which raters count differently at each voxel, smoothed; disputed voxels only.

Voxels that no two raters dispute keep their label: weights and smoothing have nothing to say there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from itk_consensus.algorithms.majority_vote import majority_vote
from itk_consensus.labels.boxes import Box, grown
from itk_consensus.labels.disputed_voxels import DisputedVoxels
from itk_consensus.labels.fusions import DisputedFusion
from itk_consensus.labels.gaussian import smooth_volume
from itk_consensus.labels.tiles import TRUNCATE

Singles = NDArray[np.float32]


@dataclass(frozen=True)
class LocalVote:
    """Weighted votes of a region, smoothed by a Gaussian.

    Attributes
    ----------
    voxels : DisputedVoxels
        Its region must reach as far around disputes as the Gaussian does.
    digits : list of ndarray, of the region's shape
        Label index of each rater, or the number of labels where it is missing.
    weights : list of ndarray of float32, of the region's shape
        Weight of each rater.
    sigmas : sequence of float
        Standard deviation in voxels per axis; 0: none.
    """

    voxels: DisputedVoxels
    digits: Sequence[NDArray[Any]]
    weights: Sequence[Singles]
    sigmas: Sequence[float]
    threads: int | None = None

    def fusion(self) -> DisputedFusion:
        """The label of largest share, the lowest of equals."""
        best = np.full(self.voxels.shape, -np.inf, np.float32)
        winners = np.zeros(self.voxels.shape, np.int32)
        scale = self._scale()
        boxes = self._boxes()
        for label, box in boxes.items():
            share = self._share(label, box, scale)
            higher = share > best[box]
            best[box][higher] = share[higher]
            winners[box][higher] = label

        def probability(label: int) -> NDArray[Any]:
            whole = np.zeros(self.voxels.shape, np.float32)
            if label in boxes:
                box = boxes[label]
                whole[box] = self._share(label, box, scale)
            return np.clip(self.voxels.take(whole).astype(np.float64), 0.0, 1.0)

        others = majority_vote(self.voxels.patterns)
        return DisputedFusion(self.voxels, others, self.voxels.take(winners), probability)

    def _scale(self) -> Singles:
        """What makes the smoothed shares of a voxel's labels sum to 1."""
        present = self._present_weight()
        voted = (present != 0).astype(np.float32)
        smoothed = smooth_volume(voted, self.sigmas, border="zero", threads=self.threads)
        scale = np.zeros_like(smoothed)
        np.divide(1, smoothed, out=scale, where=smoothed > 0)
        return scale

    def _present_weight(self, box: Box = ()) -> Singles:
        """Sum of the weights of raters who are not missing."""
        missing = self.voxels.patterns.number_of_labels
        pairs = zip(self.digits, self.weights, strict=True)
        return np.asarray(sum(np.where(d[box] != missing, w[box], 0) for d, w in pairs), np.float32)

    def _share(self, label: int, box: Box, scale: Singles) -> Singles:
        pairs = zip(self.digits, self.weights, strict=True)
        votes = np.asarray(sum(np.where(d[box] == label, w[box], 0) for d, w in pairs), np.float32)
        total = self._present_weight(box)
        share = np.divide(votes, total, out=np.zeros_like(votes), where=total != 0)
        share = smooth_volume(share, self.sigmas, border="zero", threads=self.threads)
        return share * scale[box]

    def _boxes(self) -> dict[int, Box]:
        """Where each label can have a share: the box of its votes, as far as the Gaussian goes."""
        reach = [int(TRUNCATE * sigma + 0.5) + 1 for sigma in self.sigmas]
        boxes: dict[int, Box] = {}
        for label, found in self._found():
            wide = grown(found, reach, self.voxels.shape)
            known = boxes.get(label, wide)
            boxes[label] = tuple(
                slice(min(a.start, b.start), max(a.stop, b.stop))
                for a, b in zip(known, wide, strict=True)
            )
        return dict(sorted(boxes.items()))

    def _found(self) -> Iterator[tuple[int, Box]]:
        labels = self.voxels.patterns.number_of_labels
        for digits in self.digits:
            boxes = ndimage.find_objects(digits.astype(np.int32) + 1, labels)
            yield from ((label, box) for label, box in enumerate(boxes) if box is not None)
