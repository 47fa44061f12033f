"""Label maps from which direct inference starts: votes at every threshold, and where EM ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from itk_consensus.core.work import current, stage
from itk_consensus.fusing.iteration import StopRule
from itk_consensus.methods.direct_inference.label_evidence import Maps
from itk_consensus.methods.staple.expectation_maximization import Optima, StartPlan
from itk_consensus.methods.staple.staple import MULTILABEL, StapleSettings, run_em
from itk_consensus.methods.voting.majority_vote import VoteResult, majority_vote
from itk_consensus.votes.decision_patterns import DecisionPatterns
from itk_consensus.votes.disputed_voxels import chunks
from itk_consensus.votes.expected_counts import ROUNDING, vote_frequencies

#: Most levels at which the vote is thresholded for starts.
_MOST_LEVELS = 16

#: Patterns whose probabilities of all labels are made together.
_PATTERNS_AT_ONCE = 1 << 13

#: On a handful of voxels EM can creep for many thousand iterations; its map is settled by then.
_MOST_EM_ITERATIONS = 1000

#: With many labels, where EM has to begin ten times and the search goes on from there: what changes
#: probabilities by less hardly changes a map.
_MULTILABEL = replace(MULTILABEL, stop=StopRule(0.01, _MOST_EM_ITERATIONS))


def starting_maps(patterns: DecisionPatterns, plan: StartPlan) -> tuple[list[str], Maps]:
    """Names and (P, S) maps: the vote, the vote at every threshold, and where EM ends.

    EM runs in its basic and its advanced variant; a posterior that is tied gives two maps. Labels
    have the small type of votes: with many patterns the maps are much of all memory.
    """
    names, maps = ["majority_vote"], [vote_map(patterns)]
    current().iterated(1)  # Many patterns take a while; check Abort again.
    for level, labels in _thresholded(majority_vote(patterns)):
        names.append(f"threshold {level:.3g}")
        maps.append(labels)
    current().iterated(1)
    for number, variant in enumerate(("basic", "advanced")):
        with stage(number / 2, (number + 1) / 2):
            optima = _where_em_ends(patterns, variant, plan)
        for start in range(plan.number):
            if not current().iterated(start + 1):
                return names, np.stack(maps, axis=1)
            lowest, highest = _most_probable(patterns, optima, start)
            names.append(f"{variant} EM {start}")
            maps.append(lowest)
            if (lowest != highest).any():
                names.append(f"{variant} EM {start}, ties to the highest label")
                maps.append(highest)
    return names, np.stack(maps, axis=1)


def vote_map(patterns: DecisionPatterns) -> Maps:
    """(P,) label with most votes; the most frequent one where tied, or where no rater annotated."""
    vote = majority_vote(patterns, ties="prior")
    decision = np.where(vote.decision < 0, vote.frequencies.argmax(), vote.decision)
    return decision.astype(patterns.patterns.dtype)


def _thresholded(vote: VoteResult) -> list[tuple[float, Maps]]:
    """Maps that leave the most frequent label where another has at least a share of the votes."""
    base = int(vote.frequencies.argmax())
    rival, share = np.empty_like(vote.patterns.patterns[:, 0]), np.empty(len(vote.decision))
    for part in chunks(len(share), _PATTERNS_AT_ONCE):
        shares = vote.rows(part).copy()
        shares[:, base] = 0.0
        rival[part], share[part] = shares.argmax(axis=1), shares.max(axis=1)
    levels = np.unique(share[share > 0])
    step = len(levels) // _MOST_LEVELS + 1
    base_label = rival.dtype.type(base)
    return [(level, np.where(share >= level, rival, base_label)) for level in levels[::step]]


def _most_probable(patterns: DecisionPatterns, optima: Optima, start: int) -> tuple[Maps, Maps]:
    """(P,) lowest and highest of the most probable labels of one start."""
    lowest, highest = np.empty((2, len(patterns.counts)), patterns.patterns.dtype)
    for part in chunks(len(patterns.counts), _PATTERNS_AT_ONCE):
        shares = optima.truth.probabilities(start=start, part=part)[:, 0]
        lowest[part] = shares.argmax(1)
        highest[part] = shares.shape[1] - 1 - shares[:, ::-1].argmax(1)
    return lowest, highest


def _where_em_ends(patterns: DecisionPatterns, variant: str, plan: StartPlan) -> Optima:
    """Where STAPLE's starts end, by its own rules for two labels or more."""
    defaults = StapleSettings() if patterns.number_of_labels == 2 else _MULTILABEL
    settings = defaults.for_variant(variant)
    settings = replace(
        settings,
        stop=replace(settings.stop, maximum_iterations=_MOST_EM_ITERATIONS),
        plan=replace(plan, initialization=settings.plan.initialization),
    )
    weights = patterns.counts.astype(np.float64)
    frequencies = vote_frequencies(patterns, weights)
    # Random starts leave every label possible; only maps are wanted, which rounding hardly moves.
    return run_em(patterns, weights, settings, frequencies, frequencies, negligible=ROUNDING)
