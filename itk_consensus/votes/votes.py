"""What raters said, in the form that suits what is done with it.

- Voxels: `LabelStack`, the raters' arrays as they came, and `KeptStack`, which holds the same when
  the caller's images are gone.
- Rows of equal votes: `DecisionPatterns`, which most methods work on.
- Bits: `PackedVotes`, for two labels and so many noisy raters that rows are as many as voxels.
- Fractions of votes: `SoftVotes`, of raters who give probabilities.
"""

from __future__ import annotations

import numpy as np

from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.encoding import MOST_FEW
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes

#: Of raters who give labels.
LabelVotes = LabelStack | KeptStack | DecisionPatterns | PackedVotes

#: All forms. Each has its `labels` and its `number_of_raters`.
Votes = LabelVotes | SoftVotes


def patterns_of(votes: LabelVotes) -> DecisionPatterns:
    """The rows of equal votes."""
    if isinstance(votes, DecisionPatterns):
        return votes
    return DecisionPatterns.from_stack(votes.restored())


def smallest_form(stack: LabelStack) -> DecisionPatterns | PackedVotes:
    """Rows of equal votes or, where those are nearly as many as voxels, bits."""
    raters = sum(array is not None for array in stack.arrays)
    if len(stack.labels) == 2 and not stack.may_be_missing and 2**raters > MOST_FEW:
        few = DecisionPatterns.if_few(stack)
        return PackedVotes.from_stack(stack) if few is None else few
    return DecisionPatterns.from_stack(stack)


def packed_if_many(votes: LabelVotes) -> DecisionPatterns | PackedVotes:
    """The rows of a large table of two labels as bits, if no rater is missing at some of them.

    Sums over them are to the last bit those over voxels, so that it does not show in a result
    whether votes came as a volume or as the rows of its chunks.
    """
    if isinstance(votes, PackedVotes):
        return votes
    rows = patterns_of(votes)
    if len(rows.counts) <= MOST_FEW or rows.number_of_labels != 2 or rows.strata is not None:
        return rows
    is_complete = np.array_equal(rows.present.all(axis=0), rows.present.any(axis=0))
    return PackedVotes.from_patterns(rows) if is_complete else rows
