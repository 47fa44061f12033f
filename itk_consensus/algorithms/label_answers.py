"""What was found for each label, kept small, and the decision between labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from itk_consensus.algorithms.coherence_cut import TIE_TOLERANCE, Cut
from itk_consensus.algorithms.rater_masks import VOXELS_AT_ONCE, RaterMasks
from itk_consensus.array_types import Floats
from itk_consensus.labels.boxes import Box, relative_to, slabs
from itk_consensus.labels.gaussian import Singles

#: Label indices; 16 bits where they are enough.
Indices = NDArray[np.int16] | NDArray[np.int32]


class LabelAnswer(NamedTuple):
    """A label's answer in the part of the volume where raters differ about it."""

    box: Box
    #: A bit per voxel of the box, packed: whether the probability is above 0.
    possible: NDArray[np.uint8]
    unsure: NDArray[np.uint8]  #: The same: whether it is below 1, too
    #: (n,) probabilities that are neither: most of a label's box is other labels', or its own.
    values: Singles
    cut: Cut

    @classmethod
    def pack(cls, box: Box, probability: Singles, cut: Cut) -> LabelAnswer:
        """Keep what is neither 0 nor 1 only."""
        possible = probability > 0
        unsure = possible & (probability < 1)
        return cls(box, np.packbits(possible), np.packbits(unsure), probability[unsure], cut)

    @property
    def probability(self) -> Singles:
        """(\\*box)."""
        shape = [part.stop - part.start for part in self.box]
        voxels = math.prod(shape)
        volume = np.unpackbits(self.possible, count=voxels).astype(np.float32)
        volume[np.unpackbits(self.unsure, count=voxels).view(bool)] = self.values
        return volume.reshape(shape)


class MostlyOnes(NamedTuple):
    """A volume of which most voxels are exactly 1, plane by plane."""

    shape: tuple[int, ...]
    #: A bit per voxel of each plane, packed: whether it is anything else.
    others: list[NDArray[np.uint8]]
    values: list[Floats]  #: What those are

    @classmethod
    def pack(cls, volume: Floats) -> MostlyOnes:
        """Keep what is not 1 only."""
        planes = volume.reshape(len(volume), -1)
        others = [np.packbits(plane != 1) for plane in planes]
        return cls(volume.shape, others, [plane[plane != 1] for plane in planes])

    def part(self, box: Box) -> Floats:
        """(\\*box)."""
        first, *rest = box
        plane = math.prod(self.shape[1:])
        volume = np.ones((first.stop - first.start, plane))
        for row, z in zip(volume, range(first.start, first.stop), strict=True):
            row[np.unpackbits(self.others[z], count=plane).view(bool)] = self.values[z]
        return volume.reshape(-1, *self.shape[1:])[(slice(None), *rest)]


class Leading(NamedTuple):
    """The label with the highest score so far; ties go to the lower index."""

    decision: Indices  #: (*shape)
    score: Singles  #: (*shape)

    @classmethod
    def of(cls, masks: RaterMasks, boxes: Mapping[int, Box]) -> Leading:
        """Before anybody challenged: beyond its box a label has all the votes or none."""
        decision = first_votes(masks)
        score = np.ones(masks.shape, np.float32)
        for label, box in boxes.items():
            score[box][decision[box] == label] = 0
        decision[score == 0] = 0
        return cls(decision, score)

    def challenge(self, label: int, found: LabelAnswer, labels: int) -> None:
        """Let one of so many labels lead where its score is higher; of two, from one half on."""
        scores = found.probability
        if labels == 2:
            self.decision[found.box] = scores > 0.5 - TIE_TOLERANCE / 2
            return
        for part in slabs(found.box, VOXELS_AT_ONCE):
            score, decision = self.score[part], self.decision[part]
            mine = scores[relative_to(part, found.box)]
            better = mine > score + np.float32(TIE_TOLERANCE)
            decision[better] = label
            score[better] = mine[better]


def first_votes(masks: RaterMasks) -> Indices:
    """Where all who annotated agree, their label; elsewhere whatever."""
    few = masks.number_of_labels < np.iinfo(np.int16).max
    decision: Indices = np.zeros(masks.shape, np.int16) if few else np.zeros(masks.shape, np.int32)
    patterns = masks.patterns
    if patterns is not None:
        first = patterns.present.argmax(axis=1)
        votes = np.take_along_axis(patterns.patterns, first[:, None], axis=1)[:, 0]
        known = np.where(patterns.present.any(axis=1), votes, 0).astype(decision.dtype)
        return patterns.expand(known, out=decision)
    for label in range(1, masks.number_of_labels):
        decision[masks.share(label) > 0.5] = label
    return decision
