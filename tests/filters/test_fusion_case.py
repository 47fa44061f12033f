from __future__ import annotations

import numpy as np

from itk_consensus.fusing.fusion_case import have_same_votes
from itk_consensus.votes.label_stack import LabelStack


def test_stacks_have_the_same_votes_if_every_rater_says_the_same() -> None:
    arrays = [np.array([0, 1, 1], np.uint8), None, np.array([0, 0, 1], np.uint8)]
    stack = LabelStack.multilabel(arrays)
    assert have_same_votes(
        stack, LabelStack.multilabel([a if a is None else a.copy() for a in arrays])
    )
    assert have_same_votes(stack, LabelStack.binary(arrays, 1))
    mask = np.array([1, 1, 0])
    masked = [LabelStack.multilabel(arrays, mask=m) for m in (mask, 2 * mask)]
    assert have_same_votes(*masked)
    for other in (
        LabelStack.binary(arrays, 0),
        LabelStack.multilabel(arrays[::2]),
        LabelStack.multilabel(arrays, mask=mask),
        LabelStack.multilabel(arrays, missing_label=9),
        LabelStack.multilabel(arrays, rater_masks=[mask, None, None]),
        LabelStack.multilabel([arrays[2], None, arrays[0]]),
        LabelStack.multilabel([arrays[0].astype(np.int16), None, arrays[2]]),
    ):
        assert not have_same_votes(stack, other)
