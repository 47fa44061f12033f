"""The smallest box around what any rater labels so, for every label at once."""

from __future__ import annotations

import numpy as np
import scipy

from itk_consensus import _kernels
from itk_consensus.core.work import current, report
from itk_consensus.space.boxes import Box
from itk_consensus.space.tiles import four_axes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def boxes_of_stack(stack: LabelStack) -> list[Box | None]:
    """One box per label of the table, None where no rater uses it; of at most four axes.

    Parameters
    ----------
    stack : LabelStack
        Its mask is not looked at.
    """
    shape = four_axes(stack.shape)
    found = _kernels.label_boxes(stack.votes(), len(stack.labels), shape, current().threads)
    axes = slice(4 - len(stack.shape), None)
    return [
        tuple(slice(int(low), int(high)) for low, high in box[axes]) if box[0, 1] else None
        for box in found
    ]


def boxes_of_patterns(patterns: DecisionPatterns) -> list[Box | None]:
    """The same of the voxels behind patterns, inside their mask."""
    boxes: list[Box | None] = [None] * patterns.number_of_labels
    numbers = np.where(patterns.present, patterns.patterns.astype(np.int32) + 1, 0)
    for rater in np.ascontiguousarray(numbers.T):
        report(0.0)
        for label, box in enumerate(scipy.ndimage.find_objects(patterns.expand(rater))):
            boxes[label] = _around(boxes[label], box)
    return boxes


def _around(one: Box | None, other: Box | None) -> Box | None:
    if one is None or other is None:
        return one or other
    return tuple(
        slice(min(a.start, b.start), max(a.stop, b.stop)) for a, b in zip(one, other, strict=True)
    )
