"""The recommended consensus: keep the detail that raters share, by explicit rules.

1. Copies of one rater count once (`near_copies`).
2. The existence of a structure is voted on separately, and its outline is fused from the raters who
   drew it (`label_voters`); an object that no majority found is kept if it is probable according to
   `detection`.
3. The coherence vote keeps detail that raters share and smooths the rest (`coherence_vote`).
4. Other deviations from the vote are reverted (`harm_bound`).

``examples/benchmarks/methods/consensus_evidence.py`` compares this method with other fusers.
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
from itk_consensus.methods.consensus.blocked_masks import masks_of
from itk_consensus.methods.consensus.coherence_vote import (
    CoherenceResult,
    coherence_vote,
    places_in,
)
from itk_consensus.methods.consensus.harm_bound import BoundChanges, BoundedLabel, bound_harm
from itk_consensus.methods.consensus.label_answers import Indices
from itk_consensus.methods.consensus.label_voters import LabelVoters, label_voters
from itk_consensus.methods.consensus.rater_masks import RaterMasks
from itk_consensus.methods.consensus.scale_bands import DEFAULT_SETTINGS, smallest_sides
from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.space.blocks import Blocked
from itk_consensus.space.boxes import Box, intersection, relative_to
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.overlap import dice_of
from itk_consensus.votes.ties import UNDECIDED, TieRule

#: Probability that a changed voxel assigns to its new label, which makes this the most probable
#: label.
CHANGED_SHARE = 0.5 + 1e-9


@dataclass(frozen=True)
class SharedConsensus:
    """A consensus and its intermediate results."""

    bounded: Blocked  #: Label index by voxel, or `UNDECIDED` where no rater annotated
    coherence: CoherenceResult  #: The coherence vote, before applying the bound on harm
    raters: RaterMasks  #: All raters with at least one annotation, without merging copies
    #: Groups of copies among those raters, by their indices in the patterns.
    groups: list[list[int]]
    voters: Mapping[int, LabelVoters]  #: By label index, the groups used for each label
    bounds: Mapping[int, BoundChanges]  #: By label index, the changes made by the bound
    changed: NDArray[np.intp]  #: Flat indices of voxels changed by the bound
    #: Foreground Dice of the decision with the majority vote, whose ties are background
    vote_dice: float

    @property
    def decision(self) -> Indices:
        """(\\*shape) label index, or `UNDECIDED` where no rater annotated."""
        return self.bounded.array()

    @property
    def vote_is_noise(self) -> bool:
        """Whether some label's vote contains specks that the consensus lacks."""
        return any(one.vote_is_noise for one in self.bounds.values())

    def overlap(self, decision: NDArray[Any], labels: NDArray[Any]) -> float:
        """Return the foreground Dice of another decision with this one, for equal labels.

        Parameters
        ----------
        decision : (\\*shape) ndarray of int
            Label index, or a code of `votes.ties`.
        labels : (K,) ndarray
            Label value of each index; 0 is background.
        """
        # The negative codes index the two appended values: background and undecided.
        ours = np.append(labels, [0, 0])[self.decision]
        # Undecided voxels are considered equal.
        theirs = np.where(decision == UNDECIDED, ours, np.append(labels, [0, 0])[decision])
        total = np.count_nonzero(ours) + np.count_nonzero(theirs)
        same = np.count_nonzero((ours == theirs) & (ours != 0))
        return 2 * same / total if total else 1.0

    def write_probability(self, label: int, out: NDArray[Any], within: Box | None = None) -> None:
        """Write the probabilities of a label. With two labels, they are at least 0.5 exactly where
        the label is chosen.

        At least the voxels of the requested box are written.
        """
        self.coherence.write_probability(label, out, within)
        flat, chosen = out.reshape(-1), self.decision.reshape(-1)[self.changed]
        flat[self.changed] = (1 - CHANGED_SHARE) * flat[self.changed]
        flat[self.changed] += CHANGED_SHARE * (chosen == label)

    def write_probability_in(self, box: Box, label: int, out: NDArray[Any]) -> None:
        """Write the probability in a box, for volumes that are not in memory."""
        self.coherence.write_probability_in(box, label, out)
        here = places_in(box, self.changed, self.bounded.shape)
        out[here] = (1 - CHANGED_SHARE) * out[here]
        out[here] += CHANGED_SHARE * (self.bounded.read(box)[here] == label)


