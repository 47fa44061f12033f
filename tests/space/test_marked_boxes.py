"""Boxes around labels, against scipy's find_objects on each rater."""

from __future__ import annotations

import numpy as np
import pytest

from itk_consensus.core.work import working
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fields.marked_boxes import boxes_of_patterns, boxes_of_stack
from itk_consensus.votes.label_stack import LabelStack


@pytest.mark.parametrize("shape", [(50,), (9, 30), (7, 8, 21), (3, 5, 6, 7), (40, 60, 70)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_boxes_hold_all_that_anybody_labels_so_and_no_more(shape, dtype):
    rng = np.random.default_rng(len(shape))
    raters = [np.zeros(shape, dtype) for _ in range(3)]
    for rater in raters:
        for label in (2, 5, 9):
            low = [int(rng.integers(0, side)) for side in shape]
            rater[tuple(slice(a, a + 4) for a in low)] = label
    stack = LabelStack.multilabel(raters)
    expected = []
    for label in stack.labels:
        places = np.argwhere(np.any([rater == label for rater in raters], axis=0))
        ends = zip(places.min(axis=0), places.max(axis=0) + 1, strict=True)
        expected.append(tuple(slice(int(a), int(b)) for a, b in ends))
    assert boxes_of_patterns(DecisionPatterns.from_stack(stack)) == expected
    for threads in (1, 2, 7):
        assert working(threads=threads)(boxes_of_stack)(stack) == expected


def test_a_label_that_nobody_says_has_no_box():
    stack = LabelStack.binary([np.zeros((4, 5), np.uint8)], 1)
    assert boxes_of_stack(stack) == [(slice(0, 4), slice(0, 5)), None]
