"""Bounding boxes of all labels, over all raters."""

from __future__ import annotations

import numpy as np
import scipy

from itk_consensus import _kernels
from itk_consensus.core.work import current, report
from itk_consensus.space.boxes import Box, enclosing_box
from itk_consensus.space.tiles import four_axes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack


def boxes_of_stack(stack: LabelStack) -> list[Box | None]:
    """Return the bounding box of each label of a stack; None for unused labels.

    Parameters
    ----------
    stack : LabelStack
        Stack with at most four axes; its mask is ignored.
    """
    shape = four_axes(stack.shape)
    found = _kernels.label_boxes(stack.votes(), len(stack.labels), shape, current().threads)
    axes = slice(4 - len(stack.shape), None)
    return [
        tuple(slice(int(low), int(high)) for low, high in box[axes]) if box[0, 1] else None
        for box in found
    ]


def boxes_of_patterns(patterns: DecisionPatterns) -> list[Box | None]:
    """Return the bounding box of each label inside the patterns' mask; None for unused labels."""
    boxes: list[Box | None] = [None] * patterns.number_of_labels
    numbers = np.where(patterns.present, patterns.patterns.astype(np.int32) + 1, 0)
    for rater in np.ascontiguousarray(numbers.T):
        report(0.0)
        for label, box in enumerate(scipy.ndimage.find_objects(patterns.expand(rater))):
            boxes[label] = enclosing_box(boxes[label], box)
    return boxes