def shared_consensus(
    patterns: DecisionPatterns,
    spacing: Sequence[float],
    stack: LabelStack | None = None,
    facts: VoteFacts | None = None,
) -> SharedConsensus:
    """Fuse votes by the rules of the recommended consensus.

    Parameters
    ----------
    patterns : DecisionPatterns
        Patterns, which must have codes. Label index 0 is the background.
    spacing : sequence of float
        Voxel size in mm, in array order.
    stack : LabelStack, optional
        The label stack of the patterns, which is faster to read; the result does not keep it.
    facts : VoteFacts, optional
        Facts about the patterns that are already computed.
    """
    facts = facts or VoteFacts(patterns)
    annotates = np.asarray(patterns.present.any(axis=0))
    place = np.cumsum(annotates) - 1
    groups = [[rater for rater in group if annotates[rater]] for group in facts.groups]
    groups = [group for group in groups if group]
    masks = masks_of(stack, patterns)
    merged = [place[group].tolist() for group in groups]
    once = masks.merged(merged)
    with stage(0.0, 0.2):
        voters = _find_voters(facts, once, groups, spacing)
    with stage(0.2, 0.8):
        result = coherence_vote(masks, spacing, groups=merged, voters=voters)
    with stage(0.8, 1.0):
        bounded = _bound_labels(once, result.voted, voters)
    # Keep only the number of changes, since masks are as large as the volume.
    bounds = {label: one.changes for label, one in bounded.items()}
    vote = _vote(patterns, result.voted)
    decision = result.voted
    if any(one.any for one in bounds.values()):
        instead = _vote(patterns, decision, "prior") if once.number_of_labels > 2 else vote
        decision = _apply_bounds(decision, instead, bounded)
    changed = decision.map(np.not_equal, result.voted)
    return SharedConsensus(
        decision,
        result,
        masks.without_inputs(),
        groups,
        voters,
        bounds,
        changed.flat_indices(masks.shape),
        _dice(decision, vote),
    )


def _find_voters(
    facts: VoteFacts,
    once: RaterMasks,
    groups: Sequence[Sequence[int]],
    spacing: Sequence[float],
) -> dict[int, LabelVoters]:
    """Return the raters used for each label that any rater marked, by label index."""
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


def _bound_labels(
    once: RaterMasks,
    voted: Blocked,
    voters: Mapping[int, LabelVoters],
) -> dict[int, BoundedLabel]:
    """Apply the bound on harm to each label; return the results by label index."""

    def bound(label: int) -> BoundedLabel:
        box = once.marked_box(label)
        assert box is not None
        if voters[label].absent or once.number_of_raters > MOST_RATERS:
            blocks = once.blocks(box)
            return BoundedLabel(Blocked.made(blocks, lambda part: voted.read(part) == label))
        return bound_harm(once, label, voted, voters[label], box)

    found = in_threads(bound, voters)
    return dict(zip(voters, found, strict=True))


def _apply_bounds(voted: Blocked, vote: Blocked, bounded: Mapping[int, BoundedLabel]) -> Blocked:
    """Update the decision with the bounded labels; voxels that a label loses follow the vote."""
    changed = {label: one.mask for label, one in bounded.items() if one.changes.any}

    def bound(block: Box) -> Indices:
        decision = voted.read(block).copy()
        for label, one in changed.items():
            both = intersection(one.box, block)
            here, mask = decision[relative_to(both, block)], one.read(both)
            given_up = (here == label) & ~mask
            here[given_up] = vote.read(both)[given_up]
            # A label takes voxels from another one only if most raters assigned them to it.
            here[mask & (here == 0)] = label
            regained = bounded[label].regained
            if regained is not None:
                here[regained.read(both)] = label
        return decision

    return Blocked.made(voted.blocks, bound)


def _vote(patterns: DecisionPatterns, like: Blocked, ties: TieRule = "background") -> Blocked:
    """Return the majority vote's label indices in blocks.

    With "prior", ties between foreground labels go to the more frequent label, but ties with the
    background go to the background, so that the amount of background in the image has no influence.
    """
    decision = majority_vote(patterns, ties=ties).decision
    if ties == "prior":
        decision = np.where(majority_vote(patterns, ties="lowest").decision, decision, 0)
    values = np.maximum(decision, 0).astype(like.dtype)
    return Blocked.made(like.blocks, lambda box: patterns.crop(box).expand(values, outside=0))


def _dice(one: Blocked, other: Blocked) -> float:
    """Return the foreground Dice of two decisions, based on equal labels."""
    total = one.map(_is_label).count() + other.map(_is_label).count()
    same = one.map(lambda label, vote: (label > 0) & (label == vote), other).count()
    return float(dice_of(same, total))


def _is_label(decision: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(decision > 0)
