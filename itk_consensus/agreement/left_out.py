"""Each rater against what the others would have agreed on: as good as a person gets."""

from __future__ import annotations

import numpy as np

from itk_consensus.array_types import Floats
from itk_consensus.votes.decision_patterns import DecisionPatterns


def left_out_dice(patterns: DecisionPatterns) -> Floats:
    """(K, J) Dice of each rater with the vote of the others, label by label; ties are background.

    NaN where nobody else annotated anything; 1 where both leave the label out.
    """
    said, present, counts = patterns.patterns, patterns.present, patterns.counts
    raters, labels = patterns.number_of_raters, patterns.number_of_labels
    votes = np.zeros((len(said), labels), np.int32)
    for rater in range(raters):
        here = np.flatnonzero(present[:, rater])
        votes[here, said[here, rater]] += 1
    (background,) = np.flatnonzero(patterns.labels == 0)[:1].tolist() or [-1]
    found = np.full((labels, raters), np.nan)
    for rater in range(raters):
        here = np.flatnonzero(present[:, rater])
        own = said[here, rater]
        others = votes[here]
        others[np.arange(len(here)), own] -= 1
        most = others.max(axis=1)
        known = most > 0
        if not known.any():
            continue
        winner = np.where((others == most[:, None]).sum(axis=1) > 1, background, others.argmax(1))
        weights = counts[here][known]
        own, winner = own[known], winner[known]
        same = np.bincount(own[own == winner], weights[own == winner], labels)
        decided = winner >= 0
        sizes = np.bincount(own, weights, labels)
        sizes += np.bincount(winner[decided], weights[decided], labels)
        found[:, rater] = np.divide(2 * same, sizes, out=np.ones(labels), where=sizes > 0)
    return found
