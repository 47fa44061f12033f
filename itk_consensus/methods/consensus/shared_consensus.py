"""The recommended consensus: what raters share, by explicit rules.

1. Copies of one rater count once (`near_copies`).
2. Whether a structure is there is a vote of its own, and its outline is asked of those who drew it
   (`label_voters`); objects that no majority found are there if `detection` says so.
3. The coherence vote keeps what raters share and smooths the rest (`coherence_vote`).
4. What leaves the vote without one of these reasons returns to it (`harm_bound`).

``examples/benchmarks/methods/consensus_evidence.py`` prints what it is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itk_consensus.core.work import in_threads, stage
from itk_consensus.fusing.deviating_rater import raters_of_something_else
from itk_consensus.fusing.near_copies import MOST_RATERS
from itk_consensus.fusing.vote_facts import VoteFacts
from itk_consensus.methods.consensus.bands import DEFAULT_SETTINGS, smallest_sides
from itk_consensus.methods.consensus.harm_bound import BoundedLabel, bound_harm
from itk_consensus.methods.consensus.label_answers import Indices
from itk_consensus.methods.consensus.label_voters import LabelVoters, label_voters
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.vote import CoherenceResult, coherence_vote
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.ties import TieRule

#: Probability that a voxel which was changed after the vote owes to its label: enough to lead.
CHANGED_SHARE = 0.5 + 1e-9


@dataclass(frozen=True)
class SharedConsensus:
    """A consensus and the facts that led to it."""

    decision: Indices  #: (*shape) label index, or `labels.ties.UNDECIDED` where no rater annotated
    coherence: CoherenceResult  #: Before it was held to the vote
    raters: RaterMasks  #: All raters who annotated something, copies apart
    #: Those raters, as numbered in the patterns; those of one group are copies.
    groups: list[list[int]]
    voters: Mapping[int, LabelVoters]  #: By label index: which of the groups were used for it
    bounds: Mapping[int, BoundedLabel]  #: By label index: how it was held to the vote
    changed: NDArray[np.intp]  #: Flat indices of voxels that this changed
    vote_dice: float  #: Dice of the vote's foreground to the decision's, ties being background

    @property
    def vote_is_noise(self) -> bool:
        """Whether some label's vote has specks that the consensus does not."""
        return any(one.vote_is_noise for one in self.bounds.values())

    def overlap(self, decision: NDArray[Any], labels: NDArray[Any]) -> float:
        """Dice of another decision's foreground to this one, equal labels being the overlap.

        Parameters
        ----------
        decision : (\\*shape) ndarray of int
            Label index, or a code of `votes.ties`.
        labels : (K,) ndarray
            The label value behind each index; 0 is background.
        """
        # Codes are Python indices from the end: background, undecided.
        ours = np.append(labels, [0, 0])[self.decision]
        theirs = np.append(labels, [0, -1])[decision]
        total = np.count_nonzero(ours) + np.count_nonzero(theirs)
        same = np.count_nonzero((ours == theirs) & (ours != 0))
        return 2 * same / total if total else 1.0

    def write_probability(self, label: int, out: NDArray[Any]) -> None:
        """Write numbers in [0, 1]; of two labels at least one half exactly where it is chosen."""
        self.coherence.write_probability(label, out)
        flat, chosen = out.reshape(-1), self.decision.reshape(-1)[self.changed]
        flat[self.changed] = (1 - CHANGED_SHARE) * flat[self.changed]
        flat[self.changed] += CHANGED_SHARE * (chosen == label)


