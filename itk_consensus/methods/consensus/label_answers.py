"""Compressed results for single labels, and the choice between labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.methods.consensus.cut import TIE_TOLERANCE, Cut
from itk_consensus.methods.consensus.rater_masks import VOXELS_AT_ONCE, RaterMasks
from itk_consensus.space.blocks import Blocked
from itk_consensus.space.boxes import Box, intersection, relative_to, slabs
from itk_consensus.space.gaussian import Singles
from itk_consensus.votes.disputed_voxels import chunks

#: Label indices, and codes of `votes.ties`, in the smallest signed dtype.
Indices = NDArray[np.signedinteger[Any]]


class PackedShares(NamedTuple):
    """Compressed volume whose voxels are mostly 0 or 1, stored by plane."""

    shape: tuple[int, ...]
    ones: NDArray[np.uint8]  #: (planes, bytes) one bit per voxel: whether it is 1
    others: NDArray[np.uint8]  #: (planes, bytes) one bit per voxel: whether it is neither 0 nor 1
    begin: NDArray[np.int64]  #: (planes + 1,) start of each plane in `values`
    values: NDArray[Any]  #: (n,) values that are neither 0 nor 1

    @classmethod
    def pack(cls, volume: NDArray[Any]) -> PackedShares:
        """Compress a volume."""
        step = max(1, VOXELS_AT_ONCE // max(1, volume[:1].size))
        return cls.joined([cls._pack(volume[some]) for some in chunks(len(volume), step)])

    @classmethod
    def _pack(cls, volume: NDArray[Any]) -> PackedShares:
        planes = volume.reshape(len(volume), -1)
        others = planes != 0
        others &= planes != 1
        begin = np.append(0, np.cumsum(np.count_nonzero(others, axis=1)))
        ones = np.packbits(planes == 1, axis=1)
        return cls(volume.shape, ones, np.packbits(others, axis=1), begin, planes[others])

    @classmethod
    def joined(cls, parts: Sequence[PackedShares]) -> PackedShares:
        """Concatenate parts along the first axis."""
        counts = np.concatenate([np.diff(part.begin) for part in parts])
        return cls(
            (len(counts), *parts[0].shape[1:]),
            np.concatenate([part.ones for part in parts]),
            np.concatenate([part.others for part in parts]),
            np.append(0, np.cumsum(counts)),
            np.concatenate([part.values for part in parts]),
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the volume."""
        return self.values.dtype

    def array(self) -> NDArray[Any]:
        """Decompress the volume."""
        return self.part(tuple(slice(0, size) for size in self.shape))

    def part(self, box: Box) -> NDArray[Any]:
        """Decompress a box of the volume."""
        planes, *rest = box
        plane = math.prod(self.shape[1:])
        volume = np.unpackbits(self.ones[planes], axis=1, count=plane).astype(self.values.dtype)
        others = np.unpackbits(self.others[planes], axis=1, count=plane).view(bool)
        # An empty box may begin beyond the last plane.
        volume[others] = self.values[
            slice(*self.begin.take([planes.start, planes.stop], mode="clip"))
        ]
        return volume.reshape(-1, *self.shape[1:])[(slice(None), *rest)]


class LabelAnswer(NamedTuple):
    """Result for one label in the part of the volume where raters differ on it."""

    box: Box
    #: float32 probabilities in a box that contains this one; most are 0 or 1
    shares: Blocked
    cut: Cut

    def probability(self, part: Box) -> Singles:
        """Return the (\\*part) probabilities in a part of the box."""
        return self.shares.read(part)


class Leading(NamedTuple):
    """The label with the highest score so far at each voxel; ties go to the lower index."""

    box: Box
    decision: Indices  #: (*box) label index
    score: Singles  #: (*box) score of that label

    @classmethod
    def of(cls, masks: RaterMasks, boxes: Mapping[int, Box], within: Box) -> Leading:
        """Initialise with the unanimous labels of voxels outside the labels' boxes."""
        decision = first_votes(masks, within)
        score = np.ones(decision.shape, np.float32)
        for label, box in boxes.items():
            here = relative_to(intersection(box, within), within)
            score[here][decision[here] == label] = 0
        decision[score == 0] = 0
        return cls(within, decision, score)

    def challenge(self, label: int, found: LabelAnswer, labels: int) -> None:
        """Update voxels where this label scores higher; with two labels, where it reaches 1/2."""
        both = intersection(found.box, self.box)
        # Use slabs if there is one block; reading part of a block would decompress all of it.
        for part in slabs(both, VOXELS_AT_ONCE) if found.shares.is_whole else [both]:
            here = relative_to(part, self.box)
            score, decision = self.score[here], self.decision[here]
            mine = found.probability(part)
            if labels == 2:
                decision[...] = mine > 0.5 - TIE_TOLERANCE / 2
                continue
            better = mine > score + np.float32(TIE_TOLERANCE)
            decision[better] = label
            score[better] = mine[better]


def first_votes(masks: RaterMasks, box: Box) -> Indices:
    """Return the label of unanimous voxels; values elsewhere are arbitrary."""
    shape = [part.stop - part.start for part in box]
    decision: Indices = np.zeros(shape, np.min_scalar_type(-masks.number_of_labels - 1))
    patterns = masks.patterns_in(box)
    if patterns is not None:
        first = patterns.present.argmax(axis=1)
        votes = np.take_along_axis(patterns.patterns, first[:, None], axis=1)[:, 0]
        known = np.where(patterns.present.any(axis=1), votes, 0).astype(decision.dtype)
        return patterns.expand(known, out=decision)
    for label in range(1, masks.number_of_labels):
        decision[masks.share(label, box) > 0.5] = label
    return decision
