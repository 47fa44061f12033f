"""Majority vote for any representation of votes (voxels, patterns, soft), optionally smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from itk_consensus.methods.voting.majority_vote import majority_vote
from itk_consensus.methods.voting.smoothed_vote import smoothed_vote
from itk_consensus.methods.voting.soft_vote import SoftShares
from itk_consensus.votes.class_probabilities import SoftVotes
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.fusions import Fusion
from itk_consensus.votes.label_stack import LabelStack
from itk_consensus.votes.votes import Votes
from itk_consensus.votes.voting import PLURALITY, StackVoteFusion, VoteRules


def vote(
    votes: Votes,
    rules: VoteRules = PLURALITY,
    *,
    sigma: float = 0.0,
    spacing: Sequence[float] = (),
) -> Fusion:
    """Fuse by majority vote.

    Parameters
    ----------
    sigma : float
        Standard deviation in mm for smoothing the vote shares; 0: no smoothing.
    spacing : sequence of float
        Voxel size per array axis; required for smoothing.
    """
    weights, threshold, ties = rules.weights, rules.threshold, rules.ties
    if isinstance(votes, SoftVotes):
        shares = SoftShares.of(votes, weights=weights, sigma=sigma, spacing=spacing)
        return shares.plain(threshold, ties)
    if sigma:
        smoothed = smoothed_vote(
            votes, sigma, spacing, weights=weights, threshold=threshold, ties=ties
        )
        return smoothed.fusion()
    by_pattern = partial(majority_vote, weights=weights, threshold=threshold, ties=ties)
    if isinstance(votes, DecisionPatterns):
        return by_pattern(votes)
    assert isinstance(votes, LabelStack)
    return StackVoteFusion(votes, by_pattern, rules)
