"""Starting maps of direct inference: the vote at several thresholds, and the results of EM."""

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

#: Maximum number of thresholds for the vote.
_MOST_LEVELS = 16

#: Number of patterns processed at once, which bounds memory.
_PATTERNS_AT_ONCE = 1 << 13

#: With few voxels EM can take many thousands of iterations, but its map no longer changes by then.
_MOST_EM_ITERATIONS = 1000

#: With more than two labels EM is slower and runs from ten starts. A coarse tolerance suffices,
#: since the search continues from its maps.
_MULTILABEL = replace(MULTILABEL, stop=StopRule(0.01, _MOST_EM_ITERATIONS))


def starting_maps(patterns: DecisionPatterns, plan: StartPlan) -> tuple[list[str], Maps]:
    """Return names and (P, S) maps: the vote, the vote at several thresholds, and EM's results.

    EM is run in its basic and its advanced variant; a tied posterior results in two maps. Labels
    have the small dtype of the votes, since maps of many patterns need much memory.
    """
    names, maps = ["majority_vote"], [vote_map(patterns)]
    current().on_iteration(1)  # Many patterns take a while, so check Abort again.
    for level, labels in _threshold_maps(majority_vote(patterns)):
        names.append(f"threshold {level:.3g}")
        maps.append(labels)
    current().on_iteration(1)
    for number, variant in enumerate(("basic", "advanced")):
        with stage(number / 2, (number + 1) / 2):
            optima = _run_em(patterns, variant, plan)
        for start in range(plan.number):
            if not current().on_iteration(start + 1):
                return names, np.stack(maps, axis=1)
            lowest, highest = _most_probable(patterns, optima, start)
            names.append(f"{variant} EM {start}")
            maps.append(lowest)
            if (lowest != highest).any():
                names.append(f"{variant} EM {start}, ties to the highest label")
                maps.append(highest)
    return names, np.stack(maps, axis=1)


def vote_map(patterns: DecisionPatterns) -> Maps:
    """Return (P,) the label with the most votes, or the most frequent label if undecided."""
    vote = majority_vote(patterns, ties="prior")
    decision = np.where(vote.decision < 0, vote.frequencies.argmax(), vote.decision)
    return decision.astype(patterns.patterns.dtype)


def _threshold_maps(vote: VoteResult) -> list[tuple[float, Maps]]:
    """Return maps of the most frequent label, except where another reaches a share of the votes."""
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
    """Return (P,) the lowest and the highest of the most probable labels for one start."""
    lowest, highest = np.empty((2, len(patterns.counts)), patterns.patterns.dtype)
    for part in chunks(len(patterns.counts), _PATTERNS_AT_ONCE):
        shares = optima.truth.probabilities(start=start, part=part)[:, 0]
        lowest[part] = shares.argmax(1)
        highest[part] = shares.shape[1] - 1 - shares[:, ::-1].argmax(1)
    return lowest, highest


def _run_em(patterns: DecisionPatterns, variant: str, plan: StartPlan) -> Optima:
    """Run STAPLE's EM from the plan's starts, with its binary or multi-label rules."""
    defaults = StapleSettings() if patterns.number_of_labels == 2 else _MULTILABEL
    settings = defaults.for_variant(variant)
    settings = replace(
        settings,
        stop=replace(settings.stop, maximum_iterations=_MOST_EM_ITERATIONS),
        plan=replace(plan, initialization=settings.plan.initialization),
    )
    weights = patterns.counts.astype(np.float64)
    frequencies = vote_frequencies(patterns, weights)
    # Only maps are required, so labels that are negligible up to rounding may be dropped.
    return run_em(patterns, weights, settings, frequencies, frequencies, negligible=ROUNDING)
