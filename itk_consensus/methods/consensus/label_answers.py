"""What was found for each label, kept small, and the decision between labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.methods.consensus.cut import TIE_TOLERANCE, Cut
from itk_consensus.methods.consensus.rater_masks import VOXELS_AT_ONCE, RaterMasks
from itk_consensus.space.boxes import Box, relative_to, slabs
from itk_consensus.space.gaussian import Singles
from itk_consensus.votes.disputed_voxels import chunks

#: Label indices, and codes of `votes.ties`, in as few bits as hold them.
Indices = NDArray[np.signedinteger[Any]]


class PackedShares(NamedTuple):
    """A volume of which most voxels are exactly 0 or 1, plane by plane."""

    shape: tuple[int, ...]
    ones: NDArray[np.uint8]  #: (planes, bytes) a bit per voxel: whether it is 1
    others: NDArray[np.uint8]  #: The same: whether it is neither 0 nor 1
    begin: NDArray[np.int64]  #: (planes + 1,) where the values of each plane begin
    values: NDArray[Any]  #: (n,) of those that are neither

    @classmethod
    def pack(cls, volume: NDArray[Any]) -> PackedShares:
        """Keep what is neither 0 nor 1 only."""
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
        """Of parts that follow each other along the first axis."""
        counts = np.concatenate([np.diff(part.begin) for part in parts])
        return cls(
            (len(counts), *parts[0].shape[1:]),
            np.concatenate([part.ones for part in parts]),
            np.concatenate([part.others for part in parts]),
            np.append(0, np.cumsum(counts)),
            np.concatenate([part.values for part in parts]),
        )

    def part(self, box: Box) -> NDArray[Any]:
        """(\\*box)."""
        planes, *rest = box
        plane = math.prod(self.shape[1:])
        volume = np.unpackbits(self.ones[planes], axis=1, count=plane).astype(self.values.dtype)
        others = np.unpackbits(self.others[planes], axis=1, count=plane).view(bool)
        # A box without planes may begin beyond the last of them.
        volume[others] = self.values[
            slice(*self.begin.take([planes.start, planes.stop], mode="clip"))
        ]
        return volume.reshape(-1, *self.shape[1:])[(slice(None), *rest)]


class LabelAnswer(NamedTuple):
    """A label's answer in the part of the volume where raters differ about it."""

    box: Box
    shares: PackedShares  #: (*box) of float32: most of it is other labels', or its own
    cut: Cut

    def probability(self, part: Box) -> Singles:
        """(\\*part), of a part of the volume that lies in the box."""
        return self.shares.part(relative_to(part, self.box))


class Leading(NamedTuple):
    """The label with the highest score so far; ties go to the lower index."""

    decision: Indices  #: (*shape)
    score: Singles  #: (*shape)

    @classmethod
    def of(cls, masks: RaterMasks, boxes: Mapping[int, Box]) -> Leading:
        """At the start: beyond its box a label has all the votes or none."""
        decision = first_votes(masks)
        score = np.ones(masks.shape, np.float32)
        for label, box in boxes.items():
            score[box][decision[box] == label] = 0
        decision[score == 0] = 0
        return cls(decision, score)

    def challenge(self, label: int, found: LabelAnswer, labels: int) -> None:
        """Let one of so many labels lead where its score is higher; of two, from one half on."""
        for part in slabs(found.box, VOXELS_AT_ONCE):
            score, decision = self.score[part], self.decision[part]
            mine = found.probability(part)
            if labels == 2:
                decision[...] = mine > 0.5 - TIE_TOLERANCE / 2
                continue
            better = mine > score + np.float32(TIE_TOLERANCE)
            decision[better] = label
            score[better] = mine[better]


def first_votes(masks: RaterMasks) -> Indices:
    """Where all who annotated agree, their label; elsewhere whatever."""
    decision: Indices = np.zeros(masks.shape, np.min_scalar_type(-masks.number_of_labels - 1))
    patterns = masks.patterns
    if patterns is not None:
        first = patterns.present.argmax(axis=1)
        votes = np.take_along_axis(patterns.patterns, first[:, None], axis=1)[:, 0]
        known = np.where(patterns.present.any(axis=1), votes, 0).astype(decision.dtype)
        return patterns.expand(known, out=decision)
    for label in range(1, masks.number_of_labels):
        decision[masks.share(label) > 0.5] = label
    return decision
