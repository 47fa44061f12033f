"""Leave-one-out agreement of each rater with the vote of the others: a ceiling for fusion
methods.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itk_consensus.core.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.voting import StackVote, VoteRules, rows_as_stack


def left_out_dice(patterns: DecisionPatterns) -> Floats:
    """Return the (K, J) Dice of each rater with the vote of the others, for each label.

    Ties count as background. NaN if no other rater annotated the same voxels; 1 if both masks are
    empty.
    """
    said, present, counts = patterns.patterns, patterns.present, patterns.counts
    raters, labels = patterns.number_of_raters, patterns.number_of_labels
    rows = rows_as_stack(patterns)
    annotated = present.sum(axis=1)
    (background,) = np.flatnonzero(patterns.labels == 0)[:1].tolist() or [-1]
    found = np.full((labels, raters), np.nan)
    for rater in range(raters):
        known = np.flatnonzero(present[:, rater] & (annotated > 1))
        if not len(known):
            continue
        others = tuple(votes for j, votes in enumerate(rows.arrays) if j != rater)
        vote = StackVote(replace(rows, arrays=others), VoteRules(ties="background")).decision()
        own, winner, weights = said[known, rater], vote[known], counts[known]
        winner[winner < 0] = background
        same = np.bincount(own[own == winner], weights[own == winner], labels)
        decided = winner >= 0
        sizes = np.bincount(own, weights, labels)
        sizes += np.bincount(winner[decided], weights[decided], labels)
        found[:, rater] = dice_of(same, sizes)
    return found