def shared_consensus(
    patterns: DecisionPatterns,
    spacing: Sequence[float],
    stack: LabelStack | None = None,
    facts: VoteFacts | None = None,
) -> SharedConsensus:
    """Fuse by what raters share.

    Parameters
    ----------
    patterns : DecisionPatterns
        With codes. Label index 0 is the background.
    spacing : sequence of float
        Voxel sides in mm, in array order.
    stack : LabelStack, optional
        That of the patterns: reading it is faster. The result does not look at it.
    facts : VoteFacts, optional
        What is known of the patterns already.
    """
    facts = facts or VoteFacts(patterns)
    annotates = np.asarray(patterns.present.any(axis=0))
    place = np.cumsum(annotates) - 1
    groups = [[rater for rater in group if annotates[rater]] for group in facts.groups]
    groups = [group for group in groups if group]
    masks = (
        RaterMasks.from_patterns(patterns)
        if stack is None
        else RaterMasks.from_stack(stack, patterns)
    )
    merged = [place[group].tolist() for group in groups]
    once = masks.merged(merged)
    with stage(0.0, 0.2):
        voters = _voters(facts, once, groups, spacing)
    with stage(0.2, 0.8):
        result = coherence_vote(masks, spacing, groups=merged, voters=voters)
    with stage(0.8, 1.0):
        bounds = _bounds(once, result.decision, voters)
    vote = _vote(patterns, result.decision.dtype)
    decision = result.decision
    if any(one.is_changed for one in bounds.values()):
        # Between two labels a tie is no gap.
        several = once.number_of_labels > 2
        instead = _vote(patterns, decision.dtype, "prior") if several else vote
        decision = _bounded(once, decision, instead, bounds)
    return SharedConsensus(
        decision,
        result,
        masks.without_inputs(),
        groups,
        voters,
        bounds,
        np.flatnonzero(decision.reshape(-1) != result.decision.reshape(-1)),
        _dice(decision, vote),
    )


def _voters(
    facts: VoteFacts,
    once: RaterMasks,
    groups: Sequence[Sequence[int]],
    spacing: Sequence[float],
) -> dict[int, LabelVoters]:
    """By label index, of what any rater marked."""
    sides = smallest_sides(spacing)
    margin = DEFAULT_SETTINGS.margin(sides)
    members = [len(group) for group in groups]
    pairs = None
    if len(groups) <= MOST_RATERS:
        pairs = facts.pairs.among([group[0] for group in groups])
    labels = range(1, once.number_of_labels)

    def find(label: int) -> LabelVoters | None:
        elsewhere = None if pairs is None else raters_of_something_else(pairs, label)
        return label_voters(once, label, elsewhere, members, margin, sides)

    found = in_threads(find, labels)
    return {label: asked for label, asked in zip(labels, found, strict=True) if asked is not None}


def _bounds(
    once: RaterMasks,
    decision: Indices,
    voters: Mapping[int, LabelVoters],
) -> dict[int, BoundedLabel]:
    """By label index: how its answer is held to the vote."""

    def bound(label: int) -> BoundedLabel:
        box = once.marked_box(label)
        assert box is not None
        if voters[label].absent or once.number_of_raters > MOST_RATERS:
            return BoundedLabel(decision[box] == label)
        return bound_harm(once, label, decision[box], voters[label], box)

    found = in_threads(bound, voters)
    return dict(zip(voters, found, strict=True))


def _bounded(
    once: RaterMasks,
    decision: Indices,
    vote: NDArray[Any],
    bounds: Mapping[int, BoundedLabel],
) -> Indices:
    """The decision as the bound has it: what a label loses becomes what the vote says."""
    decision = decision.copy()
    for label, one in bounds.items():
        box = once.marked_box(label)
        if box is None or not one.is_changed:
            continue
        here = decision[box]
        given_up = (here == label) & ~one.mask
        here[given_up] = vote[box][given_up]
        # No label takes from another.
        here[one.mask & (here == 0)] = label
    return decision


def _vote(
    patterns: DecisionPatterns, dtype: np.dtype[Any], ties: TieRule = "background"
) -> NDArray[Any]:
    """(\\*shape) label index that most raters chose."""
    decision = majority_vote(patterns, ties=ties).decision
    return patterns.expand(np.maximum(decision, 0).astype(dtype), outside=0)


def _dice(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Of two decisions' foreground, equal labels being the overlap."""
    chosen = one > 0
    total = np.count_nonzero(chosen) + np.count_nonzero(other > 0)
    chosen &= one == other
    return float(dice_of(np.count_nonzero(chosen), total))
