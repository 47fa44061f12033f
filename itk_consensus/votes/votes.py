"""Representations of the raters' votes.

- Voxels: `LabelStack`, a view of the raters' arrays, and `KeptStack`, a compressed copy that does
  not depend on the caller's images.
- Patterns: `DecisionPatterns`, the distinct votes with counts, on which most methods work.
- Bits: `PackedVotes`, for two labels and many noisy raters, with nearly as many patterns as voxels.
- Fractions of votes: `SoftVotes`, for raters who give probabilities.
"""

from __future__ import annotations

import numpy as np

from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.encoding import MOST_FEW
from itk_consensus.votes.kept_stack import KeptStack
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.packed_votes import PackedVotes

#: Votes of raters who assign labels.
LabelVotes = LabelStack | KeptStack | DecisionPatterns | PackedVotes

#: All representations. Each has `labels` and `number_of_raters`.
Votes = LabelVotes | SoftVotes


def patterns_of(votes: LabelVotes) -> DecisionPatterns:
    """Convert votes to decision patterns."""
    if isinstance(votes, DecisionPatterns):
        return votes
    return DecisionPatterns.from_stack(votes.to_stack())


def smallest_form(stack: LabelStack) -> DecisionPatterns | PackedVotes:
    """Convert to patterns or, if there are too many patterns, to bits."""
    raters = sum(array is not None for array in stack.arrays)
    if len(stack.labels) == 2 and not stack.may_be_missing and 2**raters > MOST_FEW:
        few = DecisionPatterns.from_stack_if_few(stack)
        return PackedVotes.from_stack(stack) if few is None else few
    return DecisionPatterns.from_stack(stack)


def pack_if_many(votes: LabelVotes) -> DecisionPatterns | PackedVotes:
    """Convert a large table of two labels to bits, if each rater annotated all of it or none.

    Sums over the bits of patterns are bitwise equal to those over voxels, so a result does not
    depend on whether votes are given as a volume or as the merged patterns of its chunks.
    """
    if isinstance(votes, PackedVotes):
        return votes
    rows = patterns_of(votes)
    if len(rows.counts) <= MOST_FEW or rows.number_of_labels != 2 or rows.strata is not None:
        return rows
    is_complete = np.array_equal(rows.present.all(axis=0), rows.present.any(axis=0))
    return PackedVotes.from_patterns(rows) if is_complete else rows
